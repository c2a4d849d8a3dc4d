"""A call of `cuTensorMapEncodeTiled` or `cuTensorMapEncodeIm2col` pasted from source, with the declarations above it.

    cuTensorMapEncodeTiled(&map, type, rank, address, dims, strides, box, elementStrides,
                           interleave, swizzle, l2Promotion, oobFill)

>>> call = '''cuuint64_t dims[] = {4096, 1024}, strides[] = {4096 * sizeof(__half)};
... cuuint32_t box[] = {64, 64}, ones[] = {1, 1};
... cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, ptr, dims, strides, box, ones,
...     CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
...     CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);'''
>>> next(read(call)).tensor_map().global_strides
(8192,)

A wrapper around the name, casts, `strides + 1`, `.data()` and Python's binding (lists, no `&map`) are read too. An
address that is no literal is unknown, and breaks nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from tmalab.errors import InputError
from tmalab.inputs.cpp_arrays import NULL_POINTERS
from tmalab.inputs.cpp_arrays import entries as array_entries
from tmalab.inputs.cpp_calls import CALL, Call, by_arguments, calls
from tmalab.inputs.cpp_declared import Declaration, declarations
from tmalab.inputs.cpp_relevant import names_in, relevant
from tmalab.inputs.cpp_scopes import macro_parameters
from tmalab.inputs.cpp_tokens import Token, closing, split_at_commas, tokenize
from tmalab.inputs.cpp_values import CASTS, FORM, Names, is_type
from tmalab.inputs.position import UnreadableError
from tmalab.inputs.reading import Reading
from tmalab.inputs.words import enumerator, word

# Parameter order: CUDA driver API 13.0. The tensor map itself comes first in C++ and is returned in Python.
_COMMON_END = ("element_strides", "interleave", "swizzle", "l2_promotion", "oob_fill")
_TILED = ("dtype", "rank", "address", "global_dim", "global_strides", "box_dim", *_COMMON_END)
_IM2COL = (
    "dtype", "rank", "address", "global_dim", "global_strides", "lower_corner", "upper_corner", "channels_per_pixel",
    "pixels_per_column", *_COMMON_END,
)  # fmt: skip
_WORDS = {"dtype", "interleave", "swizzle", "l2_promotion", "oob_fill"}
_ENTRIES = {
    "global_strides": ", in bytes; only of rank 1 may it be null", "element_strides": ", each 1 to take every element",
}  # fmt: skip
_LENGTH_BELOW_RANK = {"global_strides": 1, "lower_corner": 2, "upper_corner": 2}
# What is looked at before a call for its declarations, and after it for its arguments; and calls in one text.
_BEFORE, _AFTER, _MOST_CALLS = 40_000, 8_000, 32
_NEAR = 1_000  # most calls end within it


def looks_like(text: str) -> bool:
    """Whether `text` names one of the two functions, or calls something with their arguments."""
    return ("uTensorMapEncode" in text and CALL.search(text) is not None) or by_arguments(text)


def read(text: str) -> Iterator[Reading | UnreadableError]:
    """Each call in `text`, as a Reading or as the error at the argument that cannot be read."""
    found_any, first = False, None
    for count, found in enumerate(calls(text)):
        if count == _MOST_CALLS:
            yield UnreadableError(
                f"more than {_MOST_CALLS} calls, of which this and what follows was not read", text=text,
                offset=found.start, form=FORM, fix="give each file by itself",
            )  # fmt: skip
            return
        if "//" in text[text.rfind("\n", 0, found.start) + 1 : found.start]:
            continue  # a comment
        if text[max(0, found.start - 4) : found.start] == "PFN_":
            continue  # the function's type
        first = first or found
        above, tokens = _tokens(text, found)
        arguments = _arguments(tokens, text, found)
        if isinstance(arguments, UnreadableError):
            found_any = True
            yield arguments
        elif arguments is not None:
            found_any = True
            yield _reading(text, found, arguments, above)
    if not found_any and first is not None:
        yield UnreadableError(
            "the function is named here and nowhere called", text=text, offset=first.start, form=FORM,
            fix="paste the call with its arguments",
        )  # fmt: skip


def _tokens(text: str, found: Call) -> tuple[list[Token], list[Token]]:
    """The tokens above the call, as far as it depends on them, and from its name on; Python's where none is C++'s."""
    start, end = max(0, found.start - _BEFORE), min(len(text), found.end + _AFTER)
    tokens = tokenize(text, found.start, min(end, found.end + _NEAR))
    if _end(tokens) == len(tokens) or not _is_cpp(tokens):  # longer than most, or no end
        tokens = tokenize(text, found.start, end)
    if _is_cpp(tokens) or _is_cpp(tokenize(text, start, found.start)):
        return relevant(text, start, found.start, names_in(tokens[: _end(tokens)])), tokens
    return tokenize(text, start, found.start, python=True), tokenize(text, found.start, end, python=True)


def _end(tokens: list[Token]) -> int:
    """Where the call's arguments end; the number of tokens where they don't."""
    opened = next((index for index, token in enumerate(tokens) if token.text == "("), len(tokens))
    return closing(tokens, opened)


def _is_cpp(tokens: list[Token]) -> bool:
    return any(token.text in (";", "&") for token in tokens)


def _arguments(tokens: list[Token], text: str, found: Call) -> list[list[Token]] | UnreadableError | None:
    """The arguments' tokens, the tensor map itself left out; None where this is a declaration or no call."""
    if not tokens or tokens[0].kind != "name":
        return None
    index = 1
    while index < len(tokens) and tokens[index].text in (")", ">"):  # DRIVER_WRAPPER_CALL(cuTensorMapEncodeTiled)(…)
        index += 1
    if index >= len(tokens) or tokens[index].text != "(":
        return None
    end = closing(tokens, index)
    inside = tokens[index + 1 : end]
    if not inside or (inside[0].text.startswith("CUtensorMap") and inside[1:2] and inside[1].text == "*"):
        return None
    if end == len(tokens):
        return UnreadableError(
            "the call has no end", text=text, offset=found.start, form=FORM, fix="paste it up to its closing bracket"
        )
    if found.kind == "Im2colWide":
        return UnreadableError(
            "cuTensorMapEncodeIm2colWide makes maps of sm_100, and its arguments are not read", text=text,
            offset=found.start, form=FORM, fix='give the map as JSON, with "load_mode": "im2col::w"',
        )  # fmt: skip
    arguments = split_at_commas(inside)
    if not arguments[-1]:  # Python's trailing comma
        arguments.pop()
    wanted = _names(found)
    if len(arguments) == len(wanted) + 1:
        return arguments[1:]
    if len(arguments) == len(wanted) and not _begins_with_the_map(arguments):  # Python's binding returns it
        return arguments
    return UnreadableError(
        f"{len(arguments)} arguments, and cuTensorMapEncode{found.kind} takes {len(wanted) + 1}", text=text,
        offset=found.start, form=FORM, fix=f"in order: tensorMap, {', '.join(wanted)}",
    )  # fmt: skip


def _begins_with_the_map(arguments: list[list[Token]]) -> bool:
    """Whether the tensor map itself comes first, as in C++: by its address, or since the type stands second."""
    typed = any("TENSOR_MAP_DATA_TYPE_" in token.text for token in arguments[1])
    return typed or [token.text for token in arguments[0][:1]] == ["&"]


def _names(found: Call) -> tuple[str, ...]:
    return _IM2COL if found.kind == "Im2col" else _TILED


def _reading(text: str, found: Call, arguments: list[list[Token]], above: list[Token]) -> Reading | UnreadableError:
    lines = None if any(token.text == ";" for token in above) else text
    declared = declarations(above, lines=lines, call=found.start)
    for named in macro_parameters(text, found.start):
        declared[named.text] = Declaration([], [], [], parameter=named)
    values = _Values(Names(declared, text), found.start)
    try:
        fields = values.fields(dict(zip(_names(found), arguments, strict=True)))
    except UnreadableError as error:
        return error
    except InputError as error:
        place = values.place(error.field or "")
        return UnreadableError.from_error(error, text=text, offset=place, form=FORM)
    fields["kind"] = "im2col" if found.kind == "Im2col" else "tiled"
    return Reading(FORM, fields, text, found.start, values.place, tuple(values.notes))


class _Values:
    """The arguments' values, and where each was written."""

    def __init__(self, names: Names, offset: int):
        self.names, self.offset = names, offset
        self.places: dict[str, int] = {}
        self.notes: list[str] = []

    def place(self, field: str) -> int:
        """The offset of `field`, of its array where an entry's own is not known, or of the call."""
        return self.places.get(field) or self.places.get(field.partition("[")[0]) or self.offset

    def fields(self, arguments: dict[str, list[Token]]) -> dict[str, Any]:
        """Every field but the kind. Raises UnreadableError or InputError."""
        fields: dict[str, Any] = {}
        rank = self.names.integer(arguments["rank"])
        for name, tokens in arguments.items():
            self.places[name] = tokens[0].offset if tokens else self.offset
            if name == "rank":
                fields[name] = rank
            elif name == "address":
                fields[name] = self._address(tokens)
            elif name in _WORDS:
                fields[name] = self._word(name, tokens)
            elif name in ("channels_per_pixel", "pixels_per_column"):
                fields[name] = self.names.integer(tokens)
            else:
                fields[name] = self._array(name, tokens, rank - _LENGTH_BELOW_RANK.get(name, 0))
        return fields

    def _array(self, name: str, tokens: list[Token], length: int) -> list[int]:
        if length <= 0:  # the driver reads nothing of it: nullptr is as good
            return []
        entries = array_entries(self.names, tokens)
        if len(entries) < length:
            fix = None if entries else f"a null pointer has none: give {length}{_ENTRIES.get(name, '')}"
            raise self.names.error(f"{name} has {len(entries)} entries, and the rank asks for {length}", tokens, fix)
        if len(entries) > length:
            self.notes.append(f"{name} has {len(entries)} entries; the driver reads the first {length}")
        for index, entry in enumerate(entries[:length]):
            self.places[f"{name}[{index}]"] = entry[0].offset if entry else self.places[name]
        return [self.names.integer(entry) for entry in entries[:length]]

    def _word(self, field: str, tokens: list[Token]) -> Any:
        for _ in range(40):
            called = next((token for token, mark in pairwise(tokens) if _is_call(token, mark)), None)
            if called is not None:
                raise self.names.error(
                    f"{called.text[:40]} is called here, and only its code knows the value", [called]
                )
            named = [token for token in tokens if token.kind == "name" and "TENSOR_MAP_" in token.text.upper()]
            if len({token.text for token in named}) > 1 or any(token.text == "?" for token in tokens):
                message = f"{field} depends on what only running the code tells"
                raise self.names.error(message, tokens, "write the word that it is")
            if named:
                return word(field, named[-1].text)
            declared = self.names.lookup(tokens[0]) if len(tokens) == 1 and tokens[0].kind == "name" else None
            if declared is None or not declared.value:
                break
            tokens = declared.value
        return enumerator(field, self.names.integer(tokens))

    def _address(self, tokens: list[Token]) -> int | None:
        if [token.text for token in tokens] in NULL_POINTERS:
            return 0
        try:
            return self.names.integer(tokens)
        except UnreadableError:
            return None  # a pointer: its value is the program's own affair


def _is_call(token: Token, mark: Token) -> bool:
    """Whether a function is called here that may make another word of the one in its brackets; a cast makes none."""
    return token.kind == "name" and mark.text == "(" and not is_type(token) and token.text not in CASTS
