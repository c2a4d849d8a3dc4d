"""An address as an expression of the lane, parsed and never run as code: `4 * ((lane * 32) ^ (lane & 31))`.

    text ──words──▶ lane, *, 128, ^, … ──▶ a tree ──for each lane──▶ 0, 132, 264 …      nothing else can be written

>>> [read_expression("(lane * 128) ^ ((lane & 7) << 4)")(lane=lane)[0] for lane in range(3)]
[0, 144, 288]
>>> read_expression("lane * 08")
Traceback (most recent call last):
tmalab.model.expression_tree.ExpressionError: column 8: 08 is octal to C and an error to Python. Fix: drop the 0.

Integers, and what C and Python mean by them alike: `+ - * % ** ~ & ^ | << >>`, comparisons, `a if c else b` and
`c ? a : b`, `and or not` and `&& || !`, min, max, abs; `/` and `//` are both the division without remainder. Where the
two languages would disagree (a negative number divided, `a & b == c`, `0 < a < b`, `017`) the expression is refused,
and the place is named. Two expressions with a comma between them are a row and a column.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from functools import lru_cache

from tmalab.errors import InputError
from tmalab.model.expression_tree import MOST_BITS, ExpressionError, Node, read_tree

NAMES = ("lane", "row", "col", "rows", "cols", "pitch", "bytes")


class Expression:
    """What was read. Called with a number for each name it gives one integer, or two where a comma parts it."""

    __slots__ = ("parts", "text")

    def __init__(self, text: str, parts: tuple[Node, ...]):
        self.text, self.parts = text, parts

    def __call__(self, **values: int) -> tuple[int, ...]:
        """The values. Raises ExpressionError where one cannot be computed: a division by 0, a number too large."""
        return tuple(_value(node, values, self.text) for node in self.parts)

    def __repr__(self) -> str:
        return f"read_expression({self.text!r})"


def read_expression(text: str, names: tuple[str, ...] = NAMES) -> Expression:
    """The expression in `text`, which may use `names`. Raises ExpressionError, which names the column."""
    if not isinstance(text, str):
        raise InputError("not a text", field="expression", value=text, fix="give an expression such as 4 * lane")
    return _read(text, names)


@lru_cache(maxsize=16)  # one expression is asked for each layout that might free it
def _read(text: str, names: tuple[str, ...]) -> Expression:
    return Expression(text, read_tree(text, names))


# --- computing --------------------------------------------------------------------------------------------------------

_COMPUTE: dict[str, Callable[..., int]] = {
    "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
    "min": min, "max": max, "abs": abs, "|": operator.or_, "^": operator.xor, "&": operator.and_, "<<": operator.lshift,
    ">>": operator.rshift, "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.floordiv,
    "//": operator.floordiv, "%": operator.mod, "**": operator.pow, "+1": operator.pos, "-1": operator.neg,
    "~": operator.invert, "!": operator.not_,
}  # fmt: skip


def _value(node: Node, values: Mapping[str, int], text: str) -> int:
    """The number that a node stands for; of a choice only the side that is taken is computed, as everywhere."""
    sign, parts = node.sign, node.parts
    if sign == "number":
        return node.value
    if not parts:
        return int(values[sign])
    first = _value(parts[0], values, text)
    if sign == "if":
        return _value(parts[1 if first else 2], values, text)
    if sign in ("and", "or"):  # Python's give an operand, C's && and || give 0 or 1
        return _value(parts[1], values, text) if bool(first) == (sign == "and") else first
    if sign in ("&&", "||"):
        return int(bool(_value(parts[1], values, text))) if bool(first) == (sign == "&&") else int(bool(first))
    found = (first, *(_value(part, values, text) for part in parts[1:]))
    wrong = _cannot(sign, found)
    made = 0 if wrong else int(_COMPUTE[sign](*found))
    if wrong or made.bit_length() > MOST_BITS:
        where = f" at lane {values['lane']}" if "lane" in values else ""
        message, fix = wrong or ("the number becomes too large", f"keep every number within {MOST_BITS} bits")
        raise ExpressionError(f"{message}{where}", text=text, column=node.column, fix=fix)
    return made


def _cannot(sign: str, found: tuple[int, ...]) -> tuple[str, str] | None:
    """Why `sign` cannot be applied to these numbers, and what to do; None if it can."""
    if len(found) != 2:
        return None
    left, right = found
    if sign in ("/", "//", "%"):
        if right == 0:
            return "division by 0", "keep the divisor from 0"
        if (left < 0 or right < 0) and left % right:
            return f"C and Python round {left} / {right} differently", "divide numbers that are not negative"
    if sign in ("<<", ">>", "**") and not 0 <= right <= MOST_BITS:
        # A base of 63 bits and an exponent of 63 make 4,000 bits: computed at once, and then refused.
        return f"{right} is no {'exponent' if sign == '**' else 'shift'} here", f"use 0 to {MOST_BITS}"
    return None
