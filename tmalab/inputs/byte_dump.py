"""Bytes as debuggers and dump tools print them, in pieces that hang together.

    0x7ffe10 <map>:  0x00000010  0x00000000    gdb's x          $1 = {opaque = {0x10, 0x0 <repeats 15 times>}}   its p
    00000000: 1000 0000 0000 0000              xxd, hexdump, od                     [16, 0, 0, …]   a list of numbers
    10000000 00000000 …                        hexadecimal digits                   b'\\x10\\x00…'   Python's bytes

>>> [piece] = pieces("0x7ffe10:\\t0x0000000000000010\\t0x0000000000000001")
>>> piece.data.hex(), hex(piece.address)
('10000000000000000100000000000000', '0x7ffe10')

Words are little-endian, as on every machine that a CUDA driver runs on; pairs of digits are bytes in memory's order.
"""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Callable, Iterator
from warnings import catch_warnings, simplefilter

from tmalab.inputs.dump_rows import FORM, Piece, debugger_rows, join, tool_rows
from tmalab.inputs.position import UnreadableError

# A longer text is no question about a map.
_LONGEST = 1 << 20
# What was typed and not printed; of an output that was piped, the prompt alone stands before its first line.
_TYPED = re.compile(
    r"^(?:[ \t]*\((?:cuda-)?gdb\))+(?:[ \t]*(?:x|p|print|output)[ \t/].*$)?|^[ \t]*>>> .*$|^\$ .*$|^Out\[\d+\]:",
    re.MULTILINE,
)
_OPAQUE = re.compile(r"\bopaque\s*=\s*\{(?P<words>[^{}=()]*)\}")
_LIST = re.compile(
    r"(?:[\w\s:.*&<>$]{0,300}(?:\[\w*\])?\s{0,9}=\s*)?(?:[\w.]{1,30}\()?[\[({]{1,2}(?P<words>[^\[\](){}=]*)[\])}]{1,2}"
    r"(?:,\s*dtype=[\w.]+)?\)?(?:\s*;)?(?:\s*unsigned int \w+ = \d+;)?"  # the last is what xxd -i adds
)
_WORDS = re.compile(r"(?P<words>(?:0[xX][0-9a-fA-F]+[\s,]*)+)")
_NUMBER = re.compile(
    r"(?P<number>-?(?:0[xX][0-9a-fA-F]{1,32}|\d{1,40}))[uUlL]{0,3}(?:\s*<repeats\s+(?P<times>\d{1,5})\s+times>)?"
)
_LITERAL = re.compile(r"""(?:bytearray\()?(?P<bytes>b(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"))\)?""", re.DOTALL)
_DIGITS = re.compile(r"(?:bytes\.fromhex\(\s{0,20})?['\"]?(?:0[xX])?(?P<digits>[0-9a-fA-F\s:_]+)['\"]?\)?;?")
# Fewer are some other list, and some other word.
_FEWEST_NUMBERS = 12
_FEWEST_DIGITS = 64
# A text that calls one of these asks about the call, whatever it sets to 0 before.
_CALLS = ("cuTensorMapEncode", "TensorDescriptor", "tensor_descriptor", "call_packed")
_MAP_BYTES = 128


def looks_like(text: str) -> bool:
    """Whether `text` is bytes: a debugger's lines, a dump, a dozen numbers, 64 hexadecimal digits."""
    try:
        return _reader(text) is not None
    except UnreadableError:
        return True  # a debugger's line, with a word as no debugger prints it


def pieces(text: str) -> Iterator[Piece]:
    """The bytes in `text`. Raises UnreadableError where they are none."""
    reader = _reader(text)
    if reader is None:
        fix = "print a map with gdb's x/32xw &map, or give its 256 hexadecimal digits"
        raise UnreadableError("no bytes in any form that is known", text=text, form=FORM, fix=fix)
    yield from reader()


def _reader(text: str) -> Callable[[], Iterator[Piece]] | None:
    """What reads the bytes of such a text, or None where it is of no such form."""
    if len(text) > _LONGEST:
        return None
    plain = _TYPED.sub(lambda typed: " " * len(typed.group()), text).replace("\ufeff", " ").rstrip()
    if rows := debugger_rows(plain):
        return lambda: join(text, rows)
    if any(call in text for call in _CALLS):
        return None
    if opaque := [found for found in _OPAQUE.finditer(plain) if found["words"].strip()]:
        return lambda: (Piece(_numbers(text, found, 8), found.start()) for found in opaque)
    # The patterns of a whole text begin behind its white space: one that passes over it takes its square of time.
    begin = len(plain) - len(plain.lstrip())
    if literal := _LITERAL.fullmatch(plain, begin):
        return lambda: iter([Piece(_bytes(text, literal), begin)])
    listed = _LIST.fullmatch(plain, begin) or _WORDS.fullmatch(plain, begin)
    if listed and len(_entries(listed["words"])) >= _FEWEST_NUMBERS:
        return lambda: iter([Piece(_numbers(text, listed), begin)])
    if rows := tool_rows(plain):
        return lambda: join(text, rows)
    typed = _DIGITS.fullmatch(plain, begin)
    if typed and len(_joined(typed)) >= _FEWEST_DIGITS:
        return lambda: iter([Piece(_hexadecimal(text, typed), typed.start("digits"))])
    return None


def _entries(words: str) -> list[str]:
    """The entries of a list, each of gdb's repeats as often as it stands for."""
    entries: list[str] = []
    for entry in words.split(",") if "," in words or "<" in words else words.split():
        found = _NUMBER.fullmatch(entry.strip())
        entries += [entry.strip()] * (int(found["times"]) if found and found["times"] else 1)
        if len(entries) > _LONGEST:
            break
    return entries[:-1] if entries and not entries[-1] else entries


def _numbers(text: str, found: re.Match[str], size: int | None = None) -> bytes:
    """The bytes of a list of numbers, as narrow as they all fit: 16 are a map in words of 8 bytes, 128 in bytes."""
    at = found.start("words")
    values = []
    for entry in _entries(found["words"]):
        number = _NUMBER.fullmatch(entry)
        if number is None:
            raise UnreadableError("not a number", text=text, offset=at, form=FORM, field="encoded", value=entry[:40])
        values.append(int(number["number"], 16 if "x" in number["number"].lower() else 10))
    for width in (1, 2, 4, 8) if size is None else (size,):
        if all(-(1 << 8 * width - 1) <= value < 1 << 8 * width for value in values) and (
            size or len(values) * width % _MAP_BYTES == 0
        ):
            return b"".join((value % (1 << 8 * width)).to_bytes(width, "little") for value in values)
    message = f"{len(values)} numbers; a map is 16 of 8 bytes, 32 of 4 bytes or 128 of 1 byte"
    if wide := next((value for value in values if not -(1 << 63) <= value < 1 << 64), None):
        message = f"{wide} does not fit into 8 bytes"
    fix = "give all of the map: p/x map, or list(map_bytes)"
    raise UnreadableError(message, text=text, offset=at, form=FORM, fix=fix)


def _bytes(text: str, found: re.Match[str]) -> bytes:
    with catch_warnings():
        simplefilter("ignore")  # a backslash that means nothing stands for itself
        try:
            value = literal_eval(found["bytes"])  # one literal, so that no depth of brackets is parsed
        except (SyntaxError, ValueError):
            value = None
    if not isinstance(value, bytes):
        fix = "print map.hex() instead"
        raise UnreadableError("no bytes as Python writes them", text=text, offset=found.start(), form=FORM, fix=fix)
    return value


def _joined(found: re.Match[str]) -> str:
    return re.sub(r"[\s:_]", "", found["digits"])


def _hexadecimal(text: str, found: re.Match[str]) -> bytes:
    digits = _joined(found)
    if len(digits) % 2:
        message = f"{len(digits)} hexadecimal digits; a map is 256 of them"
        raise UnreadableError(message, text=text, offset=found.start("digits"), form=FORM, fix="give map.hex() whole")
    return bytes.fromhex(digits)
