"""The tree of a typed expression, and the reading of one: words, then precedence climbing, as C and Python agree.

    lane * 128 ^ 4    ──▶    ^ ─┬─ * ─┬─ lane
                                │     └─ 128
                                └─ 4                each node knows its column

>>> read_tree("lane * 128 ^ 4", ("lane",))[0].sign
'^'

No numpy, and nothing is ever run as code: what no rule here reads is refused, with its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from tmalab.errors import InputError

MOST_CHARACTERS = 300
MOST_DEPTH = 24
MOST_BITS = 63  # a signed 64-bit integer holds every number on the way
FUNCTIONS = ("min", "max", "abs")

_WORDS = re.compile(
    r"(?P<number>(?:0[xX][\da-fA-F][\da-fA-F_]*|0[bB][01][01_]*|0[oO][0-7][0-7_]*|\d[\d_]*)[uUlL]{0,3}(?![\w.]))"
    r"|(?P<name>[A-Za-z_]\w*)|(?P<sign>\*\*|//|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%~&^|<>!?:(),])",
    re.ASCII,
)
_COMPARE = ("<", ">", "<=", ">=", "==", "!=")
_BITS = ("|", "^", "&")
# How tightly a sign binds its two sides, where C and Python agree: the two levels that they order differently,
# comparisons and | ^ &, may not meet without parentheses.
_BINDS = {
    "||": 1, "or": 1, "&&": 2, "and": 2, **dict.fromkeys(_COMPARE, 3), "|": 4, "^": 5, "&": 6, "<<": 7,
    ">>": 7, "+": 8, "-": 8, "*": 9, "/": 9, "//": 9, "%": 9,
}  # fmt: skip
_KEYWORDS = ("if", "else", "and", "or", "not")


class ExpressionError(InputError):
    """An expression that cannot be read or computed. `column` counts from 1; `pointed()` shows the place."""

    def __init__(self, message: str, *, text: str, column: int, fix: str):
        super().__init__(f"column {column}: {message}", field=None, value=text, fix=fix)
        self.field, self.column, self.reason = "expression", column, message

    def pointed(self) -> str:
        """The expression, and below it a caret under the column."""
        return f"{self.value}\n{' ' * (self.column - 1)}^"


class Word(NamedTuple):
    """A word of the text, and where it stands."""

    kind: str  # number, name, sign, end
    text: str
    column: int


class Node(NamedTuple):
    """A part of the tree: a sign, name or function with what it is applied to; `value` of a number alone."""

    sign: str
    column: int
    parts: tuple[Node, ...] = ()
    value: int = 0
    closed: bool = False  # it stood in parentheses


def read_tree(text: str, names: tuple[str, ...]) -> tuple[Node, ...]:
    """The tree of the expression in `text`, or the two of it around a comma. Raises ExpressionError."""
    if len(text) > MOST_CHARACTERS:
        raise ExpressionError(
            f"it has {len(text)} characters", text=text[: MOST_CHARACTERS + 1], column=MOST_CHARACTERS + 1,
            fix=f"use at most {MOST_CHARACTERS}",
        )  # fmt: skip
    return _Parser(text, names).read()


class _Parser:
    """Precedence climbing over the words of one text."""

    def __init__(self, text: str, names: tuple[str, ...]):
        self.text, self.allowed = text, names
        self.words, self.at, self.depth = list(self._split()), 0, 0

    def read(self) -> tuple[Node, ...]:
        parts = [self._choice()]
        if self._take(","):
            parts.append(self._choice())
        if self._here == "','":
            raise self._wrong("there are more than two values", "give a byte, or a row and a vector of it")
        if self.now.kind != "end":
            raise self._wrong(f"an operator is missing before {self._here}", "write one, or end the expression")
        return tuple(parts)

    # --- words --------------------------------------------------------------------------------------------------------

    def _split(self) -> Iterator[Word]:
        at = 0
        while at < len(self.text):
            found = _WORDS.match(self.text, at)
            if found:
                yield Word(str(found.lastgroup), found[0], at + 1)
            elif not self.text[at].isspace():
                raise self._wrong(*_no_word(self.text[at:]), at + 1)
            at = found.end() if found else at + 1
        yield Word("end", "the end", len(self.text) + 1)

    @property
    def now(self) -> Word:
        return self.words[self.at]

    def _take(self, *signs: str) -> bool:
        """Step over the next word if it is one of `signs`."""
        if self.now.text not in signs or self.now.kind == "end":
            return False
        self.at += 1
        return True

    def _need(self, sign: str, why: str) -> None:
        if not self._take(sign):
            raise self._wrong(f"{why} before {self._here}", f"add {sign}")

    @property
    def _here(self) -> str:
        return self.now.text if self.now.kind == "end" else repr(self.now.text)

    def _wrong(self, message: str, fix: str, column: int | None = None) -> ExpressionError:
        return ExpressionError(message, text=self.text, column=column or self.now.column, fix=fix)

    def _deeper(self) -> None:
        self.depth += 1
        if self.depth > MOST_DEPTH:
            raise self._wrong("it is nested too deeply", f"use at most {MOST_DEPTH} levels")

    # --- grammar ------------------------------------------------------------------------------------------------------

    def _choice(self) -> Node:
        """`a if c else b`, `c ? a : b`, or an expression without a choice."""
        self._deeper()
        first = self._binary(1)
        column = self.now.column
        if self._take("if"):
            condition = self._binary(1)
            self._need("else", "`if` has no `else`")
            first = Node("if", column, (condition, first, self._choice()))
        elif self._take("?"):
            chosen = self._choice()
            self._need(":", "`?` has no `:`")
            first = Node("if", column, (first, chosen, self._choice()))
        self.depth -= 1
        return first

    def _binary(self, least: int) -> Node:
        left = self._prefix()
        while (binds := _BINDS.get(sign := self.now.text, 0)) >= least:
            column = self.now.column
            self.at += 1
            right = self._binary(binds + 1)
            if binds == _BINDS["<"]:
                self._refuse_what_differs(sign, column, left, right)
            left = Node(sign, column, (left, right))
        return left

    def _refuse_what_differs(self, sign: str, column: int, left: Node, right: Node) -> None:
        for side in (left, right):
            if side.closed:
                continue
            if side.sign in _COMPARE:
                raise self._wrong(
                    "C and Python read a chain of comparisons differently", "write a < b && b < c", column
                )
            if side.sign in _BITS:
                fix = f"put parentheses around the {side.sign}"
                raise self._wrong(f"C and Python order {side.sign} and {sign} differently", fix, column)

    def _prefix(self) -> Node:
        column = self.now.column
        for sign in ("-", "+", "~", "!", "not"):
            if self._take(sign):
                self._deeper()
                # Python's `not` reaches to the next `and`; C's `!` takes the next value alone.
                inside = self._binary(_BINDS["<"]) if sign == "not" else self._prefix()
                self.depth -= 1
                return Node("!" if sign == "not" else f"{sign}1" if sign in "+-" else sign, column, (inside,))
        return self._power()

    def _power(self) -> Node:
        base = self._atom()
        column = self.now.column
        if not self._take("**"):
            return base
        self._deeper()
        made = Node("**", column, (base, self._prefix()))  # to the right: 2 ** 3 ** 2 is 2 ** 9
        self.depth -= 1
        return made

    def _atom(self) -> Node:
        word = self.now
        self.at += word.kind != "end"
        if word.kind == "number":
            return Node("number", word.column, value=self._number(word))
        if word.text == "(":
            inside = self._choice()
            self._need(")", "a parenthesis is not closed")
            return inside._replace(closed=True)
        if word.kind == "name" and word.text in FUNCTIONS:
            return self._call(word)
        if word.kind == "name" and word.text not in _KEYWORDS:
            if word.text not in self.allowed:
                fix = f"use {', '.join(self.allowed)}, {', '.join(FUNCTIONS)}"
                raise self._wrong(f"no name {word.text!r}", fix, word.column)
            return Node(word.text, word.column)
        self.at -= word.kind != "end"
        raise self._wrong(f"a value is missing before {self._here}", "write a number, a name, or ( … )")

    def _call(self, word: Word) -> Node:
        self._need("(", f"{word.text} has no parenthesis")
        parts = [self._choice()]
        while self._take(","):
            parts.append(self._choice())
        self._need(")", "a parenthesis is not closed")
        if (len(parts) == 1) != (word.text == "abs"):
            wanted = "one value" if word.text == "abs" else "two values or more"
            raise self._wrong(f"{word.text} takes {wanted}", "count what stands between its commas", word.column)
        return Node(word.text, word.column, tuple(parts))

    def _number(self, word: Word) -> int:
        digits = word.text.rstrip("uUlL").replace("_", "")
        if len(digits) > 1 and digits.isdigit() and digits[0] == "0":
            raise self._wrong(f"{digits} is octal to C and an error to Python", "drop the 0", word.column)
        value = int(digits, 0)
        if value.bit_length() > MOST_BITS:
            raise self._wrong("the number is too large", f"use at most {MOST_BITS} bits", word.column)
        return value


def _no_word(rest: str) -> tuple[str, str]:
    """What is wrong with the beginning of `rest`, which is no word, and what to do."""
    if number := re.match(r"\.?\d[\w.]*", rest, re.ASCII):
        return f"{number[0]!r} is no whole number", "write integers, as 16, 0x10 or 0b10000"
    return f"{rest[0]!r} means nothing here", "use whole numbers, names, operators and parentheses"
