"""Integers and lists of them as people write them in flags and specifications: 128,16 or (128, 16) or 0x80.

>>> integer_text("smem_base", "0x400"), list_text("box_dim", "(64, 8)"), list_text("shape", "L,128")
(1024, [64, 8], ['L', 128])

A name in a list stays a name: whoever asked for integers refuses it by its place.
"""

from __future__ import annotations

import re

from tmalab.errors import InputError

# Python itself refuses longer ones (its limit is on digits), and no driver's field has more than 20.
_MOST_DIGITS = 4000
_ITEM = re.compile(r"[^\s,()\[\]{}]+")


def integer_text(field: str, text: str) -> int:
    """The integer that `text` writes in decimal or 0x, 0b, 0o notation. Raises InputError for anything else."""
    stripped = text.strip()
    digits = stripped.lstrip("+-")
    if len(digits) > _MOST_DIGITS:
        raise InputError(f"an integer of {len(digits)} digits", field=field, value=text, fix="at most 64 bits fit")
    try:
        return int(stripped, 0 if digits[:2].lower() in ("0x", "0b", "0o") else 10)
    except ValueError:
        raise InputError(
            "not an integer", field=field, value=text, fix="give an integer, such as 128 or 0x80"
        ) from None


def list_text(field: str, text: str) -> list[int | str]:
    """The entries of a list, with or without brackets; symbols such as L are kept as they are.

    Raises InputError for an entry that is neither an integer nor a name.
    """
    entries: list[int | str] = []
    for found in _ITEM.finditer(text):
        item = found.group()
        entries.append(item if item.isidentifier() else integer_text(f"{field}[{len(entries)}]", item))
    return entries
