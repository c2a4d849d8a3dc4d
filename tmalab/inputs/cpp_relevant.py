"""The statements above a call that its values can depend on; a file's other code is never cut into tokens.

    int n = 64;  void other() { … }  cuuint32_t box[1] = {n};      of box: the last, of n: the first, of both no other

>>> text = "int n = 64; void other() { f(); } int box[1] = {n}; g();"
>>> " ".join(token.text for token in relevant(text, 0, len(text), {"box"}))
'int n = 64 ; ; int box [ 1 ] = { n } ; ;'

Cutting into tokens is what takes the time, so the text is first cut at `;`, `{` and `}` alone. A statement, or a block
with all that it holds, is left out if no name that is asked for stands in it; a `;` takes its place.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tmalab.inputs.cpp_declared import Declaration, declarations
from tmalab.inputs.cpp_tokens import Token, tokenize
from tmalab.inputs.cpp_values import CASTS, QUALIFIERS, SIZEOF

_ASIDE = r"//[^\n]*|/\*(?:(?!\*/).)*(?:\*/|\Z)|\"(?:[^\"\\\n]|\\.){0,400}\"|(?<!\w)'(?:[^'\\\n]|\\.){0,40}'"
_MARK = re.compile(
    rf"(?P<aside>{_ASIDE})|(?P<directive>\#[^\n]*)|(?P<loop>\bfor\s*\([^;{{}}\"'/#]*;[^;{{}}\"'/#]*;)|[;{{}}]",
    re.DOTALL,
)
_OUT = re.compile(_ASIDE, re.DOTALL)
_REFERENCE = re.compile(r"[&*]\s*(\w+)\s*(?:=|:(?!:))")  # auto& b = box: a write to b is one to box
_KNOWN = SIZEOF.keys() | QUALIFIERS | CASTS | {"sizeof"}  # no text says what these mean
_MOST_TOKENS = 20_000  # looked at round by round; then all of it is as cheap


class _Piece(NamedTuple):
    """Text up to a `;`, `{` or `}`; `kept` whatever stands in it: a directive, or brackets that are still open."""

    start: int
    end: int
    mark: str
    kept: bool


def relevant(text: str, start: int, end: int, names: set[str]) -> list[Token]:
    """The tokens of `text[start:end]`, of which everything that `names` do not depend on is left out."""
    pieces = _pieces(text, start, end)
    wanted = names - _KNOWN
    cut: dict[tuple[int, int], list[Token]] = {}
    looked = 0
    while looked < _MOST_TOKENS:
        spans = _spans(text, start, end, pieces, wanted)
        tokens: list[Token] = []
        for span in spans:
            if span not in cut:
                cut[span] = tokenize(text, *span) if span[1] > span[0] else [Token("mark", ";", span[0])]
            tokens += cut[span]
        looked += len(tokens) + 1000  # a round searches the text too
        more = _names_behind(declarations(tokens), wanted)
        for first, last in spans:
            piece = text[first:last]
            if "&" in piece or "*" in piece:
                more.update(_REFERENCE.findall(piece))
        if more - _KNOWN <= wanted:
            return tokens
        wanted |= more - _KNOWN
    return tokenize(text, start, end)


def names_in(tokens: list[Token]) -> set[str]:
    """The names in `tokens`, and each part of a qualified one."""
    return {part for token in tokens if token.kind == "name" for part in token.text.split("::") if part}


def _names_behind(declared: dict[str, Declaration], wanted: set[str]) -> set[str]:
    found: set[str] = set()
    for name, said in declared.items():
        if not wanted.isdisjoint(name.replace(".", "::").split("::")):
            found |= names_in(
                [*said.value, *said.size, *(token for both in said.entries for part in both for token in part)]
            )
    return found


def _pieces(text: str, start: int, end: int) -> list[_Piece]:
    found: list[_Piece] = []
    begin, opened, aside, directive = start, 0, False, False
    for mark in _MARK.finditer(text, start, end):
        kind = mark.lastgroup
        if kind is not None:
            aside, directive = aside or kind == "aside", directive or kind == "directive"
            continue
        piece = text[begin : mark.end()]
        if aside:
            piece = _OUT.sub("", piece)
        before = opened
        opened += piece.count("(") + piece.count("[") - piece.count(")") - piece.count("]")
        found.append(_Piece(begin, mark.end(), mark.group(), directive or before != 0 or opened != 0))
        opened = max(opened, 0)  # what was opened before the text begins is closed in it
        begin, aside, directive = mark.end(), False, False
    found.append(_Piece(begin, end, "", True))  # what the call itself stands in
    return found


def _spans(text: str, start: int, end: int, pieces: list[_Piece], wanted: set[str]) -> list[tuple[int, int]]:
    """Where in the text the kept pieces stand, in order; an empty span stands for what was left out."""
    pattern = re.compile(rf"\b(?:{'|'.join(sorted(map(re.escape, wanted)))})\b") if wanted else None
    hits = [hit.start() for hit in pattern.finditer(text, start, end)] if pattern else []
    hits.append(end)
    found: list[tuple[int, int]] = []
    frames: list[tuple[int, bool]] = []  # of each open block: how many spans stand before it, and whether it is kept
    at = 0
    for piece in pieces:
        kept = piece.kept
        while hits[at] < piece.end and at < len(hits) - 1:
            kept, at = True, at + 1
        if piece.mark == "{":
            within = text[piece.start : piece.start + 40].lstrip()[:1] in {"{", ","}  # of {{64, 128}} too
            kept = kept or (within and bool(frames) and frames[-1][1])
            frames.append((len(found), kept))
            found.append((piece.start, piece.end))
        elif piece.mark == "}" and frames:
            before, whole = frames.pop()
            if whole or kept:
                found.append((piece.start, piece.end))
                if frames:
                    frames[-1] = (frames[-1][0], True)
            else:
                del found[before:]
                _left_out(found, piece.end)
        elif kept or piece.mark == "}":
            found.append((piece.start, piece.end))
            if frames:
                frames[-1] = (frames[-1][0], True)
        else:
            _left_out(found, piece.end)
    return found


def _left_out(found: list[tuple[int, int]], at: int) -> None:
    if not found or found[-1][1] > found[-1][0]:
        found.append((at, at))
