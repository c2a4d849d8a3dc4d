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

A wrapper around the name, other names for it, casts, `strides + 1` and `.data()` are read too, and a function's
parameters where the text calls it; Python's binding is read by `cpp_python`. What only running the code tells is an
error that names it and its place. An address that is no literal is unknown, and breaks nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tmalab.errors import InputError
from tmalab.inputs.cpp_arrays import NULL_POINTERS
from tmalab.inputs.cpp_arrays import entries as array_entries
from tmalab.inputs.cpp_calls import NAMED, TYPE, Call, calls_of
from tmalab.inputs.cpp_relevant import relevant
from tmalab.inputs.cpp_source import Source
from tmalab.inputs.cpp_tokens import Token, closing
from tmalab.inputs.cpp_values import CASTS, FORM, Values, path_of
from tmalab.inputs.position import UnreadableError, position_of
from tmalab.inputs.reading import MOST_CALLS, Reading
from tmalab.inputs.words import enumerator, word

# Parameter order: CUDA driver API 13.0. The tensor map itself comes first in C++ and is returned in Python.
_COMMON_END = ("element_strides", "interleave", "swizzle", "l2_promotion", "oob_fill")
_TILED = ("dtype", "rank", "address", "global_dim", "global_strides", "box_dim", *_COMMON_END)
_IM2COL = (
    "dtype", "rank", "address", "global_dim", "global_strides", "lower_corner", "upper_corner", "channels_per_pixel",
    "pixels_per_column", *_COMMON_END,
)  # fmt: skip
ORDER = {"Tiled": _TILED, "Im2col": _IM2COL}
WORD_FIELDS = {"dtype", "interleave", "swizzle", "l2_promotion", "oob_fill"}
_ENTRIES = {
    "global_strides": ", in bytes; only of rank 1 may it be null", "element_strides": ", each 1 to take every element",
}  # fmt: skip
LENGTH_BELOW_RANK = {"global_strides": 1, "lower_corner": 2, "upper_corner": 2}
# How much is looked at about a name of the functions, and in all.
_ABOUT, _LONGEST = 40_000, 4_000_000
_ABOUT_WHAT = re.compile(f"{NAMED.pattern}|{TYPE}")
_PYTHON = re.compile(r"^[ \t]*(?:import \w|from [\w.]+ import |def \w+\(.*:\s*$)", re.MULTILINE)


def looks_like(text: str) -> bool:
    """Whether `text` names one of the two functions, or calls something with their arguments."""
    if "uTensorMapEncode" in text and NAMED.search(text) is not None:
        return True
    if TYPE not in text or "CU_TENSOR_MAP_INTERLEAVE_" not in text or len(text) > _LONGEST:
        return False
    return any(True for piece in _pieces(text) for _ in calls_of(Source(text, relevant(text, *piece))))


def read(text: str) -> Iterator[Reading | UnreadableError]:
    """Each call in `text`, as a Reading or as the error at the argument that cannot be read."""
    count, taken, first = 0, 0, NAMED.search(text)
    for start, end in _pieces(text):
        taken += end - start
        if taken > _LONGEST:
            message = "too long a text, of which this and what follows was not read"
            yield UnreadableError(message, text=text, offset=start, form=FORM, fix="give the part with the call")
            return
        source = Source(text, relevant(text, start, end))
        if _is_python(source, text):
            from tmalab.inputs.cpp_python import read_python

            yield from read_python(text)
            return
        for found in _answers(source):
            if count == MOST_CALLS:
                offset = found.offset
                yield UnreadableError(
                    f"more than {MOST_CALLS} calls, of which this and what follows was not read", text=text,
                    offset=offset, form=FORM, fix="give each file by itself",
                )  # fmt: skip
                return
            count += 1
            yield found
    if count == 0 and first is not None:
        yield UnreadableError(
            "the function is named here and nowhere called", text=text, offset=first.start(), form=FORM,
            fix="paste the call with its arguments",
        )  # fmt: skip


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """The parts of the text about the functions' names, those that meet made one."""
    start = end = -1
    for found in _ABOUT_WHAT.finditer(text):
        if end < 0 or found.start() - _ABOUT > end:
            if end >= 0:
                yield start, end
            start = max(found.start() - _ABOUT, 0)
            start = text.rfind("\n", 0, start) + 1 if start else 0  # a whole line: no half of a comment or a name
        end = min(found.end() + _ABOUT, len(text))
    if end >= 0:
        yield start, end


def _is_python(source: Source, text: str) -> bool:
    """Whether no mark is one of C++ alone, or a line is one of Python alone."""
    if not any(token[1] == ";" or token[1] == "&" for token in source.tokens):
        return True
    return _PYTHON.search(text) is not None and not any(token[1] == ";" for token in source.tokens)


def _answers(source: Source) -> Iterator[Reading | UnreadableError]:
    """The reading of each call; of a call in a function that is called several times, one for each of these."""
    known = Values(source)
    for call in calls_of(source):
        wrong = _wrong(source, call)
        if wrong is not None:
            yield wrong
            continue
        values = Values(source, known=known)
        found = _reading(source, call, values)
        several = values.ambiguous
        if several is None:
            yield found
            continue
        for site in values.functions.sites(several):
            framed = Values(source, {id(several): site}, known)
            at, line = source.offsets[site], position_of(source.text, source.offsets[call.at]).line
            again = _reading(source, call, framed)
            if isinstance(again, Reading):
                note = f"as {several.name[:40]} is called here; it encodes in line {line}"
                again = again._replace(offset=at, notes=(*again.notes, note))
            yield again


def _wrong(source: Source, call: Call) -> UnreadableError | None:
    """What keeps a call from being read at all."""
    wrong, fix = call.wrong, call.fix
    if not wrong and call.kind == "Im2colWide":
        wrong = "cuTensorMapEncodeIm2colWide makes maps of sm_100, and its arguments are not read"
        fix = 'give the map as JSON, with "load_mode": "im2col::w"'
    elif not wrong and len(call.arguments) != len(ORDER[call.kind]) + 1:
        names = ORDER[call.kind]
        wrong = f"{len(call.arguments)} arguments, and cuTensorMapEncode{call.kind} takes {len(names) + 1}"
        fix = f"in order: tensorMap, {', '.join(names)}"
    if not wrong:
        return None
    offset = source.offsets[call.at]
    if source.tokens[call.at].kind == "name" and (named := NAMED.search(source.at(call.at))):
        offset += named.start()
    return UnreadableError(wrong, text=source.text, offset=offset, form=FORM, fix=fix)


def _reading(source: Source, call: Call, values: Values) -> Reading | UnreadableError:
    offset = source.offsets[call.at]
    if named := NAMED.search(source.at(call.at)):
        offset += named.start()
    fields_of = _Fields(values, offset)
    try:
        fields = fields_of.fields(dict(zip(ORDER[call.kind], call.arguments[1:], strict=True)))
    except UnreadableError as error:
        return error
    except InputError as error:
        place = fields_of.place(error.field or "")
        return UnreadableError.from_error(error, text=source.text, offset=place, form=FORM)
    fields["kind"] = "im2col" if call.kind == "Im2col" else "tiled"
    return Reading(FORM, fields, source.text, offset, fields_of.place, tuple(fields_of.notes))


class _Fields:
    """The arguments' values, and where each was written."""

    def __init__(self, names: Values, offset: int):
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
            elif name in WORD_FIELDS:
                fields[name] = self._word(name, tokens)
            elif name in ("channels_per_pixel", "pixels_per_column"):
                fields[name] = self.names.integer(tokens)
            else:
                fields[name] = self._array(name, tokens, rank - LENGTH_BELOW_RANK.get(name, 0))
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
            tokens = _bare(tokens)
            named = {token.text for token in tokens if "TENSOR_MAP_" in token.text.upper()}
            if len(named) > 1 or any(token.text == "?" for token in tokens):
                message = f"{field} depends on what only running the code tells"
                raise self.names.error(message, tokens, "write the word that it is")
            path, end = path_of(tokens, 0) if tokens and tokens[0].kind == "name" else ([], 0)
            if not path or end < len(tokens):
                break
            if path[-1].text in named:
                return word(field, path[-1].text)
            declared = self.names.lookup(path[0]) if len(path) == 1 else self.names.member(path)
            if declared is None or not declared.value:
                break
            tokens = declared.value
        return enumerator(field, self.names.integer(tokens))

    def _address(self, tokens: list[Token]) -> int | None:
        if [token.text for token in tokens] in NULL_POINTERS:
            return 0
        try:
            return Values(self.names.source, self.names.frames, self.names).integer(tokens)
        except UnreadableError:
            return None  # a pointer: its value is the program's own affair


def _bare(tokens: list[Token]) -> list[Token]:
    """`tokens` without casts and brackets about a word: (CUtensorMapSwizzle)kSwizzle, static_cast<…>(kSwizzle)."""
    for _ in range(8):
        if not tokens:
            return tokens
        end = len(tokens) - 1
        if tokens[0].text in {"(", "{"} and closing(tokens, 0) == end:
            tokens = tokens[1:-1]
        elif (
            tokens[0].text == "(" and tokens[1].text.startswith("CUtensorMap") and tokens[2:3] and tokens[2].text == ")"
        ):
            tokens = tokens[3:]
        elif tokens[0].text in CASTS and tokens[-1].text == ")" and any(token.text == "(" for token in tokens):
            start = next(index for index, token in enumerate(tokens) if token.text == "(")
            if closing(tokens, start) != end:
                return tokens
            tokens = tokens[start + 1 : -1]
        else:
            return tokens
    return tokens
