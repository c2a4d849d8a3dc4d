"""The functions, lambdas and macros of a C++ source: their parameters, and where each is called.

    CUtensorMap make(void* p, int rows, int cols = 64) { … }        rows: parameter 1, cols: parameter 2, or 64
    auto a = make(x, 4096);                                         one call: rows is 4096

>>> source = Source("int f(int n, int m = 8) { return n; } int a = f(4);")
>>> functions = Functions(source)
>>> [(p.name, p.position) for p in functions.parameters(source.functions["f"][0])]
[('n', 0), ('m', 1)]
>>> [source.at(site + 1) for site in functions.sites(source.functions["f"][0])]
['4']
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from tmalab.inputs.cpp_scopes import Scope
from tmalab.inputs.cpp_source import Source
from tmalab.inputs.cpp_tokens import OPENING, Token, split_at_commas

# In front of a function's name these call it; any other name is the type of what it returns, in a declaration.
_BEFORE_A_CALL = {"return", "co_return", "co_await", "throw", "else", "do", "and", "or", "not", "case"}


_LONGEST_TYPE = 60


class Parameter(NamedTuple):
    """A parameter: its name, its place, the tokens of its default, and whether it is a template's."""

    name: str
    position: int
    default: list[Token]
    token: Token
    of_template: bool = False
    is_type: bool = False


class Functions:
    """What each function of a source is given."""

    def __init__(self, source: Source):
        self.source = source
        self._parameters: dict[int, list[Parameter]] = {}
        self._sites: dict[int, list[int]] = {}

    def parameters(self, scope: Scope) -> list[Parameter]:
        """The parameters of a function or lambda, and those of a template about it or about a class."""
        if id(scope) not in self._parameters:
            found = []
            if scope.header >= 0 and scope.kind in {"function", "lambda"}:
                found += [_parameter(part, index) for index, part in enumerate(self.source.arguments(scope.header))]
            for start, stop in scope.templates:
                parts = split_at_commas(self.source.tokens[start + 2 : stop])
                found += [_parameter(part, index, of_template=True) for index, part in enumerate(parts)]
            self._parameters[id(scope)] = [parameter for parameter in found if parameter is not None]
        return self._parameters[id(scope)]

    def parameter(self, scope: Scope, name: str) -> Parameter | None:
        """The parameter of `scope` with that name."""
        return next((parameter for parameter in self.parameters(scope) if parameter.name == name), None)

    def is_overloaded(self, scope: Scope) -> bool:
        """Whether another function of the text has the same name."""
        return len(self.source.functions.get(scope.name.rsplit("::", 1)[-1], [])) > 1

    def sites(self, scope: Scope) -> list[int]:
        """The opening bracket of each call of the function."""
        if id(scope) not in self._sites:
            found = []
            for index in self.source.names.get(scope.name.rsplit("::", 1)[-1], ()) if scope.name else ():
                site = self._site(index, scope)
                if site is not None:
                    found.append(site)
            self._sites[id(scope)] = found
        return self._sites[id(scope)]

    def _site(self, index: int, scope: Scope) -> int | None:
        source, after = self.source, index + 1
        if source.at(after) == "<":
            depth = 0
            for _ in range(_LONGEST_TYPE):
                depth += {"<": 1, ">": -1, ">>": -2}.get(source.at(after), 0)
                after += 1
                if depth <= 0:
                    break
        if source.at(after) != "(" or after == scope.header:
            return None
        before = source.tokens[index - 1] if index else Token("", "", 0)
        if before.kind == "name" and before.text not in _BEFORE_A_CALL:
            return None  # a declaration: the type of what it returns stands before it
        if before.text in {"*", "&", ">"} and source.inside[index].kind in {"text", "namespace", "class"}:
            return None
        if any(arm.never for arm in source.arms(index)):
            return None
        return after

    def given(self, parameter: Parameter, site: int) -> list[Token] | None:
        """What the call at `site` gives for a parameter, or its default; None where the text does not say it."""
        source = self.source
        if not parameter.of_template:
            parts = source.arguments(site)
            if parameter.position < len(parts):
                return parts[parameter.position]
            return parameter.default or None
        if source.at(site - 1) in {">", ">>"}:
            start, depth = site - 1, 0
            while start > 0:
                depth += {">": 1, ">>": 2, "<": -1}.get(source.at(start), 0)
                if depth <= 0:
                    break
                start -= 1
            parts = split_at_commas(source.tokens[start + 1 : site - 1])
            if parameter.position < len(parts):
                return parts[parameter.position]
            return parameter.default or None
        return None if parameter.is_type else parameter.default or None


def _parameter(tokens: list[Token], position: int, *, of_template: bool = False) -> Parameter | None:
    """The parameter that `tokens` declare: the last name before its default."""
    equals = next((index for index, token in enumerate(tokens) if token.text == "="), len(tokens))
    declared = tokens[:equals]
    while declared and declared[-1].text == "]":  # uint64_t dims[2]
        opener = max((index for index, token in enumerate(declared) if token.text == "["), default=0)
        declared = declared[:opener]
    named = next((token for token in reversed(declared) if token.kind == "name"), None)
    if named is None or (len(declared) < 2 and not of_template):
        return None  # void f(int)
    is_type = of_template and declared[0].text in {"typename", "class"}
    packed = any(token.text == "." for token in declared)
    default = [] if packed else tokens[equals + 1 :]
    return Parameter(named.text, position if not packed else 1 << 20, default, named, of_template, is_type)


def called(source: Source, about: int) -> str:
    """The name of what is called with the bracket at `about`; of `copy<int>(` too."""
    at = about - 1
    if source.at(at) in {">", ">>"}:
        depth = 0
        while at > max(about - _LONGEST_TYPE, 0):
            depth += {">": 1, ">>": 2, "<": -1}.get(source.at(at), 0)
            at -= 1
            if depth <= 0:
                break
    return source.at(at) if at >= 0 and source.tokens[at].kind == "name" else ""


def parameter_of(source: Source, name: str, about: int, index: int) -> list[Token] | None:
    """The parameter, of the one function `name` that the text defines or declares, that the argument at `index` is."""
    commas, at = 0, about + 1
    while at < index:
        commas += source.at(at) == ","
        at = source.pairs.get(at, at) + 1 if source.at(at) in OPENING else at + 1
    headers = _headers(source, name)
    found = [source.arguments(header) for header in headers]
    return found[0][commas] if len(found) == 1 and commas < len(found[0]) else None


def _headers(source: Source, name: str) -> set[int]:
    """The opening brackets of the parameters of each function `name` that the text defines, or else declares."""
    if name not in source.headers:
        found = {scope.header for scope in source.functions.get(name, []) if scope.header >= 0}
        for place in source.names.get(name, ()) if not found else ():
            before = source.tokens[place - 1] if place else Token("", "", 0)
            parts = source.arguments(place + 1) if source.at(place + 1) == "(" else []
            if before.kind == "name" and before.text not in _BEFORE_A_CALL and parts and all(map(is_parameter, parts)):
                found.add(place + 1)
        source.headers[name] = found
    return source.headers[name]


def is_parameter(tokens: list[Token]) -> bool:
    """Whether `tokens` may declare a parameter: two names beside each other, or a pointer or reference."""
    kinds = [token.kind for token in tokens]
    marked = any(token.text in {"*", "&"} for token in tokens[-3:])
    return any(pair == ("name", "name") for pair in pairwise(kinds)) or (marked and kinds[:1] == ["name"])
