"""The scopes of C++ tokens: which function, class, loop or branch each token stands in, and what its header holds.

    void make(int rows) {         function make, parameters (int rows)
      for (int i = 0; …) {        loop
      if (wide) box[0] = 64;      branch
    auto f = [&](int n) {         lambda f

>>> source = tokenize("void make(int rows) { if (wide) n = rows; }")
>>> [scope.kind for scope in scopes_of(source, Brackets(source))[11].chain()]
['branch', 'function', 'text']
"""

from __future__ import annotations

from collections.abc import Iterator

from tmalab.inputs.cpp_tokens import Brackets, Token, tokenize

__all__ = ["RUNS", "Scope", "scopes_of", "tokenize"]

_LOOPS, _BRANCHES = {"for", "while", "do"}, {"if", "else", "switch", "catch", "try"}
_CONTROL = _LOOPS | _BRANCHES
_CLASSES = {"struct": "class", "class": "class", "union": "class", "namespace": "namespace", "enum": "enum"}
_QUALIFIERS = {"const", "noexcept", "override", "final", "mutable", "volatile", "&"}
_WITH_ARGUMENTS = {"noexcept", "throw", "__attribute__", "alignas", "__launch_bounds__"}
# Where statements stand in order; in a class, a namespace or the whole text only declarations do.
RUNS = {"function", "lambda", "block", "branch", "loop"}
_LONGEST_STATEMENT, _LONGEST_TYPE, _DEEPEST = 4096, 40, 100


class Scope:
    """One scope: its kind and name, its first and last token, and the opening brackets of its header.

    `header` is the `(` of a function's parameters or a loop's head; `templates` are the ranges of `template <…>`.
    """

    def __init__(self, kind: str, begin: int, end: int, parent: Scope | None, *, name: str = "", header: int = -1):
        self.kind, self.name, self.begin, self.end, self.parent = kind, name, begin, end, parent
        self.header = header
        self.templates: list[tuple[int, int]] = []
        self.depth: int = 0 if parent is None else parent.depth + 1

    def chain(self) -> Iterator[Scope]:
        """This scope and those about it, the innermost first."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    @property
    def home(self) -> Scope:
        """The scope that sees what is declared here: names of an enum or a nameless namespace are outside it too."""
        scope = self
        while scope.parent is not None and (
            scope.kind in {"enum", "value"} or (scope.kind == "namespace" and not scope.name)
        ):
            scope = scope.parent
        return scope

    def holds(self, index: int) -> bool:
        """Whether the token at `index` stands in it."""
        return self.begin <= index <= self.end


def scopes_of(tokens: list[Token], brackets: Brackets) -> list[Scope]:
    """The innermost scope of each token, in one pass."""
    return _Walk(tokens, brackets).inside


class _Walk:
    def __init__(self, tokens: list[Token], brackets: Brackets):
        self.tokens, self.pairs = tokens, brackets.pairs
        self.inside: list[Scope] = []
        self.templates: list[tuple[int, int]] = []
        scope = Scope("text", -1, len(tokens), None)
        for index, (kind, text, _) in enumerate(tokens):
            while index > scope.end and scope.parent is not None:
                scope = scope.parent
            if text == "{":
                scope = self.braced(index, scope)
            elif kind == "name" and text in _CONTROL:
                scope = self.controlled(index, scope)
            elif text == "template" and self.text(index + 1) == "<":
                self.templates.append((index, self.angle(index + 1)))
            elif text == ";" and self.templates:
                self.templates.clear()
            self.inside.append(scope)

    def text(self, index: int) -> str:
        return self.tokens[index].text if 0 <= index < len(self.tokens) else ""

    def angle(self, index: int) -> int:
        """The `>` that closes the `<` at `index`, as far as a template's header goes."""
        depth = 0
        for position in range(index, min(index + 200, len(self.tokens))):
            text = self.text(position)
            depth += (text == "<") - (len(text) if text in {">", ">>"} else 0)
            if depth <= 0:
                return position
        return index

    def controlled(self, index: int, parent: Scope) -> Scope:
        if parent.depth > _DEEPEST:
            return parent
        header = index + 1 + (self.text(index + 1) == "constexpr")
        body = self.behind_header(index)
        kind = "loop" if self.text(index) in _LOOPS else "branch"
        return Scope(kind, index, self.end_of(body), parent, header=header if body > header else -1)

    def behind_header(self, index: int) -> int:
        """What the word of control at `index` decides about."""
        after = index + 1 + (self.text(index + 1) == "constexpr")
        if self.text(index) in {"else", "do", "try"} or self.text(after) != "(":
            return index + 1
        return self.pairs.get(after, len(self.tokens)) + 1

    def end_of(self, index: int) -> int:
        """The last token of the statement that begins at `index`."""
        last = min(index + _LONGEST_STATEMENT, len(self.tokens))
        while index < last and self.text(index) in _CONTROL:
            index = self.behind_header(index)
        if self.text(index) == "{":
            return self.pairs.get(index, len(self.tokens))
        while index < last:
            text = self.text(index)
            if text == ";":
                return index
            if text in {")", "]", "}"}:
                return index - 1
            index = self.pairs.get(index, len(self.tokens)) + 1 if text in {"(", "[", "{"} else index + 1
        return last

    def braced(self, index: int, parent: Scope) -> Scope:
        """The scope that the `{` at `index` opens."""
        end = self.pairs.get(index, len(self.tokens))
        if parent.depth > _DEEPEST:  # no code: nothing is declared so deep
            return parent
        head = self.head(index)
        before, kind = self.text(head), self.tokens[head].kind if head >= 0 else ""
        if parent.kind == "value" and self.text(index - 1) in {"{", ",", "}", "="}:
            return Scope("value", index, end, parent)
        if before == ")":
            return self.behind_brackets(index, end, head, parent)
        if before == "]" and (start := self.pairs.get(head, -1)) >= 0:
            before_it = self.tokens[start - 1] if start else None
            if before_it is not None and (before_it.kind == "name" or before_it.text in {"]", ")"}):
                return Scope("value", index, end, parent)  # int a[2]{1, 2}
            return self.opened("lambda", start, index, end, parent, name=self.set_name(start))
        if before in {"", ";", "{", "}", ":", "else", "do", "try"} or kind == "directive":
            return Scope("block", index, end, parent)
        if kind == "string":  # extern "C" {
            return Scope("namespace", index, end, parent)
        if (found := self.class_word(head)) >= 0:
            return self.a_class(found, index, end, parent)
        return Scope("value", index, end, parent)

    def head(self, index: int) -> int:
        """The last token of what stands before a `{`, without qualifiers, a return type and members' initializers."""
        at = index - 1
        for back in range(at, max(at - _LONGEST_TYPE, 0), -1):  # -> std::array<int, 2> {
            if self.text(back) == "->" and self.text(back - 1) in {")", "mutable", "const", "noexcept"}:
                at = back - 1
                break
            if self.tokens[back].kind not in {"name", "number"} and self.text(back) not in {"<", ">", "*", "&", ","}:
                break
        while at > 0 and self.text(at) in _QUALIFIERS and at - 1 >= 0:
            at -= 1
        while self.text(at) == ")" and self.text(self.pairs.get(at, 0) - 1) in _WITH_ARGUMENTS:
            at = self.pairs[at] - 2
        start = at
        while self.text(start) in {")", "}"}:  # Map(int n) : rows(n), cols{n} {
            opener = self.pairs.get(start, 0)
            mark = self.text(opener - 2)
            if opener < 3 or self.tokens[opener - 1].kind != "name" or mark not in {",", ":"}:
                break
            start = opener - 3
            if mark == ":":
                return start if self.text(start) == ")" else at
        return at

    def behind_brackets(self, index: int, end: int, head: int, parent: Scope) -> Scope:
        """The scope behind `(…)`: a function's or lambda's body, a branch's, or a value as in `(int[]){1, 2}`."""
        start = self.pairs.get(head, -1)
        before = self.tokens[start - 1] if start > 0 else Token("", "", 0)
        if before.text == "]" and (bracket := self.pairs.get(start - 1, -1)) >= 0:
            name = self.set_name(bracket)
            return self.opened("lambda", bracket, index, end, parent, name=name, header=start)
        if before.text in _CONTROL or before.text == "constexpr":
            return Scope("block", index, end, parent)
        if before.kind == "name" and before.text not in {"return", "co_return"}:
            if any(scope.kind in RUNS for scope in parent.chain()):  # a macro's, as DISPATCH(type) { … }
                return Scope("branch", index, end, parent)
            return self.opened("function", start, index, end, parent, name=before.text, header=start)
        if before.text in {">", ")"}:
            return self.opened("function", start, index, end, parent, header=start)
        return Scope("value", index, end, parent)

    def opened(
        self, kind: str, begin: int, index: int, end: int, parent: Scope, *, name: str = "", header: int = -1
    ) -> Scope:
        """A scope whose header stands before its `{`: the header's tokens are in it too."""
        made = Scope(kind, begin, end, parent, name=name, header=header)
        self.inside[begin:index] = [made] * (index - begin)
        if kind != "lambda":
            made.templates, self.templates = self.templates, []
        for start, stop in made.templates:
            self.inside[start:stop] = [made] * (stop - start)
        return made

    def set_name(self, index: int) -> str:
        """The name that a lambda is set to."""
        named = self.text(index - 1) == "=" and self.tokens[index - 2].kind == "name"
        return self.text(index - 2) if named else ""

    def class_word(self, at: int) -> int:
        """The `struct`, `namespace` or `enum` of the statement that ends at `at`, or -1."""
        for _ in range(_LONGEST_TYPE):
            text = self.text(at)
            if at < 0 or text in {"", ";", "{", "}", "=", "(", "return"} or self.tokens[at].kind == "directive":
                return -1
            if text in _CLASSES and self.text(at - 1) not in {"<", ","}:
                return at - 1 if self.text(at - 1) == "enum" else at
            at = (self.pairs.get(at, 0) if text in {")", "]"} else at) - 1
        return -1

    def a_class(self, word: int, index: int, end: int, parent: Scope) -> Scope:
        kind, at = _CLASSES[self.text(word)], word + 1
        if kind == "enum" and self.text(at) in _CLASSES:
            kind, at = "class", at + 1
        while at < index and (self.tokens[at].kind != "name" or self.text(at) in _WITH_ARGUMENTS):
            at = self.pairs.get(at, at) + 1 if self.text(at) in {"(", "["} else at + 1
        named = at < index
        return self.opened(kind, word, index, end, parent, name=self.text(at).rsplit("::", 1)[-1] if named else "")
