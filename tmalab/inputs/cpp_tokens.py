"""C++, or Python, cut into tokens; nothing is compiled or run.

    dims[2] = {kCols, 1024};    dims  [  2  ]  =  {  kCols  ,  1024  }  ;

>>> [token.text for token in tokenize("n = 0x10; // rows")]
['n', '=', '0x10', ';']
"""

from __future__ import annotations

import re
from typing import NamedTuple

_CPP, _PYTHON = (
    re.compile(
        rf"(?P<skip>\s+|{comment}|\\\n)"
        r"|(?P<directive>\#[^\n]*)"
        r"|(?P<number>0[xX][0-9a-fA-F']+[uUlLzZ]*|0[bB][01']+[uUlLzZ]*"
        r"|\d[\d']*(?:\.\d*)?(?:[eE][+-]?\d+)?[uUlLzZfF]*)"
        r"|(?P<name>(?:::)?[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*)"
        r"|(?P<string>\"(?:[^\"\\\n]|\\.){0,400}\"|'(?:[^'\\\n]|\\.){0,40}')"
        r"|(?P<mark>//|<<|>>|->|[-+*/%&|^~!<>=?:;,.(){}\[\]])"
        r"|(?P<other>.)",
        re.DOTALL,
    )
    for comment in (r"//[^\n]*|/\*(?:(?!\*/).)*(?:\*/|\Z)", r"\#[^\n]*")
)
OPENING, CLOSING = {"(", "[", "{"}, {")", "]", "}"}


class Token(NamedTuple):
    """One token: its kind (name, number, string, mark, directive, other), its text, and its offset in the text."""

    kind: str
    text: str
    offset: int


def tokenize(text: str, start: int = 0, end: int | None = None, *, python: bool = False) -> list[Token]:
    """The tokens of `text[start:end]` without spaces and comments; offsets count from the whole text's beginning.

    In Python a comment begins with #, and // divides.
    """
    tokens = []
    for found in (_PYTHON if python else _CPP).finditer(text, start, len(text) if end is None else end):
        kind = found.lastgroup
        if kind is not None and kind != "skip":
            tokens.append(Token(kind, found.group(), found.start()))
    return tokens


def closing(tokens: list[Token], index: int) -> int:
    """The index of the bracket that closes the one at `index`; the number of tokens where none does."""
    depth = 0
    for position in range(index, len(tokens)):
        if tokens[position].text in OPENING:
            depth += 1
        elif tokens[position].text in CLOSING:
            depth -= 1
            if depth == 0:
                return position
    return len(tokens)


def pairs_of(tokens: list[Token]) -> dict[int, int]:
    """Where each opening bracket is closed, all in one pass."""
    found: dict[int, int] = {}
    opened: list[int] = []
    for position, token in enumerate(tokens):
        if token.text in OPENING:
            opened.append(position)
        elif token.text in CLOSING and opened:
            found[opened.pop()] = position
    return found


def split_at_commas(tokens: list[Token]) -> list[list[Token]]:
    """The parts between top-level commas; a comma between template brackets (`array<int, 2>{}`) is not one."""
    parts: list[list[Token]] = [[]]
    depth = angle = 0
    for position, token in enumerate(tokens):
        if token.text in OPENING:
            depth += 1
        elif token.text in CLOSING:
            depth -= 1
        elif token.text == "<" and position and tokens[position - 1].kind == "name" and _closes(tokens, position):
            angle += 1
        elif token.text == ">" and angle:
            angle -= 1
        if token.text == "," and depth == 0 and angle == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts if parts != [[]] else []


def _closes(tokens: list[Token], index: int) -> bool:
    """Whether the `<` at `index` is a template's: closed soon by a `>` that a bracket or a scope follows."""
    for position in range(index + 1, min(index + 16, len(tokens) - 1)):
        if tokens[position].text == ">":
            return tokens[position + 1].text in {"{", "(", ">", "*"} or tokens[position + 1].text.startswith("::")
        if tokens[position].text in {";", "(", "{"}:
            return False
    return False
