"""What each macro of a C++ source stands for where it is read; only those without arguments.

    #define N 64            N ──▶ 64 behind it, until #undef or another #define
    #if A … #else … #endif  two texts in two arms: neither is chosen, unless they are the same

>>> source = Source("#define N 64\\nf(N);\\n#undef N\\nf(N);")
>>> macros = Macros(source)
>>> [token.text for token in macros.at("N", 3)[0]], macros.at("N", 9)
(['64'], (None, None))
"""

from __future__ import annotations

import re

from tmalab.inputs.cpp_source import Source
from tmalab.inputs.cpp_tokens import Token, tokenize

_DEFINE = re.compile(r"\#\s*(define|undef)\s+([A-Za-z_]\w*)(\(?)[ \t]*(.*)", re.DOTALL)
_LONGEST = 1000


class Macros:
    """The macros of a source."""

    def __init__(self, source: Source):
        self.source = source
        # By name: the directive, and its text; None where it takes the macro back, or where that takes arguments.
        self._known: dict[str, list[tuple[int, str | None]]] = {}
        for index in source.directives:
            if macro := _DEFINE.match(source.at(index)):
                plain = macro[1] == "define" and not macro[3]
                self._known.setdefault(macro[2], []).append((index, macro[4][:_LONGEST] if plain else None))

    def at(self, name: str, index: int) -> tuple[list[Token] | None, Token | None]:
        """The text of `name` at a token, and the directive that may set it otherwise."""
        value: str | None = None
        chosen = False
        for at, text in self._known.get(name, ()):
            reaches = self.source.reaches(at, index)
            if reaches == "never" or (at > index and len(self._known[name]) > 1):
                continue
            if reaches == "always" or value is None:
                value, chosen = text, reaches == "sometimes"
            elif chosen and _tokens(text) != _tokens(value):  # an #ifndef keeps what was set above it
                return _tokens(value), self.source.tokens[at]
        return _tokens(value), None


def _tokens(text: str | None) -> list[Token] | None:
    return None if text is None else tokenize(" ".join(text.replace("\\\n", "  ").split()))
