"""What a member of an object stands for where it is read: `a.b`, `a->b`, `this->b`.

    Config a, b;   a.rows = 64;   b.rows = 8;      a.rows ──▶ 64      rows ──▶ another name
    Config c{.rows = 64};                          c.rows ──▶ 64, unless c is given to a function or set since

>>> source = Source("Config a, b; a.n = 64; b.n = 8; f(a.n);")
>>> Members(source).member(source.tokens[19:22:2]).value[0].text
'64'
"""

from __future__ import annotations

from tmalab.inputs.cpp_names import Declaration, Names
from tmalab.inputs.cpp_settings import WRITES, Setting
from tmalab.inputs.cpp_source import Source
from tmalab.inputs.cpp_tokens import Token, designated

__all__ = ["Members", "Source"]


class Members(Names):
    """`Names` that also know what is done to members by the names of their objects."""

    def of_this(self, token: Token) -> Declaration | None:
        """What `this->name` is: a constant of the class about it, and no name outside of it."""
        index = self.source.index(token)
        for scope in self.source.inside[index].chain():
            if scope.kind == "class" and (base := self._base(token.text, scope, index)) is not None:
                return self._value(token.text, base, index)
            if scope.kind == "function" and "::" in scope.name:
                return self._qualified(scope.name.split("::")[:-1], token.text, index)
        return None

    def member(self, path: list[Token]) -> Declaration | None:
        """What `a.b` is where it stands: what was set to it by that name, or what `a` was made with."""
        if path[0].text == "this":
            return self.of_this(path[1]) if len(path) == 2 else self.member(path[1:])
        index, name = self.source.index(path[-1]), ".".join(token.text for token in path)
        root = path[0].text
        members = [write for write in self.settings.members(name) if write.kind in WRITES]
        over = {"set", "changed", "given"}
        whole = [write._replace(kind="changed") for write in self._writes(root) if write.kind in over]
        base = Setting("declared", -1, list(self.source.inside[index].chain())[-1])
        for scope in self.source.inside[index].chain():
            if (parameter := self.functions.parameter(scope, root)) is not None:
                base = Setting("declared", self.source.index(parameter.token), scope)
                break
            if (found := self._base(root, scope, index)) is not None:
                base = found._replace(
                    value=designated(found.value or [], path[1].text) if len(path) == 2 else None,
                    size=None,
                    constant=False,
                )
                break
        writes = sorted((*members, *whole), key=lambda write: write.at)
        return self._after(name, base, writes, index) if base.value or members else None
