"""The parts of a C++ text that a call of the encode functions can depend on; a file's other code is never cut up.

    int n = 64;    void other(int a) { … }    void make() { … n … cuTensorMapEncodeTiled(…) … }
    kept           left out: no name          kept: it names the function
                   of it is asked for

>>> text = "int n = 64; void other(int a) { a = 3; } void make() { uTensorMapEncode(n); } int m = 3;"
>>> [text[start:end].strip() for start, end in relevant(text, 0, len(text))]
['int n = 64;', 'void make() { uTensorMapEncode(n); }']

Cutting into tokens is what takes the time. The text is first cut into the statements, functions and classes that stand
in no braces but a namespace's. What a function names within itself is its own; it matters to others by its own name,
and by the names that stand outside: so it is kept where it holds one of those that a kept part holds too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_ASIDE = (
    r"//(?:[^\n\\]|\\.)*|/\*(?:(?!\*/).)*(?:\*/|\Z)|R\"(?P<delimiter>[^\s()\\]{0,16})\((?:(?!\)(?P=delimiter)\").)*(?:\)(?P=delimiter)\"|\Z)"
    r"|\"(?:[^\"\\\n]|\\.){0,400}\"|(?<!\w)'(?:[^'\\\n]|\\.){0,40}'"
)
_MARK = re.compile(rf"(?P<aside>{_ASIDE})|(?P<directive>\#(?:[^\n\\]|\\.)*)|[;{{}}()\[\]]", re.DOTALL)
_CALLS = re.compile("uTensorMapEncode|CU_TENSOR_MAP_DATA_TYPE_")
_OUT = re.compile(_ASIDE, re.DOTALL)
_WORD = re.compile(r"[A-Za-z_]\w*")
_OPEN = re.compile(r"\b(?:namespace|extern)\b[^(=]*\{\s*$")
_WHOLE = re.compile(r"\b(?:enum|class|struct|union)\b[^(=]*\{\s*$")
_GOES_ON = re.compile(r"\s*[;,()\[\].?:]")
_COMMON = {
    "if", "else", "for", "while", "do", "switch", "case", "return", "template", "typename", "class", "struct", "enum",
    "union", "namespace", "using", "typedef", "static", "inline", "const", "constexpr", "auto", "void", "int",
    "unsigned", "long", "short", "char", "bool", "float", "double", "half", "size_t", "uint32_t", "uint64_t",
    "int32_t", "int64_t", "uint8_t", "std", "nullptr", "true", "false", "sizeof", "define", "ifdef", "ifndef",
    "endif", "include", "pragma", "once", "cuuint32_t", "cuuint64_t", "CUtensorMap", "__half", "__global__",
    "__device__", "__host__", "extern",
}  # fmt: skip


class _Part(NamedTuple):
    """A part of the text, its words that stand outside of braces and brackets, and whether it is always kept."""

    start: int
    end: int
    outside: set[str]
    always: bool
    directive: bool = False


def relevant(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Where in `text[start:end]` the parts stand that are kept, in order."""
    parts = list(_parts(text, start, end))
    known: set[str] = set().union(*(part.outside for part in parts)) - _COMMON
    words = [set(_WORD.findall(text, part.start, part.end)) & known for part in parts]
    kept = [part.always or _CALLS.search(text, part.start, part.end) is not None for part in parts]
    holders: dict[str, list[int]] = {}
    for index, held in enumerate(words):
        for word in held:
            holders.setdefault(word, []).append(index)
    # A directive always stands, but what it names matters only where its own name does.
    asked = [keep and not (part.directive and part.always) for part, keep in zip(parts, kept, strict=True)]
    wanted: set[str] = set()
    pending = [index for index, ask in enumerate(asked) if ask]
    while pending:
        for word in words[pending.pop()] - wanted:
            wanted.add(word)
            for index in holders.get(word, ()):
                if not asked[index]:
                    asked[index] = kept[index] = True
                    pending.append(index)
    return [(part.start, part.end) for part, keep in zip(parts, kept, strict=True) if keep]


def _parts(text: str, start: int, end: int) -> Iterator[_Part]:
    begin, opened, braces, opener = start, 0, 0, -1
    for mark in _MARK.finditer(text, start, end):
        sign, at = mark.group()[:1], mark.end()
        if mark["aside"] is not None:
            continue
        if mark["directive"] is not None:
            if braces == 0 and opened == 0:
                if text[begin : mark.start()].strip():
                    yield _part(text, begin, mark.start(), -1)
                named = "uTensorMapEncode" in mark.group()
                yield _Part(mark.start(), at, set(_WORD.findall(mark.group())), not named, True)
                begin = at
            continue
        if sign in "([":
            opened += 1
        elif sign in ")]":
            opened = max(opened - 1, 0)
        elif sign == "{":
            if braces == 0 and opened == 0 and _OPEN.search(text, begin, at):
                yield _Part(begin, at, set(), True)
                begin = at
                continue
            if braces == 0:
                opener = mark.start()
            braces += 1
        elif sign == "}":
            if braces == 0:  # a namespace's, or of what the text begins within
                if text[begin : mark.start()].strip():
                    yield _part(text, begin, mark.start(), -1)
                yield _Part(mark.start(), at, set(), True)
                begin, opened = at, 0
                continue
            braces -= 1
            if braces == 0 and opened == 0 and not _GOES_ON.match(text, at):
                yield _part(text, begin, at, opener)
                begin = at
        elif braces == 0 and opened == 0:
            yield _part(text, begin, at, opener)
            begin = at
    if begin < end:
        yield _Part(begin, end, set(_WORD.findall(text, begin, end)), True)


def _part(text: str, begin: int, end: int, opener: int) -> _Part:
    """A part; of a function only its head's words are outside, of a class, an enum or a statement all of them."""
    if not begin <= opener < end or _WHOLE.search(text, begin, opener + 1):
        return _Part(begin, end, set(_WORD.findall(_OUT.sub(" ", text[begin:end]))), False)
    head = _OUT.sub(" ", text[begin:opener])
    while (inner := re.sub(r"\([^()]*\)", " ", head)) != head:
        head = inner
    return _Part(begin, end, set(_WORD.findall(head)), False)
