"""Rows of `address: bytes`, as a debugger or a dump tool prints them, joined to pieces of memory.

    (gdb) x/4xw &map     0x7ffe10 <map>:    0x00000010  0x00000000 …      words, as wide as their digits
    xxd, lldb            00000000: 1000 0000 0000 0000  ........          bytes in order, the letters after two spaces
    hexdump, od          0000000 0010 0000 0000 0000                      without a colon: words of the machine's

>>> [row] = debugger_rows("0x7ffe10 <map+16>:\\t0x00000010\\t0x00000000")
>>> hex(row.address), row.data.hex()
('0x7ffe10', '1000000000000000')
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from tmalab.inputs.position import UnreadableError

FORM = "encoded"
_LONGEST_LINE = 400  # no tool prints more; a pattern that takes the square of its line's time may
_MOST_BYTES = 1 << 16
_LINE = re.compile(r"[^\r\n]+")
_OCTAL = frozenset("01234567")
_HEX = frozenset("0123456789abcdefABCDEF")
_WORD = "0[xX][0-9a-fA-F]+"
_DEBUGGER = re.compile(rf"\s*(?P<at>{_WORD})(?:\s*<.*>)?:(?P<words>(?:\s+{_WORD})+)\s*")
_TOOL = re.compile(r"\s*(?P<at>(?:0[xX])?[0-9a-fA-F]{4,16})(?P<colon>:?)(?:\s+(?P<rest>\S.*))?")
_LETTERS = {":": re.compile(r"\s\s.*"), "": re.compile(r"\s+[|>].*")}  # the same bytes again, which may look like some
# xxd groups as many bytes as it is told to; what has no colon are numbers of 1, 2, 4 or 8 bytes.
_GROUP = {":": re.compile("(?:..){1,64}"), "": re.compile(".{2}|.{4}|.{8}|.{16}")}


class Piece(NamedTuple):
    """Bytes that lie one after the other: where their text begins, and the address that was printed of the first.

    `follows` is the address at which the print goes on where that is not the next byte's.
    """

    data: bytes
    offset: int
    address: int | None = None
    follows: int | None = None


class Row(NamedTuple):
    """One line: its bytes, their address, where it stands; `data` None for a star, which repeats the line before."""

    data: bytes | None
    address: int
    offset: int
    memory: bool = True  # the address is memory's, and no place in a file


def debugger_rows(text: str) -> list[Row]:
    """The lines of gdb's `x` in `text`, whatever stands between them. Raises UnreadableError for an odd word."""
    rows = []
    for line in _LINE.finditer(text):
        found = _DEBUGGER.fullmatch(line.group()) if len(line.group()) <= _LONGEST_LINE else None
        if found:
            at = line.start() + found.start("at")
            data = b"".join(_word(text, word, at) for word in found["words"].split())
            rows.append(Row(data, int(found["at"], 16), at))
    return rows


def _word(text: str, word: str, offset: int) -> bytes:
    if (digits := len(word) - 2) not in (2, 4, 8, 16):
        message = f"{word[:40]} has {digits} digits; a debugger prints 2, 4, 8 or 16 of them"
        fix = "print the map with x/32xw &map"
        raise UnreadableError(message, text=text, offset=offset, form=FORM, fix=fix)
    return int(word, 16).to_bytes(digits // 2, "little")


def tool_rows(text: str) -> list[Row]:
    """The lines of xxd, hexdump, od or lldb; none where most lines are something else."""
    lines = [line for line in _LINE.finditer(text) if not line.group().isspace()]
    found = [(line, _TOOL.fullmatch(line.group())) for line in lines if len(line.group()) <= _LONGEST_LINE]
    stars = {line.start() for line in lines if line.group().strip() == "*"}
    parsed = [(line.start(), row, _groups(row)) for line, row in found if row and _groups(row) is not None]
    if 2 * (len(parsed) + len(stars)) <= len(lines) or not parsed:
        return []
    base = _base(parsed)
    if base is None:
        return []
    rows = [Row(None, 0, at) for at in stars]
    for at, row, groups in parsed:
        # Without a colon a wider group is a number, whose low byte lies first.
        swap = -1 if not row["colon"] else 1
        data = b"".join(bytes.fromhex(group)[::swap] for group in groups or ())
        rows.append(Row(data, int(row["at"], base), at, row["at"][:2] in ("0x", "0X")))
    return sorted(rows, key=lambda row: row.offset)


def _groups(row: re.Match[str]) -> list[str] | None:
    """The groups of digits of one line; [] behind the last address of hexdump, None where they are no digits."""
    if row["rest"] is None:
        return None if row["colon"] else []
    groups = _LETTERS[row["colon"]].sub("", row["rest"]).split()
    shape = _GROUP[row["colon"]]
    return groups if all(shape.fullmatch(group) and _HEX.issuperset(group) for group in groups) else None


def _base(parsed: list[tuple[int, re.Match[str], list[str] | None]]) -> int | None:
    """Whether the addresses are hexadecimal or, as od's, octal: whichever counts the bytes; None where neither does."""
    addresses = [row["at"] for _, row, _ in parsed]
    size = len("".join(parsed[0][2] or ())) // 2
    scores = {}
    for base in (16, 8) if _OCTAL.issuperset("".join(addresses)) else (16,):
        values = [int(address, base) for address in addresses[:99]]
        steps = [after - before for before, after in pairwise(values)]
        # A star stands for lines that are left out: then the step is a multiple.
        scores[base] = (steps.count(size), sum(size > 0 and step > 0 and step % size == 0 for step in steps))
    best = max(scores, key=lambda base: scores[base])
    return best if size and (max(scores[best]) or parsed[0][1]["colon"]) else None


def join(text: str, rows: list[Row]) -> Iterator[Piece]:
    """The rows as pieces: one ends where the next row's address is not that of its next byte."""
    data, first, line, again = bytearray(), rows[0], b"", False
    for row in rows:
        if row.data is None:
            again = True
            continue
        if again and line and 0 < (missing := row.address - first.address - len(data)) <= _MOST_BYTES:
            data += (line * (missing // len(line) + 1))[:missing]
        again = False
        if data and row.data and row.address != first.address + len(data):
            yield _piece(data, first, row.address)
            data = bytearray()
        if not data:
            first = row
        line = row.data
        data += line
        if len(data) > _MOST_BYTES:
            message = f"over {_MOST_BYTES} bytes"
            raise UnreadableError(message, text=text, offset=first.offset, form=FORM, fix="print one map")
    if data:
        yield _piece(data, first, None)


def _piece(data: bytearray, first: Row, follows: int | None) -> Piece:
    return Piece(bytes(data), first.offset, first.address if first.memory else None, follows)
