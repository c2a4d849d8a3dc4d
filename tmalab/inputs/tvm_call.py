"""Tensor maps in TVM's scripts: TIRx's and TileLang's, as written by hand or printed by a compiler.

    T.call_packed("runtime.cuTensorMapEncodeTiled", map, dtype, rank, pointer, dims…, strides…, box…, element strides…,
                  interleave, swizzle, l2 promotion, oob fill)
    T.cuda.tensormap_encode_tiled(map, pointer, dims…, strides…, box…, element strides…, descriptor_dtype=, rank=, …)
    T.call_packed("__tvm_tensormap_create_tiled", map, dtype, …)       T.create_tma_descriptor(dtype, …)

>>> text = '''K = 512
... T.call_packed("runtime.cuTensorMapEncodeTiled", m, "float16", 2, A.data, K, 64, K * 2, 64, 64, 1, 1, 0, 3, 2, 0)'''
>>> next(read(text)).tensor_map().global_strides
(1024,)

All is innermost first, and strides are bytes. The first two take rank-1 strides; TileLang's take rank, of which the
driver never sees the first. The order of the arguments is in `tvm_arguments`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tmalab.errors import InputError
from tmalab.inputs.position import UnreadableError
from tmalab.inputs.python_calls import read_calls
from tmalab.inputs.python_scope import Scope
from tmalab.inputs.python_values import Node, last_name
from tmalab.inputs.reading import Reading
from tmalab.inputs.torch_tensor import Tensors
from tmalab.inputs.tvm_arguments import ENCODERS, FORM, Arguments

_PACKED = "|".join(re.escape(name) for name, encoder in ENCODERS.items() if encoder.packed)
_BUILTIN = "|".join(name for name, encoder in ENCODERS.items() if not encoder.packed)
_CALL = re.compile(
    r"(?<![\w.])(?:\w+\s*\.\s*){0,8}"
    rf"(?:(?:\w{{0,20}}call_packed\w{{0,20}}|get_global_func)\s*\(\s*[\"'](?:{_PACKED})[\"']|(?:{_BUILTIN})\s*\()"
)


def looks_like(text: str) -> bool:
    """Whether `text` calls one of the functions."""
    return any(name in text for name in ENCODERS) and _CALL.search(text) is not None


def read(text: str) -> Iterator[Reading | UnreadableError]:
    """Each call in `text`, as a Reading or as the error at the argument that cannot be read."""
    return read_calls(text, FORM, call=_CALL, name=_CALL, values=Tensors, read_one=_reading)


def _encoder(values: Tensors, call: ast.Call, scope: Scope) -> tuple[str | None, int]:
    """The encoder that `call` calls, by its name in ENCODERS, and which of its arguments is the first of it."""
    name = last_name(call.func)
    if name in ENCODERS and not ENCODERS[name].packed:
        return name, 0
    if "call_packed" in name:
        return _packed_name(call), 1
    called = call.func
    if isinstance(called, ast.Name):  # encode = tvm.get_global_func("…"); encode(…)
        try:
            called, _ = values.follow(called, scope)
        except UnreadableError:
            return None, 0
    if isinstance(called, ast.Call) and last_name(called.func) == "get_global_func":
        return _packed_name(called), 0
    return None, 0


def _packed_name(call: ast.Call) -> str | None:
    """The name that a call's first argument is, where it is a packed encoder's."""
    first = call.args[0] if call.args else None
    name = first.value if isinstance(first, ast.Constant) else None
    return name if isinstance(name, str) and name in ENCODERS and ENCODERS[name].packed else None


def _reading(values: Tensors, call: ast.Call, scope: Scope) -> Reading | UnreadableError | None:
    name, first = _encoder(values, call, scope)
    if name is None:
        return None
    try:
        given: list[Node] = values.arguments(call.args, scope)[first:]
        arguments = Arguments(values, call, scope)
        fields = arguments.fields(ENCODERS[name], given)
    except UnreadableError as error:
        return error
    except InputError as error:
        place = arguments.place(error.field or "")
        return UnreadableError.from_error(error, text=values.source.text, offset=place, form=FORM)
    offset = values.source.place(call)
    return Reading(FORM, fields, values.source.text, offset, arguments.place, tuple(arguments.notes))
