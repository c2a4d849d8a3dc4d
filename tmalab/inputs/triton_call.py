"""Triton's tensor descriptors in Python source: made on the host, and by a kernel.

    TensorDescriptor(a, shape=[M, K], strides=[K, 1], block_shape=[128, 64])
    TensorDescriptor.from_tensor(a, [128, 64])
    tl.make_tensor_descriptor(a_ptr, shape=[M, K], strides=[K, 1], block_shape=[BM, BK])

>>> text = '''a = torch.empty((4096, 512), dtype=torch.float16, device="cuda")
... descriptor = TensorDescriptor.from_tensor(a, [128, 64])'''
>>> next(read(text)).fields["shape"], next(read(text)).fields["dtype"]
([4096, 512], 'float16')

Everything is outermost first, and strides count elements. Which box and which swizzle Triton makes of a block, and
what it refuses, is in `checker.triton`.
Source: Triton 3.6.0, triton/tools/tensor_descriptor.py and triton/language/semantic.py.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from tmalab.inputs.position import UnreadableError
from tmalab.inputs.python_calls import read_calls
from tmalab.inputs.python_scope import Scope
from tmalab.inputs.python_values import last_name
from tmalab.inputs.reading import Reading
from tmalab.inputs.torch_tensor import Tensors

FORM = "triton"
_CALL = re.compile(
    r"(?<![\w.])(?:\w+\s*\.\s*){0,8}(?:TensorDescriptor(?:\s*\.\s*from_tensor)?|\w{0,20}make_tensor_descriptor)\s*\("
)
_HOST = ("base", "shape", "strides", "block_shape", "padding")
_FROM_TENSOR = ("tensor", "block_shape", "padding")
_DEVICE = ("base", "shape", "strides", "block_shape", "padding_option")
_FIELDS = {"shape": "shape", "strides": "strides_elements", "block_shape": "box_shape"}


def looks_like(text: str) -> bool:
    """Whether `text` calls one of the three."""
    return ("TensorDescriptor" in text or "make_tensor_descriptor" in text) and _CALL.search(text) is not None


def read(text: str) -> Iterator[Reading | UnreadableError]:
    """Each call in `text`, as a Reading or as the error at what cannot be read."""
    return read_calls(
        text, FORM, call=_CALL, name=_CALL, values=Tensors, read_one=_reading,
        missing="the descriptor is named here and nowhere made",
    )  # fmt: skip


def _parameters(call: ast.Call) -> tuple[str, ...] | None:
    name = last_name(call.func)
    if name == "from_tensor" and isinstance(call.func, ast.Attribute):
        return _FROM_TENSOR if last_name(call.func.value) == "TensorDescriptor" else None
    if name == "TensorDescriptor":
        return _HOST
    return _DEVICE if name.endswith("make_tensor_descriptor") else None


def _reading(values: Tensors, call: ast.Call, scope: Scope) -> Reading | None:
    parameters = _parameters(call)
    if parameters is None:
        return None
    given = _arguments(values, call, parameters)
    tensor = given["tensor" if parameters is _FROM_TENSOR else "base"]
    dtype = values.dtype(tensor, scope)
    fields: dict[str, Any] = {
        "kind": "triton_descriptor", "built_on": "device" if parameters is _DEVICE else "host",
        "name": last_name(tensor)[:40] or "the tensor",
        "oob_fill": _padding(values, given.get(parameters[-1]), scope),
    }  # fmt: skip
    if dtype is not None:
        fields["dtype"] = dtype
    places = {"dtype": values.source.place(tensor)}
    for name, field in _FIELDS.items():
        node = given.get(name, tensor)
        places[field] = values.source.place(node)
        if name in given:
            listed = values.entries(node, scope)
        else:
            listed = values.shape(node, scope) if name == "shape" else values.strides(node, scope)
        places |= {f"{field}[{index}]": values.source.place(entry) for index, (entry, _) in enumerate(listed)}
        fields[field] = [values.integer(*entry) for entry in listed]
    offset = values.source.place(call)
    return Reading(FORM, fields, values.source.text, offset, lambda field: places.get(field, offset))


def _arguments(values: Tensors, call: ast.Call, parameters: tuple[str, ...]) -> dict[str, ast.expr]:
    """The arguments by their parameters' names."""
    in_order = f"in order: {', '.join(parameters)}"
    starred = next((one for one in call.args if isinstance(one, ast.Starred)), None)
    unnamed = next((keyword for keyword in call.keywords if keyword.arg is None), None)
    if starred is not None or unnamed is not None:
        message = "what stands behind a star is known only by running the code"
        raise values.error(message, starred or unnamed.value, f"write the arguments out, {in_order}")  # type: ignore[union-attr]
    if len(call.args) > len(parameters):
        message = f"{len(call.args)} arguments, and the descriptor takes {len(parameters)}"
        raise values.error(message, call.args[len(parameters)], in_order)
    given = dict(zip(parameters, call.args, strict=False))
    for keyword in call.keywords:
        name = str(keyword.arg)
        if name == "layout":
            raise _gluon(values, keyword.value)
        if name not in parameters or name in given:
            what = "said twice" if name in given else "no parameter of the descriptor"
            raise values.error(f"{name[:40]} is {what}", keyword.value, in_order)
        given[name] = keyword.value
    for name in parameters[:-1]:
        if name not in given:
            raise values.error(f"{name} is missing", call, in_order)
    return given


def _padding(values: Tensors, node: ast.expr | None, scope: Scope) -> str:
    """The fill outside the tensor: none is zeros."""
    if node is None:
        return "none"
    said, _ = values.follow(node, scope)
    if isinstance(said, ast.Constant) and said.value in ("zero", "nan"):
        return "none" if said.value == "zero" else "nan"
    if isinstance(said, ast.Constant):
        raise values.error("Triton takes the paddings zero and nan", node, 'write "zero" or "nan"')
    raise _gluon(values, node)


def _gluon(values: Tensors, node: ast.expr) -> UnreadableError:
    """The error for a descriptor of Gluon, whose layout says the swizzle."""
    message = "a layout makes this a descriptor of Gluon, whose swizzle its program chooses; only Triton's are read"
    return values.error(message, node, 'give the map as JSON, with its "swizzle" and "box_dim"')
