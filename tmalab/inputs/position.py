"""Where in a text something stands, and the one error that says so.

    offset 17 of the text  ──▶  line 2, column 5      (both counted from 1, as editors do)

>>> position_of("first\\nsecond line", 13)
Position(line=2, column=8)
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tmalab.errors import InputError


class Position(NamedTuple):
    """A place in a text, counted from 1 in characters."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}"


def position_of(text: str, offset: int) -> Position:
    """The line and column of the character at `offset`; an offset outside the text is moved to its nearest end."""
    offset = min(max(offset, 0), len(text))
    start_of_line = text.rfind("\n", 0, offset) + 1
    return Position(text.count("\n", 0, start_of_line) + 1, offset - start_of_line + 1)


class UnreadableError(InputError):
    """An input that cannot be read as what it seems to be. `form` names that; `line` and `column` count from 1.

    `offset` is where in its text that is; `at` moves the error when that text was cut out of a longer one.
    """

    def __init__(
        self, message: str, *, text: str = "", offset: int = 0, form: str | None = None, field: str | None = None,
        value: Any = None, limit: Any = None, fix: str | None = None,
    ):  # fmt: skip
        super().__init__(message, field=field, value=value, limit=limit, fix=fix)
        self.form, self.offset = form, offset
        self.line, self.column = position_of(text, offset)
        self.reason = str(self)
        self.args = (f"{Position(self.line, self.column)}: {self.reason}",)

    @classmethod
    def from_error(cls, error: InputError, *, text: str, offset: int, form: str) -> UnreadableError:
        """The same complaint as `error`, with the place in `text` that it is about."""
        return cls(
            error.message, text=text, offset=offset, form=form, field=error.field, value=error.value,
            limit=error.limit, fix=error.fix,
        )  # fmt: skip
