"""Several questions in one text, one a line, for the forms that say one in a line: flags, CuTe layouts, arrays.

    16,128:128,1:float16        line 1: a question
    8,64:64,1:bfloat16          line 2: a question of its own

>>> from tmalab.inputs import array_spec
>>> [found.offset for found in each("8,64::half\\n\\n4,64::half", [0, 12], array_spec.read, "array")]
[0, 12]

Each is read as if it stood alone, and its places are moved to where it stands in the whole text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from tmalab.inputs.position import UnreadableError
from tmalab.inputs.reading import Reading

# More than anyone types, and few enough that an error's place may be counted from the text's beginning each time.
MOST_QUESTIONS = 1000
_LONGEST = 1 << 22


def lines_of(text: str) -> list[tuple[int, str]]:
    """The lines that hold anything, each with the offset at which it begins; none of a text too long to be typed."""
    if len(text) > _LONGEST:
        return []
    found, start = [], 0
    for line in text.split("\n"):
        if line and not line.isspace():
            found.append((start, line))
        start += len(line) + 1
    return found


def each(
    text: str, starts: list[int], read: Callable[[str], Reading], form: str
) -> Iterator[Reading | UnreadableError]:
    """What `read` makes of each part of `text` that begins at one of `starts`, as a reading or as its error."""
    for count, (start, end) in enumerate(zip(starts, [*starts[1:], len(text)], strict=True)):
        if count == MOST_QUESTIONS:
            yield UnreadableError(
                f"more than {MOST_QUESTIONS} questions, of which this and what follows was not read", text=text,
                offset=start, form=form, fix="put them into JSON lines, or split the text",
            )  # fmt: skip
            return
        try:
            found = read(text[start:end].rstrip())
        except UnreadableError as error:
            yield UnreadableError.from_error(error, text=text, offset=start + error.offset, form=form)
            continue
        locate = partial(_moved, found.locate, start) if found.locate else None
        yield found._replace(text=text, offset=start + found.offset, locate=locate)


def _moved(locate: Callable[[str], int], start: int, field: str) -> int:
    return start + locate(field)
