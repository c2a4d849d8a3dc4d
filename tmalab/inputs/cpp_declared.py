"""What each name before a call was last set to, by the tokens of C++ or Python; nothing is compiled or run.

    constexpr int kCols = 4096;            kCols → [4096]
    cuuint64_t dims[2] = {kCols, 1024};    dims  → [{kCols, 1024}], declared with 2 entries

>>> from tmalab.inputs.cpp_tokens import tokenize
>>> declared = declarations(tokenize("cuuint64_t dims[2] = {kCols, 1024};"))["dims"]
>>> "".join(token.text for token in declared.value), declared.size[0].text
('{kCols,1024}', '2')
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tmalab.inputs.cpp_scopes import CONDITIONS, closed_branches, parameters, python_scopes, type_of_body
from tmalab.inputs.cpp_tokens import CLOSING, OPENING, Token, pairs_of, split_at_commas, tokenize

_DEFINE = re.compile(r"\#\s*define\s+([A-Za-z_]\w*)[ \t]+(.+)")
# No value worth reading is longer: a tensor map's arrays have five entries.
_LONGEST_VALUE = 256


class Declaration(NamedTuple):
    """What a name was set to: the tokens of its value, of its declared size, and of single entries set afterwards.

    A `macro` stands for its text. `changed` is the first write that nothing but running the code can follow;
    `parameter` is where a function takes the name from its caller.
    """

    value: list[Token]
    size: list[Token]
    entries: list[tuple[list[Token], list[Token]]]
    macro: bool = False
    changed: Token | None = None
    parameter: Token | None = None


def declarations(tokens: list[Token], *, lines: str | None = None, call: int | None = None) -> dict[str, Declaration]:
    """The last value of each name that `tokens` sets: `T name = …;`, `T name[n] = {…}`, `name{…}`, `#define name …`.

    `lines`, the text itself, is given for Python, where a value ends with its line; `call` is where the call begins.
    """
    reader = _Reader(tokens, lines, call)
    for index, token in enumerate(tokens):
        branch = reader.branches.get(index)
        if branch == "never":
            continue
        if token.kind == "directive":
            reader.define(token, branch)
        elif token.text in OPENING or token.text in CLOSING:
            reader.bracket(index)
        elif token.kind == "name" and index + 1 < len(tokens):
            reader.name(index, branch)
    return reader.found


_ENDS = {";", "{", "}", ")"}
# What stands before a name as a type does, and is none.
_NO_TYPES = CONDITIONS | {
    "return",
    "case",
    "throw",
    "goto",
    "delete",
    "new",
    "namespace",
    "typename",
    "sizeof",
    "using",
}


class _Reader:
    """What has been set up to one token, and the brackets that stand open there."""

    def __init__(self, tokens: list[Token], lines: str | None, call: int | None):
        self.tokens, self.lines = tokens, lines
        self.pairs = pairs_of(tokens)
        self.given: dict[int, list[Token]] = {}
        if lines is None:
            self.branches = closed_branches(tokens, self.pairs)
        else:
            self.branches, self.given = python_scopes(tokens, lines, len(lines) if call is None else call)
        self.found: dict[str, Declaration] = {}
        self.chosen: set[str] = set()  # macros that an #if sets
        self.references: dict[str, str] = {}  # of uint32_t* p = box;
        self.opened: list[str] = []  # of each open bracket: "arguments", "members of S" or nothing

    def define(self, token: Token, branch: str | None) -> None:
        """A `#define` with a value."""
        macro = _DEFINE.match(token.text)
        if macro is None:
            return
        name, start = macro.group(1), token.offset + macro.start(2)
        value = [Token(t.kind, t.text, t.offset + start) for t in tokenize(macro.group(2)[:1000])]
        if not (branch and name in self.found):  # an #ifndef keeps what was set above it
            self.found[name] = Declaration(value, [], [], macro=True)
        elif name in self.chosen and [t.text for t in value] != [t.text for t in self.found[name].value]:
            self.change(name, token)
        self.chosen |= {name} if branch else set()

    def bracket(self, index: int) -> None:
        """A bracket opened or closed; a body that holds the call hides what its parameters are named like."""
        text = self.tokens[index].text
        if text in CLOSING:
            if self.opened:
                self.opened.pop()
            return
        kind = ""
        if text == "(" and (index == 0 or self.tokens[index - 1].text not in CONDITIONS | {"switch", "constexpr"}):
            kind = "arguments"
        elif text == "{" and self.lines is None:
            if index not in self.pairs:
                for named in parameters(self.tokens, index):
                    self.found[named.text] = Declaration([], [], [], parameter=named)
            elif name := type_of_body(self.tokens, index):
                kind = f"{name}::"
        self.opened.append(kind)

    def change(self, name: str, token: Token) -> None:
        """Note that `name`, or what it refers to, is written where only running the code can follow."""
        for known in (name, self.references.get(name, "")):
            if known in self.found:
                self.found[known] = self.found[known]._replace(changed=token)

    def name(self, index: int, branch: str | None) -> None:
        """What the code at the name `tokens[index]` sets or changes."""
        tokens, found, token = self.tokens, self.found, self.tokens[index]
        for named in self.given.get(index, ()):  # a def of Python's that holds the call
            found[named.text] = Declaration([], [], [], parameter=named)
        after, size = index + 1, []
        if tokens[after].text == "[":
            end = self.pairs.get(after, len(tokens))
            size, after = tokens[after + 1 : min(end, after + _LONGEST_VALUE)], end + 1
        if after >= len(tokens):
            return
        for name in written_names(tokens, index, after, self.pairs):
            self.change(name, token)
        kind, before = tokens[index - 1][:2] if index else ("", "")
        if token.text == "for" and self.lines is not None:  # for rows, cols in shapes:
            end = next((at for at in range(after, min(after + 64, len(tokens))) if tokens[at].text == "in"), after)
            for named in tokens[after:end]:
                if named.kind == "name":
                    found[named.text] = Declaration([], [], [], changed=named)
            return
        if before == "&" and tokens[after].text == ":" and after + 1 < len(tokens):  # for (auto& side : box)
            self.references[token.text] = tokens[after + 1].text
        by_name = kind == "name" and before not in _NO_TYPES
        typed = by_name or before in {">", "*", "&", ","}
        inner = self.opened[-1] if self.opened else ""
        written = token.text
        if before in {".", "->"} and index > 1:
            written = f"{tokens[index - 2].text}.{written}"
        elif inner.endswith("::"):  # a member of a type whose body has ended goes by its type's name
            written = inner + written
        if tokens[after].text == "=" and tokens[min(after + 1, len(tokens) - 1)].text != "=":
            # A scope that has ended hides nothing any more, and a parameter's default is not yet its value.
            if (branch == "block" and typed) or (inner == "arguments" and (typed or self.lines is not None)):
                return
            python = self.lines is not None
            if (python and before in {",", "*"}) or (before == "*" and tokens[index - 2].text in _ENDS):
                self.unknown(index)  # Python's a, b = f(); *box = 3;
                return
            value = _value(tokens, after + 1, self.lines)
            if not typed and token.text in self.references:
                self.change(self.references[token.text], token)
            if branch and written in found:
                self.change(written, token)
            elif size and not typed and written in found:
                found[written].entries.append((size, value))
            else:
                found[written] = Declaration(value, size, [])
                self.refer(written, value, before)
        elif branch == "block" or inner == "arguments":
            return
        elif tokens[after].text == "{" and typed and before not in {"struct", "class", "union", "enum"}:
            found[written] = Declaration(tokens[after : self.pairs.get(after, after) + 1], size, [])
        elif size and typed and tokens[after].text in {";", ","} and (by_name or written not in found):
            found[written] = Declaration([], size, [])
        elif by_name and tokens[after].text in {";", "("} and written in found and not found[written].macro:
            found[written] = Declaration([], [], [])  # int n; or int n(f()); hides the n around it

    def unknown(self, index: int) -> None:
        """Note that the names from `tokens[index]` back, each behind a comma, are set to what is not followed."""
        while self.tokens[index].kind == "name":
            known = self.found.get(self.tokens[index].text, Declaration([], [], []))
            self.found[self.tokens[index].text] = known._replace(changed=self.tokens[index])
            if index < 2 or self.tokens[index - 1].text != ",":
                return
            index -= 2

    def refer(self, name: str, value: list[Token], before: str) -> None:
        """Note of `auto& b = box;` or `uint32_t* p = box;` that a write to the one is a write to the other."""
        named = [token.text for token in value if token.kind == "name"]
        self.references.pop(name, None)
        if before in {"&", "*"} and len(named) == 1 and named[0] != name:
            self.references[name] = named[0]


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
_MUTATORS = {
    "push_back", "emplace_back", "insert", "assign", "resize", "fill", "swap", "pop_back", "erase", "clear", "append",
    "extend", "reverse", "sort", "pop",
}  # fmt: skip
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
    if name == "auto" and after > index + 1 and marks[0] == "=":  # auto [rows, cols] = …
        return [token.text for token in tokens[index + 1 : after] if token.kind == "name"]
    if marks[0] in {".", "->"} and after + 2 < len(tokens) and tokens[after + 2].text == "(":
        end = pairs.get(after + 2, after + 2)
        behind = tokens[pairs.get(end + 1, end) + 1 : pairs.get(end + 1, end) + 3]  # box.data()[0] = 8, box.at(0) = 8
        assigned = [token.text for token in behind][:1] == ["="] and [token.text for token in behind] != ["=", "="]
        return [name] if assigned or tokens[after + 1].text in _MUTATORS else []
    if before[-1:] == ["&"] and before[:1] in (["("], [","]) and marks[0] in {",", ")", "["}:
        called = _called(tokens, index)  # sizes(&rows)
        return [name] if called is not None and "ncode" not in called else []
    return []


def _called(tokens: list[Token], index: int) -> str | None:
    """The function to which the name at `index` is given, if it is called in a statement and not declared."""
    depth = 0
    for position in range(index - 1, max(index - 64, 0), -1):
        depth += (tokens[position].text in CLOSING) - (tokens[position].text in OPENING)
        if depth < 0:
            before = tokens[position - 1]
            return before.text if tokens[position].text == "(" and before.kind == "name" else None
    return None
