"""The lines that libraries print about a tensor map that the driver refused: `name   value`, one a line.

    TMA Desc Addr:   0x7ffd7d2800c0        begins a block
    globalDim      (1024,1024,1,1,1)       one field of it

>>> block = next(find_blocks("TMA Desc Addr:   0x10\\ndim            2\\nglobalDim      (64,8,1,1,1)\\n"))
>>> block["globalDim"].value
'(64,8,1,1,1)'

CUTLASS and TileLang print the same names; how each writes its values is in `cutlass_dump` and `tilelang_dump`. Text
around the lines (a log's prefix, an error message) is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from tmalab.errors import short_repr
from tmalab.inputs.numbers import integer_text
from tmalab.inputs.position import UnreadableError
from tmalab.inputs.words import enumerator

_BEGIN = "TMA Desc Addr"
_NAMES = (
    "format", "dim", "gmem_address", "globalDim", "globalStridesRaw", "cudaGlobalStrides", "globalStrides", "boxDim",
    "elementStrides", "interleave", "swizzle", "l2Promotion", "oobFill", "smem_box_pixel", "smem_box_channel",
    "pixelBoxLowerCorner", "pixelBoxUpperCorner",
)  # fmt: skip
# A log's prefix ends in a space or a bracket, a quoted mail's in a >. Exceptions that went through repr() hold
# backslash-n for a line's end.
_LINE = re.compile(
    rf"(?:^|\n|\\n|(?<=[\]\)|:>]) )[ \t]*(?P<name>{_BEGIN}:|(?:{'|'.join(_NAMES)})(?=[ \t]))[ \t]*"
    r"(?P<value>(?:(?!\\n)[^\n\r]){0,4000})"
)
_PRINTED = re.compile(rf"(?:{_BEGIN}:|gmem_address)[ \t]+(?:0[xX])?[0-9a-fA-F]+[ \t]*(?:$|[\r\n\\(])", re.MULTILINE)
_NUMBER = re.compile(r"(0[xX][0-9a-fA-F]+|-?\d+)\b")
_POINTER = re.compile(r"0[xX][0-9a-fA-F]+")


class Line(NamedTuple):
    """One line's value, and the offset in the text at which it begins."""

    value: str
    offset: int


class Block(dict[str, Line]):
    """The lines of one dump by name. `offset` is where it begins; `form` says who printed it."""

    def __init__(self, text: str, offset: int, form: str):
        super().__init__()
        self.text, self.offset, self.form = text, offset, form

    def error(self, message: str, name: str, fix: str | None = None) -> UnreadableError:
        """An error about the line `name`, or about the whole block where that line is missing."""
        line = self.get(name)
        return UnreadableError(
            message, text=self.text, offset=line.offset if line else self.offset, form=self.form, field=name,
            value=line.value if line else None, fix=fix,
        )  # fmt: skip

    def need(self, name: str) -> Line:
        """The line `name`. Raises UnreadableError where the dump was cut before it."""
        if name not in self:
            raise self.error("the dump has no such line", name, "paste it whole, from TMA Desc Addr to oobFill")
        return self[name]

    def number(self, name: str) -> int:
        """The integer that begins the line's value; what follows it in brackets repeats it in words."""
        line = self.need(name)
        found = _NUMBER.match(line.value)
        if found is None:
            raise self.error("not an integer", name)
        if len(found.group()) > 100:
            raise self.error(f"an integer of {len(found.group())} digits", name)
        return integer_text(name, found.group())

    def word(self, name: str, field: str) -> str:
        """The word of the driver's enumerator that the line gives as a number."""
        return enumerator(field, self.number(name))

    def numbers(self, name: str, brackets: str) -> list[int]:
        """The integers of an array, `(1,2)` or `[1, 2]` as `brackets` says."""
        line = self.need(name)
        if _POINTER.match(line.value):
            raise self.error(
                "the program printed where the array lies, and not what it holds", name,
                "take the values from the code that fills it, as JSON or as flags",
            )  # fmt: skip
        inner = line.value[1:].partition(brackets[1])
        if line.value[:1] != brackets[0] or inner[1] == "":
            raise self.error(f"expected an array {brackets[0]}…{brackets[1]}", name)
        values = []
        for item in inner[0].split(",") if inner[0].strip() else ():
            if _NUMBER.fullmatch(item.strip()) is None:
                raise self.error(f"{short_repr(item.strip())} is not an integer", name)
            values.append(integer_text(name, item))
        return values

    def place(self, field: str, names: dict[str, str]) -> int:
        """The offset of the line that `field` of the reading came from."""
        line = self.get(names.get(field.partition("[")[0], ""))
        return line.offset if line else self.offset


def find_blocks(text: str, form: str = "dump") -> Iterator[Block]:
    """The dumps in `text`, in order. A dump whose first line is missing begins with its first named line."""
    block: Block | None = None
    for found in _LINE.finditer(text):
        name = found["name"].rstrip(":")
        if block is None or name == _BEGIN or name in block:
            if block is not None and (len(block) > 2 or _BEGIN in block):
                yield block
            block = Block(text, found.start("name"), form)
        block[name] = Line(found["value"].rstrip(), found.start("value"))
    if block is not None and (len(block) > 2 or _BEGIN in block):
        yield block


def looks_like(text: str) -> bool:
    """Whether `text` holds such a dump, whoever printed it, and not the source that prints it."""
    # The plain searches first: a pattern of two words is slow on 10 MB that hold neither.
    return (_BEGIN in text or "gmem_address" in text) and _PRINTED.search(text) is not None
