"""C++ cut into tokens, and which bracket closes which; nothing is compiled or run.

    dims[2] = {kCols, 1024};  // columns        dims  [  2  ]  =  {  kCols  ,  1024  }  ;

>>> tokens = tokenize("dims[2] = {kCols, 1024};  // columns")
>>> [token.text for token in tokens if token.kind == "name"], closing(tokens, 5)
(['dims', 'kCols'], 9)

A directive is one token, with the lines that a backslash joins to it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import NamedTuple

# What stands between tokens is part of the pattern: a match for each space would double the work.
_TOKEN = re.compile(
    r"(?:\s+|//(?:[^\n\\]|\\.)*|/\*(?:(?!\*/).)*(?:\*/|\Z)|\\\n)*+"
    r"(?:(?P<raw>(?:u8|[uUL])?R\"(?P<delimiter>[^\s()\\]{0,16})\((?:(?!\)(?P=delimiter)\").)*(?:\)(?P=delimiter)\"|\Z))"
    r"|(?P<name>(?:::)?[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*)"
    r"|(?P<mark><<|>>|->|[-+*/%&|^~!<>=?:;,.(){}\[\]])"
    r"|(?P<number>0[xX][0-9a-fA-F']+[uUlLzZ]*|0[bB][01']+[uUlLzZ]*"
    r"|\d[\d']*(?:\.\d*)?(?:[eE][+-]?\d+)?[uUlLzZfF]*)"
    r"|(?P<directive>\#(?:[^\n\\]|\\.)*)"
    r"|(?P<string>\"(?:[^\"\\\n]|\\.){0,400}\"|'(?:[^'\\\n]|\\.){0,40}')"
    r"|(?P<other>\S)|(?P<end>\Z))",
    re.DOTALL,
)
OPENING, CLOSING = {"(", "[", "{"}, {")", "]", "}"}


class Token(NamedTuple):
    """One token: its kind (name, number, string, raw, mark, directive, other), its text, and its offset in the text."""

    kind: str
    text: str
    offset: int


def tokenize(text: str, start: int = 0, end: int | None = None) -> list[Token]:
    """The tokens of `text[start:end]` without spaces and comments; offsets count from the whole text's beginning."""
    made: list[Token] = []
    append, make = made.append, Token._make
    for found in _TOKEN.finditer(text, start, len(text) if end is None else end):
        kind = found.lastgroup
        if kind is not None:
            append(make((kind, found[kind], found.start(kind))))
    while made and made[-1].kind == "end":
        made.pop()
    return made


def texts(tokens: list[Token] | None) -> list[str]:
    """The tokens' texts."""
    return [token.text for token in tokens or ()]


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


class Brackets:
    """Which bracket of `tokens` closes which (`pairs`, both ways), and the one that is open about each token or -1."""

    def __init__(self, tokens: list[Token]):
        self.pairs: dict[int, int] = {}
        self.about: list[int] = []
        opened: list[int] = []
        for position, (_, text, _) in enumerate(tokens):
            if text in CLOSING and opened:
                start = opened.pop()
                self.pairs[start], self.pairs[position] = position, start
            self.about.append(opened[-1] if opened else -1)
            if text in OPENING:
                opened.append(position)


def index_at(offsets: list[int], offset: int) -> int:
    """The index of the token that begins at `offset`, or of the next one."""
    return min(bisect_left(offsets, offset), len(offsets) - 1)


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
        elif token.text in {">", ">>"} and angle:
            angle = max(angle - len(token.text), 0)
        if token.text == "," and depth == 0 and angle == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts if parts != [[]] else []


def _closes(tokens: list[Token], index: int) -> bool:
    """Whether the `<` at `index` is a template's: closed soon by a `>` that a bracket, a name or a scope follows."""
    for position in range(index + 1, min(index + 24, len(tokens) - 1)):
        text = tokens[position].text
        if text in {">", ">>"}:
            after = tokens[position + 1]
            return after.kind == "name" or after.text in {"{", "(", ">", "*", "&", ",", ")"}
        if text in {";", "(", "{"}:
            return False
    return False


def designated(value: list[Token], member: str) -> list[Token] | None:
    """What `{.b = 4}` sets the member `b` to."""
    start = next((index for index, token in enumerate(value) if token.text == "{"), None)
    if start is None:
        return None
    for part in split_at_commas(value[start + 1 : -1]):
        if texts(part[:3]) == [".", member, "="]:
            return part[3:]
    return None
