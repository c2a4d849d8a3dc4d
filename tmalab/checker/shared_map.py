"""What shared memory holds after one load, 16 bytes at a time: the row and chunk of the box in each place.

    row 3, chunk 5 of the box  ──row_pitch_bytes──▶  byte 3 * 128 + 16 * 5  ──swizzle──▶  byte 480: chunk 6 of line 3

>>> from tmalab import TensorMap
>>> found = shared_map(TensorMap.tiled("float16", (64, 8), (128,), (64, 8), swizzle="128B"))
>>> found.lines[1].chunks
((1, 1), (1, 0), (1, 3), (1, 2), (1, 5), (1, 4), (1, 7), (1, 6))

Plain integers, so that a page draws the same map; `model.shared_offsets` says the place of each element.
"""

from __future__ import annotations

from typing import NamedTuple

from tmalab.errors import InputError
from tmalab.model.box_bytes import row_bytes, row_pitch_bytes, rows
from tmalab.model.swizzle import CHUNK_BYTES, LINE_BYTES, swizzled
from tmalab.model.tensor_map import TensorMap

# Past any shared memory; a legal box is below 227 KiB, and padding makes it no more than 8 times that.
_MOST_BYTES = 1 << 22


class Line(NamedTuple):
    """128 bytes of shared memory from `byte` on: the (row, chunk) of the box in each of 8 places, or None."""

    byte: int
    chunks: tuple[tuple[int, int] | None, ...]


class SharedMap(NamedTuple):
    """The lines that the box touches, and what a row of it is."""

    lines: tuple[Line, ...]
    rows: int
    row_bytes: int
    row_pitch_bytes: int


def shared_map(tm: TensorMap, smem_base: int = 0) -> SharedMap:
    """The map of a legal tensor map's box at `smem_base`. Raises InputError where it has no place in shared memory."""
    if tm.element.packed:
        fix = "describe the bytes as uint8"
        raise InputError("its elements have no byte addresses", field="dtype", value=tm.dtype, fix=fix)
    if smem_base % CHUNK_BYTES or not 0 <= smem_base < _MOST_BYTES:
        raise InputError("not a place for a box", field="smem_base", value=smem_base, fix="use a multiple of 128")
    count, width, pitch = rows(tm), row_bytes(tm), row_pitch_bytes(tm)
    if count * pitch > _MOST_BYTES:
        raise InputError("larger than any shared memory", field="box_dim", value=list(tm.box_dim), limit=_MOST_BYTES)
    places: dict[int, tuple[int, int]] = {}
    for row in range(count):
        for chunk in range(-(-width // CHUNK_BYTES)):
            places[swizzled(smem_base + row * pitch + chunk * CHUNK_BYTES, tm.swizzle)] = (row, chunk)
    first, last = min(places) // LINE_BYTES, max(places) // LINE_BYTES
    lines = (
        Line(byte, tuple(places.get(byte + at) for at in range(0, LINE_BYTES, CHUNK_BYTES)))
        for byte in range(first * LINE_BYTES, (last + 1) * LINE_BYTES, LINE_BYTES)
    )
    return SharedMap(tuple(lines), count, width, pitch)
