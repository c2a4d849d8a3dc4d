"""A piece of C++ as the checker reads it: its tokens, where each name stands, its scopes and its conditional parts.

    #if A                  tokens ──▶ brackets ──▶ scopes        names["dims"] ──▶ [4, 17]
      …  arm 1
    #else
      …  arm 2             a token knows its arms: what one arm says does not reach the other

>>> source = Source("#if A\\nint n = 1;\\n#else\\nint n = 2;\\n#endif\\nf(n);")
>>> source.names["n"], source.reaches(2, 15), source.reaches(2, 8)
([2, 8, 15], 'sometimes', 'never')

Each piece is gone through once, however many calls it holds.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

from tmalab.inputs.cpp_scopes import Scope, scopes_of
from tmalab.inputs.cpp_tokens import Brackets, Token, index_at, split_at_commas, tokenize

_DEEPEST = 64  # conditionals within each other


class Arm(NamedTuple):
    """One arm of an #if: the number of its #if, its own among the arms, and whether it is an `#if 0`."""

    group: int
    number: int
    never: bool


class Source:
    """`text`, or its spans, taken apart. Indices count its tokens; offsets count the whole text."""

    def __init__(self, text: str, spans: list[tuple[int, int]] | None = None):
        self.text = text
        self.tokens = [token for span in spans or [(0, len(text))] for token in tokenize(text, *span)]
        self.offsets = [token[2] for token in self.tokens]
        self.brackets = Brackets(self.tokens)
        self.pairs, self.about = self.brackets.pairs, self.brackets.about
        self.inside = scopes_of(self.tokens, self.brackets)
        self.names: dict[str, list[int]] = {}
        self.directives: list[int] = []
        for index, (kind, name, _) in enumerate(self.tokens):
            if kind == "name":
                self.names.setdefault(name.rsplit("::", 1)[-1] if ":" in name else name, []).append(index)
            elif kind == "directive":
                self.directives.append(index)
        self._changes, self._arms = self._conditionals()
        scopes: dict[int, Scope] = {id(scope): scope for scope in self.inside}
        self.headers: dict[str, set[int]] = {}  # of functions, found when they are asked for
        self.functions: dict[str, list[Scope]] = {}
        self.classes: dict[str, list[Scope]] = {}
        for scope in scopes.values():
            if scope.kind in {"function", "lambda"} and scope.name:
                self.functions.setdefault(scope.name.rsplit("::", 1)[-1], []).append(scope)
            elif scope.kind in {"class", "namespace", "enum"} and scope.name:
                self.classes.setdefault(scope.name, []).append(scope)

    def index(self, token: Token) -> int:
        """The index of `token`, or of the token at its place where it comes out of a macro."""
        return index_at(self.offsets, token.offset)

    def at(self, index: int) -> str:
        """The text of a token; nothing before the first and behind the last."""
        return self.tokens[index].text if 0 <= index < len(self.tokens) else ""

    def _conditionals(self) -> tuple[list[int], list[tuple[Arm, ...]]]:
        """Where the arms change, and the arms that hold from there on."""
        changes, groups = [-1], 0
        arms: list[tuple[Arm, ...]] = [()]
        opened: list[Arm] = []
        for index in self.directives:
            word = self.tokens[index].text[1:].split(None, 2)[:2] or [""]
            if word[0].startswith("if"):
                groups += 1
                opened.append(Arm(groups, 0, word[:2] == ["if", "0"]))
            elif word[0] in {"else", "elif", "elifdef", "elifndef"} and opened:
                last = opened.pop()
                opened.append(Arm(last.group, last.number + 1, False))
            elif word[0] == "endif" and opened:
                opened.pop()
            else:
                continue
            changes.append(index)
            arms.append(tuple(opened[:_DEEPEST]))
        return changes, arms

    def arms(self, index: int) -> tuple[Arm, ...]:
        """The arms that the token at `index` stands in, the outermost first."""
        return self._arms[bisect_right(self._changes, index) - 1]

    def reaches(self, index: int, reader: int) -> str:
        """Whether what stands at `index` holds where `reader` stands: always, sometimes, or never."""
        others = {arm.group: arm for arm in self.arms(reader)}
        found = "always"
        for arm in self.arms(index):
            if arm.never or (arm.group in others and others[arm.group] != arm):
                return "never"
            if arm.group not in others:
                found = "sometimes"
        return found

    def inner(self, index: int) -> list[Token]:
        """The tokens within the bracket at `index`."""
        return self.tokens[index + 1 : self.pairs.get(index, len(self.tokens))]

    def arguments(self, index: int) -> list[list[Token]]:
        """The arguments within the bracket at `index`."""
        return split_at_commas(self.inner(index))
