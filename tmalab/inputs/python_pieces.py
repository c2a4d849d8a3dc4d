"""Python text that does not parse as a whole: its logical lines, and its calls, found by their brackets alone.

    x = f(1,          one logical line: a bracket holds its lines together, outside of strings and comments
          2)  # (

>>> list(logical_lines("x = f(1,\\n  2)  # (\\ny = 3"))
[(0, 18), (19, 24)]
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_OPENER = re.compile(r"\"\"\"|'''|[\"'#]|[()\[\]{}]|\r\n|\r|\n")
_MOST_ENDLESS = 32
_CLOSER = {mark: re.compile(rf"(?:\\.|(?!{mark}).)*?{mark}", re.DOTALL) for mark in ('"""', "'''")}
_CLOSER |= {mark: re.compile(rf"(?:\\.|[^{mark}\\\r\n])*{mark}?", re.DOTALL) for mark in "\"'"}
_CLOSER["#"] = re.compile(r"[^\r\n]*")


def _marks(text: str, start: int = 0) -> Iterator[tuple[str, int, int]]:
    """Each bracket, end of line, string and comment from `start` on: its first sign, its begin and end."""
    while found := _OPENER.search(text, start):
        mark, start = found[0], found.end()
        if mark in _CLOSER:
            closed = _CLOSER[mark].match(text, start)
            start = closed.end() if closed else len(text)  # a string without an end holds all that follows
        yield mark, found.start(), start


def logical_lines(text: str) -> Iterator[tuple[int, int]]:
    """Begin and end of each logical line."""
    begin, depth = 0, 0
    for mark, start, end in _marks(text):
        if mark in "([{":
            depth += 1
        elif mark in ")]}":
            depth = max(depth - 1, 0)
        elif mark in ("\n", "\r", "\r\n") and depth == 0:
            yield begin, start
            begin = end
    if begin < len(text):
        yield begin, len(text)


def sites(text: str, pattern: re.Pattern[str]) -> Iterator[tuple[int, int | None]]:
    """Begin and end of each call that `pattern` finds outside of strings and comments; None where it has no end.

    A call whose value is called, `find("name")(1)`, is one call.
    """
    aside = [(start, end) for mark, start, end in _marks(text) if mark in _CLOSER]
    behind, endless = 0, 0
    for found in pattern.finditer(text):
        while aside and aside[0][1] <= found.start():
            aside.pop(0)
        if found.start() < behind or (aside and aside[0][0] <= found.start()):
            continue
        end = _closed(text, text.find("(", found.start()))
        while end is not None and (again := re.compile(r"[ \t]*\(").match(text, end)):
            end = _closed(text, again.end() - 1)
        behind = end or found.end()
        yield found.start(), end
        endless += end is None
        if endless == _MOST_ENDLESS:
            return


def _closed(text: str, start: int) -> int | None:
    """What is behind the bracket that closes the one at `start`, or None."""
    depth = 0
    for mark, _, end in _marks(text, start):
        depth += (mark in "([{") - (mark in ")]}")
        if depth == 0:
            return end
    return None
