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
# Signs and words that may each be one level deeper in an expression. A browser's Python has a small stack, and a parser
# that uses it up ends that Python; 1000 levels went well, and no line that is pasted has so many.
_DEEPER = re.compile(r"[-+~*/%@&|^<>.(\[{]|\b(?:not|await|lambda|if|and|or)\b")
_MOST_DEEPER = 400
_F_STRING = re.compile(r"[ft]r?$", re.IGNORECASE)
_CLOSER = {mark: re.compile(rf"(?:\\.|(?!{mark}).)*?{mark}", re.DOTALL) for mark in ('"""', "'''")}
_CLOSER |= {mark: re.compile(rf"(?:\\.|[^{mark}\\\r\n])*{mark}?", re.DOTALL) for mark in "\"'"}
_CLOSER["#"] = re.compile(r"[^\r\n]*")
_NEW_LINES = ("\n", "\r", "\r\n")


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
        elif mark in _NEW_LINES and depth == 0 and text[start - 1 : start] != "\\":
            yield begin, start
            begin = end
    if begin < len(text):
        yield begin, len(text)


def is_deep(text: str) -> bool:
    """Whether a parser may go deeper into a line of `text`, or into its `elif` after `elif`, than it should be let."""
    if text.count("elif ") > _MOST_DEEPER:
        return True
    at, count, ends = 0, 0, {stop for _, stop in logical_lines(text)}
    for mark, start, end in (*_marks(text), ("", len(text), len(text))):
        quoted = mark in _CLOSER
        if mark in ("'", '"', "'''", '"""') and _F_STRING.search(text, max(start - 3, 0), start):
            quoted = False  # what stands in its braces is parsed too
        count += len(_DEEPER.findall(text, at, start if quoted else end))
        if count > _MOST_DEEPER:
            return True
        at = end
        if start in ends:
            count = 0
    return False


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
