"""Python source as the checker reads it: its calls, and what each scope sets, whole or in pieces. Nothing is run.

    the text parses ────▶ its tree              a fragment, indented ────▶ the tree of `if 1:` and the fragment
    it does not ────────▶ each line that parses by itself, and each call up to its closing bracket

>>> source = Source("M, K = 4096, 512\\nmake(M)", re.compile(r"make\\s*\\("))
>>> [ast.unparse(call) for call, _ in source.calls], list(source.top.names)
(['make(M)'], ['M', 'K'])
"""

from __future__ import annotations

import ast
import re
import warnings
from bisect import bisect_right

from tmalab.inputs.python_pieces import is_deep, logical_lines, sites
from tmalab.inputs.python_scope import Scope, Visit

# A kernel's file has a few thousand lines; what is longer is no text that somebody pastes.
LONGEST = 400_000
_NEW_LINE = re.compile(r"\r\n|\r|\n")
_NOT_PYTHON = (SyntaxError, ValueError, RecursionError, MemoryError)


class Source:
    """A text as Python. `calls` are its calls in order, each with its scope; in pieces, those that `pattern` finds.

    `broken` are the offsets of calls that have no end or are no Python.
    """

    def __init__(self, text: str, pattern: re.Pattern[str]):
        self.text, self.top = text, Scope(None)
        self._starts = [0, *(found.end() for found in _NEW_LINE.finditer(text))]
        self.broken: list[int] = []
        visit = Visit(self.top, self.place)
        tree = _parsed(text)
        if tree is None and (tree := _parsed(f"if 1:\n{text}")) is not None:
            _move(tree, -1, 0)
        if tree is not None:
            visit.all_of(tree)
        else:
            self._in_pieces(visit, pattern)
        self.calls = sorted(visit.calls, key=lambda found: self.place(found[0]))
        self.uses = visit.uses

    def place(self, node: ast.AST) -> int:
        """The offset of `node` in the text; the tree counts a line's bytes, not its characters."""
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        start = self._starts[min(max(line, 1), len(self._starts)) - 1]
        before = self.text[start : start + column].encode("utf8", "replace")[:column]
        return start + len(before.decode("utf8", "ignore"))

    def _in_pieces(self, visit: Visit, pattern: re.Pattern[str]) -> None:
        for start, end in logical_lines(self.text):
            if (tree := self._piece(start, end)) is not None:
                visit.all_of(tree, flat=True)
                continue
            for part in range(start, end):  # a bracket that is never closed swallows the lines behind it
                if part == start or self.text[part - 1] in "\r\n":
                    line = _NEW_LINE.search(self.text, part, end)
                    if (tree := self._piece(part, line.start() if line else end)) is not None:
                        visit.all_of(tree, flat=True)
        visit.calls.clear()
        for start, stop in sites(self.text, pattern):
            piece = None if stop is None else self._piece(start, stop)
            made = getattr(piece.body[0], "value", None) if piece is not None and len(piece.body) == 1 else None
            if isinstance(made, ast.Call):
                visit.calls.append((made, self.top))
            else:
                self.broken.append(start)

    def _piece(self, start: int, end: int) -> ast.Module | None:
        """The tree of a part of the text, its places those of the text; of `def f(x):` too, and of no more lines."""
        cut = self.text[start:end]
        bare = cut.strip()
        if not bare:
            return None
        tree = _parsed(bare) or (_parsed(f"{bare} pass") if bare.endswith(":") else None)
        if tree is not None:
            start += len(cut) - len(cut.lstrip())
            line = bisect_right(self._starts, start) - 1
            _move(tree, line, len(self.text[self._starts[line] : start].encode("utf8", "replace")))
        return tree


def _parsed(text: str) -> ast.Module | None:
    if is_deep(text):
        return None
    with warnings.catch_warnings():  # of the reader's code: an escape that is none, `is` beside a number
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text)
        except _NOT_PYTHON:
            return None


def _move(tree: ast.AST, lines: int, columns: int) -> None:
    """Move every place in `tree` down by lines; right by columns on its first line alone."""
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            if node.lineno == 1:
                node.col_offset += columns  # type: ignore[attr-defined]
            node.lineno += lines
