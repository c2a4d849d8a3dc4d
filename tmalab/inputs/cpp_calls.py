"""Where a text calls one of the driver's two encoding functions, by its own name or by one that the text gives it.

    auto encode = &cuTensorMapEncodeTiled;    #define ENCODE cuTensorMapEncodeTiled
    auto encode = reinterpret_cast<PFN_cuTensorMapEncodeTiled>(pointer);

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
    for found in pattern.finditer(text):
        yield Call(found.start(), found.end(), found[1] or kinds.get(found.group(), ""))


def _alias(before: str, after: str) -> str | None:
    """The name that the code around the function's name sets to it."""
    if (found := _SET.search(before)) and _NO_MORE.match(after):
        return found[1] or found[2]
    if found := _CAST.search(before):
        return found[1]
    if _TYPE.search(before) and (found := _POINTER.match(after)):
        return found[1]
    return None
