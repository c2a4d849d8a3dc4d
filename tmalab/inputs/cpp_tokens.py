"""C++ cut into tokens, and what each name before a call was last set to; nothing is compiled or run.

    constexpr int kCols = 4096;            kCols → [4096]
    cuuint64_t dims[2] = {kCols, 1024};    dims  → [{kCols, 1024}], declared with 2 entries

>>> tokens = tokenize("cuuint64_t dims[2] = {kCols, 1024};")
>>> declared = declarations(tokens)["dims"]
>>> "".join(token.text for token in declared.value), declared.size[0].text
('{kCols,1024}', '2')
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
_DEFINE = re.compile(r"\#\s*define\s+([A-Za-z_]\w*)[ \t]+(.+)")
OPENING, CLOSING = {"(", "[", "{"}, {")", "]", "}"}
# No value worth reading is longer: a tensor map's arrays have five entries.
_LONGEST_VALUE = 256
_DEEPEST = 64  # conditionals within each other


class Token(NamedTuple):
    """One token: its kind (name, number, string, mark, directive, other), its text, and its offset in the text."""

    kind: str
    text: str
    offset: int


class Declaration(NamedTuple):
    """What a name was set to: the tokens of its value, of its declared size, and of single entries set afterwards.

    A `macro` stands for its text. `changed` is the first write that nothing but running the code can follow.
    """

    value: list[Token]
    size: list[Token]
    entries: list[tuple[list[Token], list[Token]]]
    macro: bool = False
    changed: Token | None = None


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


def _pairs(tokens: list[Token]) -> dict[int, int]:
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


def declarations(tokens: list[Token], *, lines: str | None = None) -> dict[str, Declaration]:
    """The last value of each name that `tokens` sets: `T name = …;`, `T name[n] = {…}`, `name{…}`, `#define name …`.

    `lines`, the text itself, is given for Python, where a value ends with its line.
    """
    found: dict[str, Declaration] = {}
    chosen: set[str] = set()  # macros that an #if sets
    pairs = _pairs(tokens)
    branches = closed_branches(tokens, pairs) if lines is None else {}
    for index, token in enumerate(tokens):
        branch = branches.get(index)
        if branch == "never":
            continue
        if token.kind == "directive":
            if macro := _DEFINE.match(token.text):
                name, start = macro.group(1), token.offset + macro.start(2)
                value = [Token(t.kind, t.text, t.offset + start) for t in tokenize(macro.group(2)[:1000])]
                if not (branch and name in found):  # an #ifndef keeps what was set above it
                    found[name] = Declaration(value, [], [], macro=True)
                elif name in chosen and [t.text for t in value] != [t.text for t in found[name].value]:
                    found[name] = found[name]._replace(changed=token)
                chosen |= {name} if branch else set()
            continue
        if token.kind != "name" or index + 1 >= len(tokens):
            continue
        after, size = index + 1, []
        if tokens[after].text == "[":
            end = pairs.get(after, len(tokens))
            size, after = tokens[after + 1 : min(end, after + _LONGEST_VALUE)], end + 1
        if after >= len(tokens):
            continue
        for name in written_names(tokens, index, after, pairs):
            if name in found:
                found[name] = found[name]._replace(changed=token)
        kind, before = tokens[index - 1][:2] if index else ("", "")
        typed = (kind == "name" and before not in _CONDITIONS) or before in {">", "*", "&", ","}
        if tokens[after].text == "=" and tokens[min(after + 1, len(tokens) - 1)].text != "=":
            value = _value(tokens, after + 1, lines)
            if branch == "block" and typed:  # a scope that has ended hides nothing any more
                continue
            if branch and token.text in found:
                found[token.text] = found[token.text]._replace(changed=token)
            elif size and not typed and token.text in found:
                found[token.text].entries.append((size, value))
            else:
                found[token.text] = Declaration(value, size, [])
        elif tokens[after].text == "{" and typed:
            found[token.text] = Declaration(tokens[after : pairs.get(after, after) + 1], size, [])
        elif size and typed and tokens[after].text in {";", ","} and token.text not in found:
            found[token.text] = Declaration([], size, [])
    return found


def _value(tokens: list[Token], start: int, lines: str | None) -> list[Token]:
    """The tokens from `start` to the end of the value: a `;`, a comma outside brackets, or in Python the line's end."""
    depth, end = 0, start
    while end < len(tokens) and end - start < _LONGEST_VALUE:
        text = tokens[end].text
        if text in OPENING:
            depth += 1
        elif text in CLOSING:
            depth -= 1
            if depth < 0:
                break
        elif depth == 0 and (
            text in (";", "=") or tokens[end].kind == "directive" or _new_line(tokens, start, end, lines)
        ):
            break
        end += 1
    parts = split_at_commas(tokens[start:end])
    return parts[0] if parts else []


def _new_line(tokens: list[Token], start: int, end: int, lines: str | None) -> bool:
    """Whether the token at `end` begins a line of its own, where lines end values."""
    return lines is not None and end > start and "\n" in lines[tokens[end - 1].offset : tokens[end].offset]


_ARITHMETIC = {"+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"}
_WRITERS = {"fill", "fill_n", "copy", "copy_n", "iota", "transform", "swap", "reverse", "memcpy", "memset"}


def written_names(tokens: list[Token], index: int, after: int, pairs: dict[int, int]) -> list[str]:
    """The names that the code at the name `tokens[index]` changes: `n *= 2`, `n++`, `++n`, `std::fill(a, …)`."""
    name, marks = tokens[index].text, [token.text for token in tokens[after : after + 2]]
    before = [token.text for token in tokens[max(index - 2, 0) : index]]
    stepped = marks in (["+", "+"], ["-", "-"]) or before in (["+", "+"], ["-", "-"])
    if stepped or (marks[0] in _ARITHMETIC and marks[1:] == ["="]):
        return [name]
    if name.rsplit("::", 1)[-1] in _WRITERS and marks[0] == "(":
        inside = tokens[after : min(pairs.get(after, after), after + _LONGEST_VALUE)]
        return [token.text for token in inside if token.kind == "name"]
    return []


_CONDITIONS = {"if", "else", "for", "while"}


def _statement(tokens: list[Token], index: int, pairs: dict[int, int]) -> range:
    """The one statement without braces that the `if (…)`, `for (…)` or `else` at `index` decides about; or nothing."""
    start = index + 1
    if [token.text for token in tokens[start : start + 1]] == ["constexpr"]:
        start += 1
    end = start = pairs.get(start, len(tokens)) + 1 if tokens[index].text != "else" else start
    while end < min(len(tokens), start + _LONGEST_VALUE) and tokens[end].text not in {"{", ";"} | _CONDITIONS:
        end = pairs.get(end, end) + 1
    return range(start, end)


def closed_branches(tokens: list[Token], pairs: dict[int, int]) -> dict[int, str]:
    """Which tokens stand in a branch that ends before the call: of a "block", an "#if", or an "#if 0" ("never")."""
    found: dict[int, str] = {}
    opened: list[tuple[int, str]] = []
    for index, token in enumerate(tokens):
        before = tokens[index - 1].text if index else ""
        if (
            token.text == "{"
            and index in pairs
            and index not in found
            and before in {")", "else", "do", "try", ";", "}"}
        ):
            found |= dict.fromkeys(range(index, pairs[index]), "block")
        if token.text in _CONDITIONS:
            found |= dict.fromkeys(_statement(tokens, index, pairs), "block")
        if token.kind != "directive":
            continue
        word = token.text[1:].split()[:2] or [""]
        if word[0].startswith("if") and len(opened) < _DEEPEST:
            opened.append((index, "never" if word[:2] == ["if", "0"] else "#if"))
        elif word[0] in {"else", "elif", "endif"} and opened:
            start, kind = opened.pop()
            found |= dict.fromkeys(range(start, index), kind)
            if word[0] != "endif":
                opened.append((index, "#if"))
    return found
