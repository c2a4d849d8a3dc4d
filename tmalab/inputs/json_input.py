"""JSON: one object, an array of objects, or objects one after the other (JSON lines), read one at a time.

    {"dtype": "float16", "global_dim": [128, 16], "global_strides": [256], "box_dim": [64, 8]}

>>> [reading.fields["box_dim"] for reading in read('[{"box_dim": [64]}, {"boxDim": [8]}]')]
[[64], [8]]

A batch may hold 100,000 descriptors, so the interpreter's own parser reads each one and nothing walks the text twice;
where a field stands is looked up only when something is wrong with it. An object that cannot be read is yielded as
its error, and reading goes on at the next line that begins an object as that one's does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from json import JSONDecodeError, JSONDecoder
from typing import Any

from tmalab.errors import InputError, short_repr
from tmalab.inputs.field_names import CANONICAL, canonical, close_to
from tmalab.inputs.json_place import place_of_field
from tmalab.inputs.position import UnreadableError
from tmalab.inputs.reading import Reading

FORM = "json"
# A batch is read in windows of this many characters, so that a broken 10 MB file is never parsed as one value.
_WINDOW = 1 << 20
# A descriptor has a dozen lists; a text that opens many more inside one object is something else, and costs memory.
_MOST_BRACKETS = 20_000
_NEAR = 100  # an error so near to where the text was cut is the cut's
_BEGIN = re.compile(r"\{[ \t\r\n]*[\"}]|\[[ \t\r\n]*[{\]]")
_SPACE = re.compile(r"[ \t\r\n]*")
_NEXT_OBJECT = re.compile(r"\n[ \t]*\{")
_DIGITS = re.compile(r"-?\d+")
_AS_JSON = 'names and words stand in double quotes, lists in brackets: {"dtype": "float16", "box_dim": [64, 8]}'


def looks_like(text: str) -> bool:
    """Whether `text` begins as a JSON object or an array of them does; a log's [rank0] or a C++ block does not."""
    return _BEGIN.match(text[:4096].lstrip(" \t\r\n\ufeff") or text.lstrip(" \t\r\n\ufeff")) is not None


def read(text: str, *, keep_unknown: bool = False) -> Iterator[Reading | UnreadableError]:
    """Each object of `text` as a Reading, or as the UnreadableError that says where it is broken.

    Unknown keys are errors that name the nearest known one; with `keep_unknown` they are noted and left aside. Of an
    object that has an `input`, as an entry of a case file, that is read.
    """
    start = _skip(text, 1 if text[:1] == "\ufeff" else 0)
    in_array = text[start : start + 1] == "["
    values = _Values(text)
    index = _skip(text, start + 1) if in_array else start
    if in_array and text[index : index + 1] == "]":
        yield _error("the array is empty", text, start, fix="put at least one descriptor into it")
        return
    if in_array and index == len(text):
        yield _error("the array has no end", text, index, fix="close it with ]")
    while index < len(text):
        try:
            value, end = values.at(index)
            if in_array and "t" in value and "op" in value:  # no batch, but the events of one barrier program
                value, end = values.whole(start)
                yield Reading(FORM, {"events": value}, text, start)
                return
            reading: Reading | UnreadableError = _reading(value, text, index, keep_unknown)
        except UnreadableError as error:
            yield error
            index = len(text) if in_array else _next(text, index, error.offset)
            continue
        yield reading
        index = _skip(text, end)
        if in_array:
            mark = text[index : index + 1]
            if mark == "]":
                rest = _skip(text, index + 1)
                if rest < len(text):
                    yield _error("text after the array's end", text, rest, fix="give one array, or JSON lines")
                return
            if mark != ",":
                yield _error("expected ',' or ']' after an object of the array", text, index)
                return
            index = _skip(text, index + 1)
            if index == len(text):
                yield _error("the array has no end", text, index, fix="close it with ]")
        elif text[index : index + 1] == ",":
            index = _skip(text, index + 1)  # objects pasted out of an array


def _next(text: str, broken: int, at: int) -> int:
    """Where the next object begins, of those behind the one at `broken`, which broke `at`; the text's end without one.

    Of an object that begins its line the next is as far to the right: a line that was cut off breaks in the one below.
    """
    before = text[text.rfind("\n", 0, broken) + 1 : broken].lstrip("\ufeff")
    if not before.strip(" \t"):
        found = text.find(f"\n{before}{{", broken)
        return found + 1 + len(before) if found >= 0 else len(text)
    after = _NEXT_OBJECT.search(text, max(broken, at))
    return after.end() - 1 if after else len(text)


def _skip(text: str, index: int) -> int:
    return _SPACE.match(text, index).end()  # type: ignore[union-attr]  # matches the empty string too


def _error(message: str, text: str, offset: int, **said: Any) -> UnreadableError:
    return UnreadableError(message, text=text, offset=offset, form=FORM, **said)


class _Values:
    """The JSON values of one text, each asked for by where it begins."""

    def __init__(self, text: str):
        self.text, self.start, self.window = text, 0, text if len(text) <= _WINDOW else ""
        self.decode = JSONDecoder(object_pairs_hook=_object).raw_decode

    def at(self, index: int) -> tuple[Any, int]:
        """The object that begins at `index`, and where it ends. Raises UnreadableError."""
        if self.text[index] != "{":
            message = "expected an object that begins with {"
            raise _error(message, self.text, index, fix="each entry is one descriptor in braces")
        if index < self.start + len(self.window):
            try:
                value, end = self.decode(self.window, index - self.start)
                return value, end + self.start
            except (ValueError, RecursionError):
                if len(self.window) == len(self.text):
                    return self._again(index)
        self.start, self.window = index, self.text[index : index + _WINDOW]
        try:
            value, end = self.decode(self.window, 0)
            return value, end + self.start
        except (ValueError, RecursionError):
            return self._again(index)

    def whole(self, index: int) -> tuple[list[Any], int]:
        """The array that begins at `index`. Raises UnreadableError."""
        self.start, self.window = 0, self.text
        return self._again(index)

    def _again(self, index: int) -> tuple[Any, int]:
        """What `at` answers, by the whole text: the value if it is longer than a window, else the precise error."""
        text = self.text
        if text.count("[", index) + text.count("{", index) > _MOST_BRACKETS and len(text) - index > _WINDOW:
            text = text[index : index + _WINDOW]  # not one descriptor: its beginning is enough to say where it breaks
            offset = index
        else:
            offset = 0
        try:
            value, end = self.decode(text, index - offset)
            return value, end + offset
        except RecursionError:
            raise _error("nested too deeply to be a descriptor", self.text, _deep(self.text, index)) from None
        except JSONDecodeError as error:
            if len(text) < len(self.text) and len(text) - error.pos < _NEAR:
                message, fix = f"an object of more than {_MOST_BRACKETS} brackets", "ask of a smaller one"
                raise _error(message, self.text, index, fix=fix) from None
            raise _error(f"not JSON: {error.msg}", self.text, error.pos + offset, fix=_AS_JSON) from None
        except InputError as error:
            raise UnreadableError.from_error(error, text=self.text, offset=index, form=FORM) from None
        except ValueError:  # the interpreter's limit on the digits of one integer
            runs = ((run.start(), run.end() - run.start()) for run in _DIGITS.finditer(self.text, index))
            at, length = next((run for run in runs if run[1] > 4300), (index, 4301))
            fix = "the driver's widest field has 64 bits, 20 digits"
            raise _error(f"an integer of {length} digits", self.text, at, fix=fix) from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1) if len(keys) < 1000 else "…"
        raise InputError(f"the key {short_repr(twice)} stands twice in one object", fix="keep one of them")
    return made


def _deep(text: str, index: int) -> int:
    """Where the nesting first gets deeper than any descriptor's, after `index`."""
    depth = 0
    for bracket in re.finditer(r"[][{}]", text[index : index + _WINDOW]):
        depth += 1 if bracket.group() in "[{" else -1
        if depth > 64:
            return index + bracket.start()
    return index


def _reading(value: dict[str, Any], text: str, offset: int, keep_unknown: bool) -> Reading | UnreadableError:
    fields: dict[str, Any] = {}
    notes: tuple[str, ...] = ()
    inner = value.get("input")
    if isinstance(inner, dict):  # a case: a question in words, its input, and what is expected of it
        offset = place_of_field(text, offset, ["input"], "input")
        notes = ("a case: its input is answered, and what it expects left aside",)
        value = inner
    for key, item in value.items():
        field = CANONICAL.get(key) or canonical(key)
        if field is None:
            if not keep_unknown:
                return _unknown_key(key, text, offset)
            notes += (f"the key {short_repr(key)} is not known and was left aside",)
        elif field in fields and item is not None:
            message = f"the key {short_repr(key)} says {field} a second time"
            return _error(message, text, place_of_field(text, offset, [key], key, of_key=True), fix="keep one of them")
        elif item is not None:
            fields[field] = item
    return Reading(FORM, fields, text, offset, partial(place_of_field, text, offset, value), notes)


def _unknown_key(key: str, text: str, offset: int) -> UnreadableError:
    near = close_to(key)
    fix = f"did you mean {' or '.join(near)}?" if near else "leave it out, or put it under note"
    place = place_of_field(text, offset, [key], key, of_key=True)
    return _error(f"unknown key {short_repr(key)}", text, place, fix=fix)
