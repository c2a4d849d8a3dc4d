"""The calls of one kind in Python source, each as a Reading or as its error: what every form of a Python call shares.

text ──python_text──▶ calls ──read_one──▶ Reading | error        another function's call? read_one says None
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from typing import TypeVar

from tmalab.inputs.position import UnreadableError
from tmalab.inputs.python_scope import Scope
from tmalab.inputs.python_text import LONGEST, Source
from tmalab.inputs.reading import MOST_CALLS, Reading
from tmalab.inputs.torch_tensor import Tensors

Values = TypeVar("Values", bound=Tensors)


def read_calls(
    text: str, form: str, *, call: re.Pattern[str], name: re.Pattern[str], values: Callable[[Source, str], Values],
    read_one: Callable[[Values, ast.Call, Scope], Reading | UnreadableError | None],
    missing: str = "the function is named here and nowhere called",
) -> Iterator[Reading | UnreadableError]:  # fmt: skip
    """Each call in `text` that `read_one` knows. `call` finds where one begins, `name` where an error points to.

    `missing` says that there is none. No more than MOST_CALLS are read; the next one is told.
    """
    if len(text) > LONGEST:
        yield UnreadableError("too long to be read as Python", text=text, form=form, fix="give the part with the call")
        return
    source = Source(text, call)
    known, count = values(source, form), 0
    for offset in source.broken:
        count += 1
        found = name.search(text, offset)
        message = "the call has no end, or is no Python"
        yield known.error_at(message, found.start() if found else offset, "paste it up to its closing bracket")
    for each, scope in source.calls:
        try:
            reading = read_one(known, each, scope)
        except UnreadableError as error:
            reading = error
        if reading is None:
            continue
        count += 1
        if count > MOST_CALLS:
            message = f"more than {MOST_CALLS} calls, of which this and what follows was not read"
            yield known.error(message, each, "give each file by itself")
            return
        yield reading
    if count == 0:
        found = name.search(text)
        yield known.error_at(missing, found.start() if found else 0, "paste the call with its arguments")
