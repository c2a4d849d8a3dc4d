"""Where a text calls one of the driver's two encoding functions, by its own name or by one that the text gives it.

    auto encode = &cuTensorMapEncodeTiled;    #define ENCODE cuTensorMapEncodeTiled
    auto encode = reinterpret_cast<PFN_cuTensorMapEncodeTiled>(pointer);
    encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, …, CU_TENSOR_MAP_INTERLEAVE_NONE, …)    by its arguments alone

>>> [(call.start, call.kind) for call in calls("auto e = cuTensorMapEncodeTiled; e(&map);")]
[(9, 'Tiled'), (33, 'Tiled')]
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

CALL = re.compile(r"[cC]uTensorMapEncode(Tiled|Im2col(?:Wide)?)\w{0,40}")
# What may stand around the function's own name, or its type's, where it gets another. Only that is looked at: a text
# of 10 MB has millions of names.
_NEAR = 200
_SET = re.compile(r"(?:\#[ \t]*define[ \t]+(\w+)[ \t]+|\b(\w+)\s*=\s*&?\s*)(?:\w*(?:::|\.))*\Z")
_NO_MORE = re.compile(r"[ \t]*(?:[;,]|\r?\n|\Z)")
_CAST = re.compile(r"\b(\w+)\s*=\s*\*?\s*(?:reinterpret_cast\s*<|\()\s*PFN_\Z")
_TYPE = re.compile(r"(?:\bPFN_|\bdecltype\s*\(\s*&?(?:::)?)\Z")
_POINTER = re.compile(r"\s*\)?\s*\*?\s*\b([A-Za-z_]\w*)\s*(?=[=;{])")
# A pointer that another file has set: it takes what the driver's function takes, in the same places.
_BY_ARGUMENTS = re.compile(
    r"(?<!\w)([A-Za-z_]\w*)\s*\(\s*&?[\w.>\[\]-]{1,100}\s*,\s*(?:\w+::)?CU_TENSOR_MAP_DATA_TYPE_\w+\s*,"
)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
# How many arguments each function takes, and which of them is the interleave, counted from the last.
_ARGUMENTS, _INTERLEAVE = {12: "Tiled", 15: "Im2col"}, 4
_LONGEST = 2_000


class Call(NamedTuple):
    """Where one of the functions is named, and which: Tiled, Im2col or Im2colWide."""

    start: int
    end: int
    kind: str


def calls(text: str) -> Iterator[Call]:
    """Each place that names one of the functions, or calls it by a name that the text sets to it."""
    kinds: dict[str, str] = {}
    for found in CALL.finditer(text):
        name = _alias(text[max(0, found.start() - _NEAR) : found.start()], text[found.end() : found.end() + _NEAR])
        if name is not None and CALL.fullmatch(name) is None:
            kinds[name] = found[1] if kinds.setdefault(name, found[1]) == found[1] else ""
    names = "|".join(re.escape(name) for name in kinds if kinds[name])
    pattern = re.compile(rf"{CALL.pattern}|(?<![\w.>:])(?:{names})(?=\s*\()") if names else CALL
    named = {
        found.start(): Call(found.start(), found.end(), found[1] or kinds[found[0]]) for found in pattern.finditer(text)
    }
    others = {call.start: call for call in _by_arguments(text) if call.start not in named}
    yield from sorted((named | others).values())


def by_arguments(text: str) -> bool:
    """Whether `text` holds a call that only its arguments tell."""
    return "CU_TENSOR_MAP_DATA_TYPE_" in text and next(_by_arguments(text), None) is not None


def _by_arguments(text: str) -> Iterator[Call]:
    text = _COMMENT.sub(lambda found: " " * len(found[0]), text)
    for found in _BY_ARGUMENTS.finditer(text):
        arguments = _split(text, found.end(1))
        kind = _ARGUMENTS.get(len(arguments))
        # What is laid out otherwise is a wrapper with parameters of its own.
        if kind and CALL.search(found[1]) is None and "CU_TENSOR_MAP_INTERLEAVE_" in arguments[-_INTERLEAVE]:
            yield Call(found.start(1), found.end(1), kind)


def _split(text: str, start: int) -> list[str]:
    """The arguments of the call whose bracket is the next; none where it does not end."""
    depth, parts = 0, [""]
    for mark in text[start : start + _LONGEST]:
        depth += (mark in "([{") - (mark in ")]}")
        if depth == 0 and mark == ")":
            return parts
        if depth == 1 and mark == ",":
            parts.append("")
        else:
            parts[-1] += mark
    return []


def _alias(before: str, after: str) -> str | None:
    """The name that the code around the function's name sets to it."""
    if (found := _SET.search(before)) and _NO_MORE.match(after):
        return found[1] or found[2]
    if found := _CAST.search(before):
        return found[1]
    if _TYPE.search(before) and (found := _POINTER.match(after)):
        return found[1]
    return None
