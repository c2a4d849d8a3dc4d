"""What C++ does to a name wherever it stands: declare it, set it, set an entry, or change it as nobody can follow.

    int n = 64;   declared        n = 32;   set        b[0] = 8;   entry        n *= 2;  get(&n);   changed
    auto& r = n;  bound: what is done to r is done to n        fill(b);   given: an array may be changed there

>>> source = Source("int n = 64; n *= 2;")
>>> [(setting.kind, setting.at) for setting in Settings(source).of("n")]
[('declared', 1), ('changed', 5)]

Source: the C++ standard's declarations, as far as host code that encodes a tensor map writes them.
"""

from __future__ import annotations

from typing import NamedTuple

from tmalab.inputs.cpp_functions import called, is_parameter, parameter_of
from tmalab.inputs.cpp_scopes import Scope
from tmalab.inputs.cpp_source import Source
from tmalab.inputs.cpp_tokens import OPENING, Token, split_at_commas

# No value worth reading is longer: a tensor map's arrays have five entries.
_LONGEST_VALUE, _LONGEST_TYPE = 256, 60
_NO_TYPES = {
    "return", "else", "case", "goto", "new", "delete", "throw", "do", "co_return", "co_await", "co_yield", "and", "or",
    "not", "sizeof", "operator", "namespace", "if", "while", "for", "switch",
}  # fmt: skip
_ARITHMETIC = {"+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"}
_CHANGING = {
    "push_back", "emplace_back", "resize", "fill", "assign", "insert", "emplace", "erase", "clear", "pop_back", "swap",
}  # fmt: skip
_ENTRY = {"at", "front", "back"}
_CONST = {"const", "constexpr", "consteval", "constinit", "using", "typedef"}
# What reads its arguments and leaves them as they are.
READERS = {
    "assert", "printf", "fprintf", "snprintf", "sizeof", "alignof", "decltype", "static_assert", "size", "ssize",
    "accumulate", "if", "while", "switch", "return", "CHECK", "TORCH_CHECK", "span", "vector", "array", "for_each",
    "print", "println", "format", "to_string", "ArrayRef", "IntArrayRef", "min", "max",
}  # fmt: skip
# Kinds of settings that change a value.
WRITES = {"set", "entry", "changed", "given", "bound"}
CASTS = {"static_cast", "reinterpret_cast", "const_cast", "bit_cast", "move", "forward"}


class Setting(NamedTuple):
    """One thing done to a name at a token, in a scope. `value` is None where the text does not say it.

    `size` is what stands in the brackets behind the name; `constant` says that nothing may set it again.
    """

    kind: str
    at: int
    scope: Scope
    value: list[Token] | None = None
    size: list[Token] | None = None
    constant: bool = False


class Settings:
    """What is done to each name of a source; looked into only for the names that are asked for."""

    def __init__(self, source: Source):
        self.source = source
        self._known: dict[str, list[Setting]] = {}
        self.writes: dict[str, list[Setting]] = {}  # those of them that change the name's value

    def of(self, name: str) -> list[Setting]:
        """Everything that is done to `name`, in the text's order."""
        if name not in self._known:
            found = (self._setting(index) for index in self.source.names.get(name, ()))
            self._known[name] = [setting for setting in found if setting is not None]
        return self._known[name]

    def members(self, path: str) -> list[Setting]:
        """What is done to `a.b`, by that name."""
        *_, last = parts = path.split(".")
        places = (index for index in self.source.names.get(last, ()) if self.source.at(index - 1) in {".", "->"})
        found = (self._plain(index) for index in places if self.path(index) == parts)
        return [setting for setting in found if setting is not None]

    def path(self, index: int) -> list[str]:
        """The names of `a.b.c` whose last stands at `index`; of what is no such path, the names that are."""
        parts = [self.source.at(index)]
        while self.source.at(index - 1) in {".", "->"}:
            index -= 2
            parts.append(self.source.at(index))
        if parts[-1] == "this":
            parts.pop()
        return parts[::-1]

    def _setting(self, index: int) -> Setting | None:
        source, scope = self.source, self.source.inside[index]
        before, about = source.at(index - 1), source.about[index]
        if before in {".", "->"} and source.at(index - 2) != "this":
            return None
        if about >= 0 and about == scope.header and scope.kind in {"function", "lambda"}:
            return None  # parameters are looked up by their function
        if any(start <= index <= stop for start, stop in scope.templates):
            return None
        if "::" in source.at(index):
            return self._plain(index)
        return self._declared(index, scope, before, about) or self._plain(index)

    def _declared(self, index: int, scope: Scope, before: str, about: int) -> Setting | None:
        """The declaration of the name at `index`, or None where it is none, or one that nothing else sees."""
        source, opener = self.source, self.source.at(about) if about >= 0 else ""
        size, after = self._index(index)
        mark = source.at(after)
        if opener == "[" and scope.kind == "lambda" and scope.begin == about:  # a capture: [n = 64]
            return Setting("declared", index, scope, self._value(after + 1)) if self._assigned(after) else None
        if opener == "[" and source.at(about - 1) in {"auto", "&"}:  # auto [m, n] = shape;
            return Setting("declared", index, scope)
        if scope.kind in {"enum", "class"} and before in {"{", ","} and mark in {"=", ",", "}"} and opener == "{":
            value = self._value(after + 1) if self._assigned(after) else None
            return Setting("declared", index, scope, value, constant=True)
        if opener == "(" and about != scope.header:
            return None
        if opener == "[" or scope.kind == "value" or not self._typed(index, mark):
            return None
        constant, value = self._constant(index), None
        size = self._array_size(index) if size is None else size
        if self._assigned(after):
            value = self._value(after + 1)
        elif mark == "{":
            value = source.tokens[after : source.pairs.get(after, after) + 1]
            value = value if len(value) <= _LONGEST_VALUE else None
        elif mark == "(":
            end = source.pairs.get(after, after)
            if source.at(end + 1) not in {";", ","}:
                return None
            parts = source.arguments(after)
            value = parts[0] if len(parts) == 1 and not is_parameter(parts[0]) else None
        elif mark == ";" and self._is_typedef(index):
            value = self._typedef(index)
        elif mark in {";", ","}:
            value = []  # no value yet
        elif mark != ":" and not (mark == ")" and about == scope.header):
            return None
        kind = "type" if source.at(index - 1) == "using" or self._is_typedef(index) else "declared"
        return Setting(kind, index, scope, value, size, constant)

    def _plain(self, index: int) -> Setting | None:
        """What else is done to the name at `index`."""
        source, scope = self.source, self.source.inside[index]
        size, after = self._index(index)
        start = index
        while source.at(start - 1) in {".", "->"}:
            start -= 2
        before, mark, about = source.at(start - 1), source.at(after), source.about[index]
        in_brackets = about >= 0 and source.at(about) != "{"
        if self._assigned(after) and scope.kind != "value":
            value = self._value(after + 1)
            if in_brackets or before == "*" or source.at(after + 1) == "=":
                return Setting("changed", index, scope)
            return Setting("set" if size is None else "entry", index, scope, value, size)
        stepped = mark in {"+", "-"} and source.at(after + 1) == mark and source.at(after + 2) in {";", ",", ")"}
        stepped = stepped or (before in {"+", "-"} and source.at(start - 2) == before)
        if stepped or (mark in _ARITHMETIC and source.at(after + 1) == "=" and source.at(after + 2) != "="):
            return Setting("changed", index, scope)
        if mark == "." and (source.at(after + 1) in _CHANGING or self._sets_an_entry(after)):
            return Setting("changed", index, scope)
        if mark in {".", "->"} and source.at(after + 1) in {"data", "begin"} and source.at(after + 2) == "(":
            mark = source.at(after + 4)
            if mark == "[" or before == "*":  # box.data()[0] = 8
                return Setting("changed", index, scope)
        if before == ":" and scope.kind == "loop" and about == scope.header:  # for (auto& b : box)
            marks = {token.text for token in source.tokens[about:index]}
            return Setting("changed", index, scope) if "&" in marks and not marks & _CONST else None
        address = before == "&" and source.at(start - 2) in {"(", ",", ")", "=", "{"}
        outer = source.at(start - 2) if address else before
        if outer == "=" and mark in {";", ",", "+"} and (name := self._bound(start - 2 - address)) is not None:
            return Setting("bound", index, scope, [name])
        if in_brackets and source.at(about) == "(" and outer in {"(", ",", ")"} and mark in {",", ")", "+"}:
            return self._given(index, about, scope, address)
        return None

    def _given(self, index: int, about: int, scope: Scope, address: bool) -> Setting | None:
        """What a call may do to the name that is its argument at `index`."""
        source, place = self.source, self.source.tokens[about - 1 : about]
        if about == scope.header and scope.kind in {"loop", "branch"}:
            return None
        function = called(source, about)
        last = function.rsplit("::", 1)[-1]
        if last in READERS or "TensorMapEncode" in last or (last in CASTS and not address) or not last:
            return None
        if last in {"memcpy", "copy", "copy_n"} and source.at(index - 1) != "(":
            return None  # where it is copied from
        parameter = parameter_of(source, last, about, index)
        if parameter is not None:
            words = {token.text for token in parameter}
            writes = not words & _CONST and bool(words & {"&", "*", "["})
            return Setting("changed" if writes else "read", index, scope, place)
        return Setting("changed" if address else "given", index, scope, place)

    def _index(self, index: int) -> tuple[list[Token] | None, int]:
        """What stands in the brackets behind the name, and the token behind them."""
        after, size = index + 1, None
        while self.source.at(after) == "[":
            size = self.source.inner(after) if size is None else size
            after = self.source.pairs.get(after, len(self.source.tokens)) + 1
        return (None if size is None else size[:_LONGEST_VALUE]), after

    def _array_size(self, index: int) -> list[Token] | None:
        """The 2 of `std::array<int, 2>` before the name at `index`."""
        start = self._start(index)
        tokens = self.source.tokens[start:index]
        if not tokens or tokens[-1].text != ">" or not any(one.text in {"array", "std::array"} for one in tokens):
            return None
        begin = next((at for at, one in enumerate(tokens) if one.text == "<"), len(tokens))
        parts = split_at_commas(tokens[begin + 1 : -1])
        return parts[1] if len(parts) == 2 else None

    def _assigned(self, after: int) -> bool:
        return self.source.at(after) == "=" and self.source.at(after + 1) != "="

    def _value(self, start: int) -> list[Token] | None:
        """The tokens from `start` to a `;` or to a comma outside brackets; None of what is longer than any value."""
        source, end = self.source, start
        while end < len(source.tokens):
            text = source.at(end)
            if text in {";", ")", "]", "}"} or source.tokens[end].kind == "directive" or end - start > _LONGEST_VALUE:
                break
            if text == "=" and source.at(end + 1) != "=" and source.at(end - 1) not in {"=", "<", ">", "!"}:
                break  # a = b = 64
            end = source.pairs.get(end, len(source.tokens)) + 1 if text in OPENING else end + 1
        if end - start > _LONGEST_VALUE:
            return None
        parts = split_at_commas(source.tokens[start:end])
        return parts[0] if parts else None

    def _start(self, index: int) -> int:
        """The first token of the statement that the token at `index` stands in."""
        for _ in range(_LONGEST_TYPE):
            text = self.source.at(index - 1)
            if text == "}" and self.source.at(index) == ",":  # int a[1] = {1}, b[1] = {2};
                index = self.source.pairs.get(index - 1, index - 1)
                continue
            if text in {"", ";", "{", "}", "(", ":"} or self.source.tokens[index - 1].kind == "directive":
                break
            index = self.source.pairs.get(index - 1, index - 1) if text in {")", "]"} else index - 1
        return index

    def _constant(self, index: int) -> bool:
        start = self._start(index)
        return any(token.text in _CONST for token in self.source.tokens[start:index])

    def _is_typedef(self, index: int) -> bool:
        return self.source.at(self._start(index)) == "typedef"

    def _typedef(self, index: int) -> list[Token]:
        return self.source.tokens[self._start(index) + 1 : index]

    def _typed(self, index: int, mark: str) -> bool:
        """Whether a type stands before the name at `index`, so that it is declared there."""
        source = self.source
        before = source.tokens[index - 1] if index else Token("", "", 0)
        if before.kind == "name":
            return before.text not in _NO_TYPES
        if before.text == ",":  # int a = 1, n = 2;
            return mark in {"=", ";", ",", "{"} and self._depth(index) == 0 and self._start(index) < index - 2
        if before.text not in {">", ">>", "*", "&"}:
            return False
        depth, at, named = 0, index - 1, False
        while at >= 0 and index - at < _LONGEST_TYPE:
            kind, text, _ = source.tokens[at]
            if text in {">", ">>"}:
                depth += len(text)
            elif text == "<":
                depth -= 1
            elif kind == "name":
                if text in _NO_TYPES:
                    return False
                named = True
            elif not (text in {"*", "&"} or (depth > 0 and (kind == "number" or text in {",", "(", ")", "[", "]"}))):
                break
            at -= 1
        boundary = (
            at < 0 or source.at(at) in {";", "{", "}", "(", ",", ")", ":"} or source.tokens[at].kind == "directive"
        )
        return named and depth == 0 and boundary

    def _depth(self, index: int) -> int:
        """How many template brackets are open about the token at `index`, as far as its statement tells."""
        return sum({"<": 1, ">": -1, ">>": -2}.get(token.text, 0) for token in
                   self.source.tokens[self._start(index) : index])  # fmt: skip

    def _sets_an_entry(self, after: int) -> bool:
        """Whether `.at(0) = …` or `.back() = …` stands at `after`."""
        end = self.source.pairs.get(after + 2, -1)
        return self.source.at(after + 1) in _ENTRY and end > 0 and self._assigned(end + 1)

    def _bound(self, index: int) -> Token | None:
        """The name at `index` if it is declared there as a reference or pointer through which may be written."""
        marked = self.source.at(index - 1) in {"*", "&"} or self.source.at(index - 1) == "span"
        return self.source.tokens[index] if index > 0 and marked and not self._constant(index) else None
