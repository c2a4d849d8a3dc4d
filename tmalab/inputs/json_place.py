"""Where in a JSON object one field's value stands; asked only when that field is wrong.

    {"box_dim": [64, 8.5]}    box_dim[1]  ──▶  offset 17

>>> place_of_field('{"box_dim": [64, 8.5]}', 0, {"box_dim": [64, 8.5]}, "box_dim[1]")
17
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from tmalab.inputs.field_names import canonical

_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[][{}:,]|[^][{}:,"\s]+')
# A value's place in a list of a million entries is worth no second of anyone's time: then the key's place is given.
_MOST_TOKENS = 50_000


def place_of_field(text: str, start: int, keys: Iterable[str], field: str, *, of_key: bool = False) -> int:
    """The offset of `field` (`box_dim`, `box_dim[1]`) in the object that begins at `start`; `start` if not found.

    `keys` are the object's own names for its fields; one of them means the field. With `of_key` the offset is the
    key's and not the value's.
    """
    name, _, subscript = field.partition("[")
    key = next((key for key in keys if key == name or canonical(key) == name), None)
    index = int(subscript[:-1]) if subscript[:-1].isdecimal() else None
    depth, expected, found, entry = 0, False, start, 0
    for count, token in enumerate(_TOKEN.finditer(text, start)):
        mark = token.group()
        if mark in ("]", "}"):
            depth -= 1
            if depth == 0:
                break
        if expected and mark != ":":
            if depth == 1:
                found = token.start()
                if index is None or mark != "[":
                    break
            elif depth == 2:
                if entry == index and mark != ",":
                    return token.start()
                entry += mark == ","
        elif (
            depth == 1
            and mark[0] == '"'
            and _unquoted(mark) == key
            and text[token.end() : token.end() + 8].lstrip()[:1] == ":"
        ):
            expected, found = True, token.start()
            if of_key:
                break
        if mark in ("[", "{"):
            depth += 1
        elif expected and depth == 1 and mark == ",":
            break
        if count > _MOST_TOKENS:
            break
    return found


def _unquoted(token: str) -> str | None:
    try:
        return str(json.loads(token))
    except ValueError:
        return None
