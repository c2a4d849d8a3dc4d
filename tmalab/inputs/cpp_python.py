"""The driver's encode functions called from Python, by CUDA's own binding: lists, and the map is returned.

    error, m = driver.cuTensorMapEncodeTiled(dtype, rank, address, dims, strides, box, element_strides, …)

>>> text = "K = 512\\ncuTensorMapEncodeTiled(6, 2, p, [K, 64], [K * 2], [64, 64], [1, 1], 0, 3, 2, 0)"
>>> next(read_python(text)).fields["global_strides"]
[1024]

The text is Python's own tree, so that an `if`, a loop or a function's parameter is what it is, and not guessed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from tmalab.errors import InputError
from tmalab.inputs.cpp_call import LENGTH_BELOW_RANK, ORDER, WORD_FIELDS
from tmalab.inputs.cpp_calls import NAMED
from tmalab.inputs.position import UnreadableError
from tmalab.inputs.python_calls import read_calls
from tmalab.inputs.python_scope import Scope, Setting
from tmalab.inputs.python_values import Node, last_name
from tmalab.inputs.reading import Reading
from tmalab.inputs.torch_tensor import Tensors
from tmalab.inputs.words import enumerator, word

FORM = "cpp"
_CALL = re.compile(r"(?<![\w.])(?:\w+\s*\.\s*){0,8}[cC]uTensorMapEncode(?:Tiled|Im2col(?:Wide)?)\w{0,40}\s*\(")


class _Values(Tensors):
    """`Tensors` that know the binding's own integers, such as cuuint32_t(64)."""

    def _given(self, setting: Setting, node: ast.Name) -> Setting:
        """A parameter's value; its default is one only where the text calls the function without it."""
        if not self.source.uses.get(setting.function or ""):
            name, function = node.id[:40], (setting.function or "")[:40]
            raise self.error_at(
                f"{name} is a parameter of {function}, and the text gives it no value", setting.offset,
                f"put the one call of {function} into the text, or write the number in place of {name}",
            )  # fmt: skip
        return super()._given(setting, node)

    def method(self, node: ast.Call, scope: Scope) -> int:
        """A cast of the binding's."""
        if last_name(node.func) in {"cuuint32_t", "cuuint64_t"} and len(node.args) == 1:
            return self.integer(node.args[0], scope)
        return super().method(node, scope)


def read_python(text: str) -> Iterator[Reading | UnreadableError]:
    """Each call in `text`, as a Reading or as the error at the argument that cannot be read."""
    return read_calls(text, FORM, call=_CALL, name=NAMED, values=_Values, read_one=_reading)


def _called(values: _Values, call: ast.Call, scope: Scope) -> str:
    """The name of what `call` calls, as it was first written: encode = driver.cuTensorMapEncodeTiled."""
    called = call.func
    if isinstance(called, ast.Name) and NAMED.fullmatch(called.id) is None:
        try:
            called, _ = values.follow(called, scope)
        except UnreadableError:
            return ""
    return last_name(called)


def _reading(values: _Values, call: ast.Call, scope: Scope) -> Reading | UnreadableError | None:
    found = NAMED.fullmatch(_called(values, call, scope))
    if found is None:
        return None
    kind = found[1]
    places: dict[str, int] = {}
    offset = values.source.place(call)
    if named := NAMED.search(values.source.text, offset):
        offset = named.start()
    try:
        fields, notes = _fields(values, call, scope, kind, places)
    except UnreadableError as error:
        return error
    except InputError as error:
        place = places.get(error.field or "", offset)
        return UnreadableError.from_error(error, text=values.source.text, offset=place, form=FORM)
    fields["kind"] = "im2col" if kind == "Im2col" else "tiled"

    def place_of(field: str) -> int:
        return places.get(field, places.get(field.partition("[")[0], offset))

    return Reading(FORM, fields, values.source.text, offset, place_of, tuple(notes))


def _fields(
    values: _Values, call: ast.Call, scope: Scope, kind: str, places: dict[str, int]
) -> tuple[dict[str, Any], list[str]]:
    """The map's fields, and what is to be told about them. Raises UnreadableError or InputError."""
    if kind == "Im2colWide":
        message = "cuTensorMapEncodeIm2colWide makes maps of sm_100, and its arguments are not read"
        raise values.error(message, call, 'give the map as JSON, with "load_mode": "im2col::w"')
    names, given = ORDER[kind], values.arguments(call.args, scope)
    if call.keywords or len(given) not in (len(names), len(names) + 1):
        message = f"{len(given)} arguments, and cuTensorMapEncode{kind} takes {len(names)} in Python"
        raise values.error(message, call, f"in order: {', '.join(names)}")
    arguments = dict(zip(names, given[len(given) - len(names) :], strict=True))
    fields: dict[str, Any] = {"rank": values.integer(*arguments["rank"])}
    notes: list[str] = []
    for name, (node, inside) in arguments.items():
        places[name] = values.source.place(node)
        if name == "address":
            fields[name] = _address(node)
        elif name in WORD_FIELDS:
            fields[name] = _word(values, name, (node, inside))
        elif name in ("rank", "channels_per_pixel", "pixels_per_column"):
            fields[name] = values.integer(node, inside)
        else:
            length = fields["rank"] - LENGTH_BELOW_RANK.get(name, 0)
            listed = values.entries(node, inside) if length > 0 else []
            if len(listed) < length:
                message = f"{name} has {len(listed)} entries, and the rank asks for {length}"
                raise values.error(message, node)
            if len(listed) > max(length, 0):
                notes.append(f"{name} has {len(listed)} entries; the driver reads the first {length}")
            listed = listed[: max(length, 0)]
            places |= {f"{name}[{index}]": values.source.place(entry[0]) for index, entry in enumerate(listed)}
            fields[name] = [values.integer(*entry) for entry in listed]
    return fields, notes


def _address(node: ast.expr) -> int | None:
    """A literal address; a pointer's value is the program's own affair."""
    value = node.value if isinstance(node, ast.Constant) else None
    if value is None and isinstance(node, ast.Constant):
        return 0
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _word(values: _Values, field: str, one: Node) -> Any:
    """The word that an argument is: an enumerator by its name or its number."""
    node, scope = values.follow(*one)
    if isinstance(node, ast.Call) and len(node.args) == 1 and last_name(node.func).startswith("CUtensorMap"):
        node, scope = values.follow(node.args[0], scope)
    if isinstance(node, ast.Attribute) and "TENSOR_MAP_" in node.attr.upper():
        return word(field, node.attr)
    return enumerator(field, values.integer(node, scope))
