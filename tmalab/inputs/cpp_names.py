"""What a name of C++ stands for where it is read: its last value there, or why only running the code tells it.

    int n = 64;                      n is read as it stands there: by scope, by order, by the arm of an #if
    void make(int n) { … n … }       a parameter: what the one call of make gives
    if (wide) n = 128;   n++         nobody follows that: the error names n and this place

>>> source = Source("int n = 4; void f() { int n = 8; g(n); } h(n);")
>>> names = Names(source)
>>> [names.lookup(token).value[0].text for token in source.tokens if token.text == "n" and token.offset > 30]
['8', '4']
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import NamedTuple

from tmalab.inputs.cpp_functions import Functions, Parameter
from tmalab.inputs.cpp_macros import Macros
from tmalab.inputs.cpp_scopes import Scope
from tmalab.inputs.cpp_settings import WRITES, Setting, Settings
from tmalab.inputs.cpp_source import Source
from tmalab.inputs.cpp_tokens import Token, texts
from tmalab.inputs.position import UnreadableError, position_of

FORM = "cpp"
_FUNCTIONS = {"function", "lambda"}
_MOST_WRITES = 1000


class Declaration(NamedTuple):
    """What a name was set to: the tokens of its value, of its declared size, and of single entries set afterwards.

    A `macro` stands for its text; a `type` for a type.
    """

    value: list[Token]
    size: list[Token]
    entries: list[tuple[list[Token], list[Token]]]
    macro: bool = False
    type: bool = False


class Names:
    """What the names of `source` mean, where each is read. `frames` choose one call of a function that has several.

    `ambiguous` is the function with several calls that a value last depended on. `known` has looked at it before.
    """

    def __init__(self, source: Source, frames: dict[int, int] | None = None, known: Names | None = None):
        self.source, self.text = source, source.text
        self.settings: Settings = Settings(source) if known is None else known.settings
        self.functions: Functions = Functions(source) if known is None else known.functions
        self.frames = frames or {}
        self.ambiguous: Scope | None = None
        self._macros: Macros = Macros(source) if known is None else known._macros

    def error(self, message: str, tokens: list[Token], fix: str | None = None) -> UnreadableError:
        """An error at the first of `tokens`."""
        offset = tokens[0].offset if tokens else 0
        return UnreadableError(message, text=self.text, offset=offset, form=FORM, fix=fix)

    def lookup(self, token: Token) -> Declaration | None:
        """What the name is where it stands, or None where the text does not say. Raises UnreadableError."""
        index = self.source.index(token)
        *qualifiers, name = token.text.split("::")
        if not qualifiers and (macro := self._macro(name, token, index)) is not None:
            return macro
        if qualifiers and qualifiers != [""]:
            return self._qualified(qualifiers, name, index)
        for scope in self.source.inside[index].chain():
            if (parameter := self.functions.parameter(scope, name)) is not None:
                return self._parameter(parameter, scope, index)
            base = self._base(name, scope, index)
            if base is not None:
                return self._value(name, base, index)
            if scope.kind == "function" and "::" in scope.name:  # void Map::encode() { … }
                found = self._qualified(scope.name.split("::")[:-1], name, index)
                if found is not None:
                    return found
        writes = self._writes(name)
        if (later := self._later(name, index)) is not None:
            return later
        if not any(write.kind in {"set", "entry", "changed"} for write in writes):
            return None
        text = list(self.source.inside[index].chain())[-1]
        return self._after(name, Setting("declared", -1, text), writes, index)

    def _macro(self, name: str, token: Token, index: int) -> Declaration | None:
        """The macro that the name is; its text is read where the name stands, as the preprocessor puts it there."""
        tokens, other = self._macros.at(name, index)
        if other is not None:
            raise self._unknown(name, other, "is changed here")
        here = [Token(one.kind, one.text, token.offset) for one in tokens or ()]
        return None if tokens is None else Declaration(here, [], [], macro=True)

    def _later(self, name: str, index: int) -> Declaration | None:
        """The one declaration below of a name that has none above: people paste constants in any order."""
        scopes = [id(scope) for scope in self.source.inside[index].chain()]
        found = [one for one in self.settings.of(name) if one.kind in {"declared", "type"}]
        if len(found) == 1 and id(found[0].scope.home) in scopes and found[0].value and not self._writes(name):
            return Declaration(found[0].value, found[0].size or [], [], type=found[0].kind == "type")
        return None

    def _value(self, name: str, base: Setting, index: int) -> Declaration | None:
        if base.scope.kind == "class" and not base.constant and base.kind == "declared":
            raise self._unknown(name, self.source.tokens[base.at], "is a member that each object may set otherwise")
        if base.kind == "type":
            return Declaration(base.value or [], [], [], type=True)
        found = self._after(name, base, [] if base.constant else self._writes(name), index)
        if found is None:
            raise self._unknown(name, self.source.tokens[base.at], "is set here")
        return found

    def _unknown(self, name: str, at: Token, what: str) -> UnreadableError:
        message = f"{name[:40]} {what}, and only running the code tells its value"
        return self.error(message, [at], "write its last value where it is declared")

    def _writes(self, name: str) -> list[Setting]:
        source = self.source
        if name not in self.settings.writes:
            found = (write for write in self.settings.of(name) if write.kind in WRITES)
            self.settings.writes[name] = [write for write in found if source.at(write.at) == name]
        return self.settings.writes[name]

    def _base(self, name: str, scope: Scope, index: int) -> Setting | None:
        """The declaration of `name` in `scope` that holds at `index`. Raises UnreadableError where several might."""
        always: Setting | None = None
        others: list[Setting] = []
        for found in self.settings.of(name):
            if found.kind not in {"declared", "type"} or found.scope.home is not scope or found.at == index:
                continue
            if found.at > index and scope.kind not in {"class", "enum"}:
                break
            reaches = self.source.reaches(found.at, index)
            if reaches == "always":
                always, others = found, []
            elif reaches == "sometimes":
                others.append(found)
        if always is None and others:
            always = others.pop(0)
        for other in others:
            if always is not None and texts(other.value) != texts(always.value):
                raise self._unknown(name, self.source.tokens[other.at], "is set otherwise here")
        return always

    def _qualified(self, qualifiers: list[str], name: str, index: int) -> Declaration | None:
        """What `A::name` is: declared in the one scope of the text that is called A."""
        last = qualifiers[-1]
        for _ in range(3):  # using Config = Small;
            aliases = [found for found in self.settings.of(last) if found.kind == "type" and found.value]
            if last in self.source.classes or len(aliases) != 1 or len(aliases[0].value or []) != 1:
                break
            last = (aliases[0].value or [])[0].text.rsplit("::", 1)[-1]
        for scope in self.source.inside[index].chain():
            if self.functions.parameter(scope, last) is not None:
                return None
        found = []
        for scope in self.source.classes.get(last, []):
            if scope.templates:
                continue
            home = scope.home if scope.kind == "enum" else scope
            if (base := self._base(name, home, index)) is not None:
                found.append(base)
        return self._value(name, found[0], index) if len(found) == 1 else None

    def _after(self, name: str, base: Setting, writes: list[Setting], index: int) -> Declaration | None:
        """The declaration with what was written since, as it reaches `index`; None where nothing gives a value."""
        value, size, changed = base.value, base.size, None
        entries: list[tuple[list[Token], list[Token]]] = []
        places, home = [write.at for write in writes], base.scope.home
        inside = writes[bisect_left(places, home.begin) : bisect_right(places, home.end)]
        if len(inside) > _MOST_WRITES:
            raise self._unknown(name, self.source.tokens[inside[0].at], f"is changed at {len(inside)} places")
        for write in inside:
            when = self._when(name, base, write, index)
            if when == "never":
                continue
            at = self.source.tokens[write.at]
            if write.kind in {"changed", "given"} and write.value:
                at = write.value[0]  # the call that it is given to
            if write.kind == "set" and when == "always":
                value, entries, changed = write.value, [], None if write.value is not None else at
            elif write.kind == "entry" and when == "always" and write.value is not None:
                entries.append((write.size or [], write.value))
            elif write.kind == "given":
                changed = changed or (at if self._may_be_written(base, value) else None)
            elif write.kind == "bound":
                alias = (write.value or [at])[0]
                through = {"set", "entry", "changed", "given"}
                written = any(other.kind in through for other in self._writes(alias.text))
                changed = changed or (at if written else None)
            else:
                changed = changed or at
        if changed is not None:
            raise self._unknown(name, changed, "is changed here")
        if value is None and not entries:
            return None
        return Declaration(value or [], size or [], entries)

    def _when(self, name: str, base: Setting, write: Setting, index: int) -> str:
        """Whether a write reaches the reader: always, sometimes, never."""
        source, scope = self.source, base.scope.home
        reaches = source.reaches(write.at, index)
        if reaches == "never" or write.at == index:
            return "never"
        closed = reaches == "sometimes"
        for inner in source.inside[write.at].chain():
            if inner is scope:
                break
            if self._hides(name, inner, write.at, base.at):
                return "never"
            closed = closed or (inner.kind != "value" and not inner.holds(index))
        else:
            return "never"  # another scope's name
        if base.at < write.at < index:
            return "sometimes" if closed else "always"
        for inner in source.inside[index].chain():
            if inner is scope:
                break
            if inner.kind == "loop" and inner.holds(write.at) and not inner.holds(base.at):
                return "sometimes"  # in its next round
            if inner.kind in _FUNCTIONS and not inner.holds(write.at):
                return "sometimes"  # before it is called
        return "never"

    def _hides(self, name: str, scope: Scope, index: int, base: int) -> bool:
        """Whether `scope` has a `name` of its own, so that a write at `index` is not to the one at `base`."""
        if self.functions.parameter(scope, name) is not None:
            return not any(self.source.index(p.token) == base for p in self.functions.parameters(scope))
        own = self.settings.of(name.partition(".")[0])
        return any(
            found.kind == "declared" and found.scope.home is scope and found.at <= index and found.at != base
            for found in own
        )

    def _may_be_written(self, base: Setting, value: list[Token] | None) -> bool:
        """Whether a call that is given the bare name may set it: an array, or a number that waits to be set."""
        if base.at < 0:
            return False
        start = self.settings._start(base.at)
        words = {token.text.rsplit("::", 1)[-1] for token in self.source.tokens[start : base.at]}
        if base.size is not None or words & {"vector", "array", "span", "valarray"} or "," in texts(value):
            return True
        return value is not None and texts(value) in ([], ["0"], ["-", "1"], ["{", "}"], ["{", "0", "}"])

    def _parameter(self, parameter: Parameter, scope: Scope, index: int) -> Declaration | None:
        """What a parameter is given: by the one call of its function, or the one that is asked about."""
        base = Setting("declared", self.source.index(parameter.token), scope)
        writes = self._writes(parameter.name)
        if writes and (found := self._after(parameter.name, base, writes, index)) is not None and found.value:
            return found  # set anew, whatever was given
        return self._after(parameter.name, base._replace(value=self._given(parameter, scope)), writes, index)

    def _given(self, parameter: Parameter, scope: Scope) -> list[Token]:
        of, name = scope.name[:40] or f"this {scope.kind}", parameter.name[:40]
        fix = f"write its value in place of {name}"
        if scope.kind not in _FUNCTIONS:
            message = f"{name} is a parameter of the template {of}: its value is not known here"
            raise self.error(message, [parameter.token], fix)
        sites = self.functions.sites(scope)
        if self.functions.is_overloaded(scope):
            message = f"{name} is a parameter of {of}, and the text has several functions of that name"
            raise self.error(message, [parameter.token], fix)
        if id(scope) in self.frames:
            sites = [self.frames[id(scope)]]
        if not sites:
            message = f"{name} is a parameter of {of}, which the text never calls: its value is not known here"
            raise self.error(message, [parameter.token], f"{fix}, or put the call of {of} into the text")
        if len(sites) > 1:
            self.ambiguous = scope
            where = ", ".join(str(position_of(self.text, self.source.offsets[site])) for site in sites[:3])
            message = f"{name} is a parameter of {of}, which is called {len(sites)} times ({where})"
            raise self.error(message, [parameter.token], fix)
        tokens = self.functions.given(parameter, sites[0])
        if tokens is None or any(token.text == "." and tokens[0].text == "." for token in tokens[:1]):
            place = self.source.tokens[sites[0]]
            raise self.error(f"this call of {of} does not say what {name} is", [place], fix)
        return tokens
