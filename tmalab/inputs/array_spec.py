"""An array in one line, `shape:strides:dtype`, in NumPy's order: the outermost dimension first.

    16,128:128,1:float16        strides in elements, as CuTe, torch and DLPack count them
    16,128:256B,2B:float16      strides in bytes, as NumPy counts them: with a B behind each
    16,128::float16             no strides: contiguous rows

>>> read("16,128:128,1:float16").fields["strides_elements"]
[128, 1]
"""

from __future__ import annotations

import re
from functools import partial
from typing import Any

from tmalab.errors import InputError
from tmalab.inputs.lines import lines_of
from tmalab.inputs.numbers import list_text
from tmalab.inputs.position import UnreadableError
from tmalab.inputs.reading import Reading

FORM = "array"
_BYTES = re.compile(r"(\d)\s*[bB]\s*(?=[,)\]]|$)")
# No array has a thousand dimensions, and a longer text is something else.
_LONGEST = 4000


# Of several lines more is asked than of one: a log's 12:30:45 has three parts too.
_ONE_OF_SEVERAL = re.compile(r"[\w,()\[\]\s]+:[\w,()\[\]\s]*:\s*[A-Za-z_][\w.]*\s*")


def starts(text: str) -> list[int]:
    """Where each line of `text` begins, if most of them are arrays; else nothing."""
    lines = lines_of(text)
    alike = sum(len(line) < _LONGEST and _ONE_OF_SEVERAL.fullmatch(line) is not None for _, line in lines)
    return [offset for offset, _ in lines] if 2 * alike > len(lines) > 1 else []


def looks_like(text: str) -> bool:
    """Whether `text` is one line of three parts between colons, as the specification is, or several of them."""
    if "\n" in text.strip():
        return bool(starts(text))
    parts = text.strip().split(":") if len(text) < _LONGEST else []
    return len(parts) == 3 and "=" not in text and '"' not in text


def read(text: str) -> Reading:
    """The array that `text` specifies. Raises UnreadableError at the part that is wrong."""
    if len(text) > _LONGEST:
        raise UnreadableError("too long for an array's specification", text=text, form=FORM)
    parts = text.split(":")
    if len(parts) != 3:
        end = len(text.rstrip())
        raise UnreadableError(
            f"{len(parts)} parts where shape:strides:dtype has 3", text=text, offset=end, form=FORM,
            fix="write an array as 16,128:128,1:float16",
        )  # fmt: skip
    offsets = {"shape": 0, "strides_elements": len(parts[0]) + 1, "dtype": len(text) - len(parts[2])}
    offsets["strides_bytes"] = offsets["strides_elements"]
    place = partial(_place, offsets)
    try:
        fields: dict[str, Any] = {"kind": "dlpack", "shape": list_text("shape", parts[0]), "dtype": parts[2].strip()}
        if not fields["shape"]:
            raise InputError("an array has at least one dimension", field="shape", value=parts[0])
        if parts[1].strip():
            plain, in_bytes = _BYTES.subn(r"\1", parts[1])
            name = "strides_bytes" if in_bytes else "strides_elements"
            fields[name] = list_text(name, plain)
            if in_bytes not in (0, len(fields[name])):
                fix = "put a B behind every stride, or behind none"
                raise InputError("some strides are in bytes and some in elements", field=name, value=parts[1], fix=fix)
    except InputError as error:
        raise UnreadableError.from_error(error, text=text, offset=place(error.field or ""), form=FORM) from None
    return Reading(FORM, fields, text, 0, place)


def _place(offsets: dict[str, int], field: str) -> int:
    return offsets.get(field.partition("[")[0], 0)
