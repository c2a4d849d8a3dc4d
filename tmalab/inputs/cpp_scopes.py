"""The scopes around a call: which code above it stands in one that has ended, and what parameters shadow.

    int n = 64;   void other() { n = 8; }   void make(int n) { … the call … }
                               └ "block" ┘            └ n is a parameter: only the caller knows it

>>> from tmalab.inputs.cpp_tokens import tokenize
>>> tokens = tokenize("template <int BN> void make(int rows, int const* box) {")
>>> [token.text for token in parameters(tokens, len(tokens) - 1)]
['BN', 'rows', 'box']
"""

from __future__ import annotations

import re

from tmalab.inputs.cpp_tokens import CLOSING, OPENING, Token, split_at_commas

_LONGEST_STATEMENT = 256
_DEEPEST = 64  # conditionals within each other
_LONGEST_MACRO = 4000
_MACRO = re.compile(r"[ \t]*\#[ \t]*define[ \t]+\w+\(([^)\n]*)\)")
_NAME = re.compile(r"[A-Za-z_]\w*")
CONDITIONS = {"if", "else", "for", "while"}
_CONTROLS = CONDITIONS | {"switch", "constexpr"}
# What may stand between a function's parameters and its body; a constructor's initializers begin with a colon.
_BEHIND = {"const", "noexcept", "override", "final", "mutable", "->", ":", "requires", "&", "volatile", "try"}


def _head(tokens: list[Token], index: int) -> list[Token]:
    """What stands before the `{` at `index`, from the end of the statement above it."""
    depth, start = 0, index
    while start > max(0, index - _LONGEST_STATEMENT):
        before = tokens[start - 1]
        if before.text == "}" and depth == 0 and tokens[start].text not in {",", "{"}:
            break  # a constructor's q{2}, or the body above
        if before.text in CLOSING:
            depth += 1
        elif before.text in OPENING:
            depth -= 1
            if depth < 0:
                break
        elif depth == 0 and (before.text == ";" or before.kind == "directive"):
            break
        start -= 1
    return tokens[start:index]


def _group(head: list[Token]) -> tuple[int, int] | None:
    """Where in a body's head its parameters' brackets stand; None where it is no function's or loop's."""
    depth = start = 0
    for position, token in enumerate(head):
        if token.text in OPENING:
            start = position if depth == 0 else start
            depth += 1
        elif token.text in CLOSING:
            depth -= 1
            after = head[position + 1].text if position + 1 < len(head) else "->"
            if depth == 0 and token.text == ")" and start and after in _BEHIND:
                return start, position
    return None


def parameters(tokens: list[Token], index: int) -> list[Token]:
    """The names that the body which begins with the `{` at `index` is given: a function's, a lambda's, a template's."""
    head = _head(tokens, index)
    group = _group(head)
    if group is None:
        return []
    before = head[group[0] - 1]
    if before.text in _CONTROLS and before.text != "for":
        return []
    inside = head[group[0] + 1 : group[1]]
    if before.text == "for":  # of for (int i = 0; …) what it sets is read as such
        colon = next((at for at, token in enumerate(inside) if token.text == ":"), None)
        return [token for token in inside[:colon] if token.kind == "name"] if colon is not None else []
    if before.kind != "name" and before.text not in {"]", ">", ")"}:
        return []
    parts = split_at_commas(inside)
    if head[0].text == "template":
        parts = _template(head) + parts
    return [name for part in parts if (name := _named(part)) is not None]


def _template(head: list[Token]) -> list[list[Token]]:
    """The parameters of `template <…>`, cut at every comma of its own."""
    parts: list[list[Token]] = [[]]
    angle = 0
    for token in head[1:]:
        angle += {"<": 1, ">": -1, ">>": -2}.get(token.text, 0)
        if angle <= 0:
            break
        if token.text == "," and angle == 1:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _named(part: list[Token]) -> Token | None:
    """The name of a parameter, its default and its size left out."""
    end = next((at for at, token in enumerate(part) if token.text in {"=", "["}), len(part))
    named = [token for token in part[:end] if token.kind == "name"]
    return named[-1] if len(part[:end]) > 1 and named else None


def is_body(tokens: list[Token], index: int) -> bool:
    """Whether the `{` at `index` begins a function's, a lambda's or a loop's body, or a block; not an initializer."""
    before = tokens[index - 1].text if index else ""
    if before in {")", "else", "do", "try", ";", "}", "]"}:
        return True
    return tokens[index - 1].kind == "name" and _group(_head(tokens, index)) is not None


def type_of_body(tokens: list[Token], index: int) -> str | None:
    """The name of the struct or class whose members stand in the `{` at `index`; None where it is none."""
    head = _head(tokens, index) if tokens[index - 1].kind == "name" or tokens[index - 1].text == ">" else []
    words = [token.text for token in head]
    for word in ("struct", "class", "union"):
        if word in words and "(" not in words[words.index(word) :] and "=" not in words[words.index(word) :]:
            return words[words.index(word) + 1] if words.index(word) + 1 < len(words) else ""
    return None


def _statement(tokens: list[Token], index: int, pairs: dict[int, int]) -> range:
    """The one statement without braces that the `if (…)`, `for (…)` or `else` at `index` decides about; or nothing."""
    start = index + 1
    if [token.text for token in tokens[start : start + 1]] == ["constexpr"]:
        start += 1
    end = start = pairs.get(start, len(tokens)) + 1 if tokens[index].text != "else" else start
    while end < min(len(tokens), start + _LONGEST_STATEMENT) and tokens[end].text not in {"{", ";"} | CONDITIONS:
        end = pairs.get(end, end) + 1
    return range(start, end)


def closed_branches(tokens: list[Token], pairs: dict[int, int]) -> dict[int, str]:
    """Which tokens stand in a branch that ends before the call: of a "block", an "#if", or an "#if 0" ("never")."""
    found: dict[int, str] = {}
    opened: list[tuple[int, str]] = []
    for index, token in enumerate(tokens):
        if token.text == "{" and index in pairs and index not in found and is_body(tokens, index):
            found |= dict.fromkeys(range(index, pairs[index]), "block")
        if token.text in CONDITIONS:
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


def macro_parameters(text: str, call: int) -> list[Token]:
    """The parameters of the `#define name(…)` in which the call at `call` stands, over its lines' backslashes."""
    start = text.rfind("\n", 0, call) + 1
    while start > 1 and text[max(0, start - 3) : start].rstrip("\r\n").endswith("\\") and call - start < _LONGEST_MACRO:
        start = text.rfind("\n", 0, start - 1) + 1
    found = _MACRO.match(text, start)
    if found is None or found.end() > call:
        return []
    return [Token("name", name.group(), name.start()) for name in _NAME.finditer(text, found.start(1), found.end(1))]


def python_scopes(tokens: list[Token], text: str, call: int) -> tuple[dict[int, str], dict[int, list[Token]]]:
    """The same for Python, whose blocks are indented: closed branches, and at a `def` that holds the call its names."""
    starts = _line_starts(tokens, text)
    limit = _indent(text, call)
    if starts and ("\n" not in text[tokens[starts[-1]].offset : call] or sum(map(_depth, tokens[starts[-1] :])) > 0):
        limit = _indent(text, tokens[starts[-1]].offset)
    found: dict[int, str] = {}
    given: dict[int, list[Token]] = {}
    opened: list[tuple[int, int]] = []  # each line's number and its indent

    def close(indent: int, end: int) -> None:
        while opened and opened[-1][1] >= indent:
            line = opened.pop()[0]
            body = starts[line + 1] if line + 1 < len(starts) else len(tokens)
            kind = "never" if tokens[starts[line]].text in {"def", "class", "async"} else "block"
            found.update(dict.fromkeys(range(body, end), kind))

    for line, start in enumerate(starts):
        indent = _indent(text, tokens[start].offset)
        close(indent, start)
        opened.append((line, indent))
        if tokens[start].text in {"if", "elif", "else", "for", "while"} and line + 1 < len(starts):
            found.update(dict.fromkeys(range(start, starts[line + 1]), "block"))
    close(limit, len(tokens))
    for line, _ in opened:
        end = starts[line + 1] if line + 1 < len(starts) else len(tokens)
        header = tokens[starts[line] : end]
        if header[0].text == "def" and len(header) > 3:
            parts = split_at_commas(header[3 : _last_bracket(header)])
            named = [next((token for token in part if token.kind == "name"), None) for part in parts]
            given[starts[line]] = [token for token in named if token is not None]
    return found, given


def _line_starts(tokens: list[Token], text: str) -> list[int]:
    """The tokens that begin a line outside every bracket."""
    starts, depth, last = [], 0, -1
    for index, token in enumerate(tokens):
        if depth <= 0 and (index == 0 or "\n" in text[last : token.offset]):
            starts.append(index)
        depth += _depth(token)
        last = token.offset
    return starts


def _depth(token: Token) -> int:
    return (token.text in OPENING) - (token.text in CLOSING)


def _indent(text: str, offset: int) -> int:
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    return len(line) - len(line.lstrip())


def _last_bracket(header: list[Token]) -> int:
    depth = 0
    for position, token in enumerate(header):
        depth += _depth(token)
        if token.text == ")" and depth == 0:
            return position
    return len(header)
