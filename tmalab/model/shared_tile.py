"""Where a box stands in shared memory: row after row, each at its pitch, every address through the swizzle.

    row r, byte b of the row     linear = smem_base + r * row_pitch_bytes + b        stands at swizzled(linear)

>>> from tmalab.model.tensor_map_fields import TensorMapFields, require_map
>>> tm = TensorMapFields.tiled("float16", (64, 8), (128,), (64, 8), swizzle="128B")
>>> offsets = shared_offsets(tm)
>>> offsets.shape, int(offsets[0, 1]), int(offsets[8, 1])
((64, 8), 144, 128)
"""

from __future__ import annotations

from math import gcd, prod
from typing import TYPE_CHECKING

import numpy as np

from tmalab.errors import InputError
from tmalab.model.box_bytes import copied_dim, row_bytes, row_pitch_bytes, rows, unit_bytes
from tmalab.model.operands import MOST_SMEM_BYTES, read_size
from tmalab.model.swizzle import swizzled
from tmalab.model.tensor_map_fields import TensorMapFields, require_map
from tmalab.model.tensor_part import TensorPart

if TYPE_CHECKING:
    import numpy.typing as npt

    Bytes = npt.NDArray[np.uint8]
    Ints = npt.NDArray[np.int64]


def shared_offsets(tm: TensorMapFields, smem_base: int = 0) -> Ints:
    """The byte of shared memory at which each element of the box begins: int64, axes in `box_dim` order.

    `shared_offsets(tm, base)[x, y, …]` is element x of the innermost dimension, y of the next. Bytes are counted from
    the start of shared memory (1024-byte aligned), so `smem_base`, where the box was put, is part of them. The axes
    are `copied_dim(tm)`: element strides make them shorter than `box_dim`; an im2col map has (channel, pixel); of an
    interleaved layout the first axis counts slices of 16 or 32 bytes.
    Raises InputError for a packed type or a box larger than any shared memory, TensorMapError as `copied_dim` does.
    """
    tile = SharedTile(tm, smem_base)
    linear = tile.base + tile.pitch * np.arange(tile.rows)[:, None] + unit_bytes(tm) * np.arange(tile.dims[0])
    # Rows are counted with the last dimension slowest; the transpose puts the innermost first.
    return swizzled(linear, tm.swizzle).reshape(tile.dims[::-1]).T


class SharedTile:
    """A box at `smem_base`, and the way of its rows into shared memory and out of it.

    `rows`, `row_bytes` and `pitch` are bytes of the linear layout; `end` is one past the last byte that the box uses.
    """

    __slots__ = ("_places", "base", "dims", "pitch", "row_bytes", "rows", "swizzle")

    def __init__(self, tm: TensorMapFields, smem_base: int):
        require_map(tm)
        if tm.element.packed:
            raise InputError(
                "its elements have no byte addresses", field="dtype", value=tm.dtype, fix="use uint8 for the bytes"
            )
        self.base = read_size("smem_base", smem_base)
        self.dims, self.rows, self.row_bytes = copied_dim(tm), rows(tm), row_bytes(tm)
        self.pitch, self.swizzle = row_pitch_bytes(tm), tm.swizzle
        self._places: dict[int, Ints] = {}
        # A dimension of 0 empties the box, and numpy has no arrays that are huge in the others.
        if max(self.pitch, 1) * prod(max(count, 1) for count in self.dims[1:]) > MOST_SMEM_BYTES:
            raise InputError(
                "the box spans more bytes than any shared memory has", field="box_dim", value=list(self.dims),
                limit=MOST_SMEM_BYTES, fix="use a smaller box",
            )  # fmt: skip

    @property
    def end(self) -> int:
        """One past the last byte of shared memory that the box uses."""
        if not self.rows * self.row_bytes:
            return self.base
        if self.swizzle == "none":
            return self.base + self.rows * self.row_bytes
        word, places = self._words()
        return (int(np.max(places[-1024 // word :])) + 1) * word  # the swizzle reaches no further than its pattern

    def put(self, box: Bytes, smem: Bytes) -> None:
        """Write `box`, the uint8[rows * row_bytes] of a linear layout, to its places in `smem`."""
        if self.swizzle == "none":
            smem[self.base : self.base + box.size] = box
        elif box.size:
            word, places = self._words()
            _as_words(smem, word)[places] = _as_words(box, word)

    def take(self, smem: Bytes, part: TensorPart) -> Bytes:
        """The bytes of `part`, uint8[lines, bytes], from their places in `smem`.

        Only these are read: a box may well reach past the end of shared memory with what is outside the tensor
        (measured on H200). Raises InputError where `smem` ends before a byte that is read.
        """
        if not part.size:
            return np.zeros(part.shape, np.uint8)
        word, places = self._words(part.taken.start, part.taken.stop)
        of_line = slice(part.taken.start // word, part.taken.stop // word)
        wanted = places.reshape(-1, part.line_bytes // word)[part.lines, of_line]
        end = (int(np.max(wanted)) + 1) * word
        if end > smem.size:
            raise InputError(
                f"the copy reads up to byte {end} of shared memory", field="smem", value=f"{smem.size} bytes",
                limit=end, fix=f"give at least {end} bytes, or use a smaller box",
            )  # fmt: skip
        return _as_words(smem, word)[wanted].view(np.uint8)

    def _words(self, *edges: int) -> tuple[int, Ints]:
        """The word in which the box is moved, in bytes, and the place of each of its words in shared memory, in words.

        8 bytes at most, which no swizzle separates; smaller where a row or one of `edges` (bytes of a row) asks for it.
        """
        word = gcd(8, self.base, self.row_bytes, self.pitch, *edges)
        if word not in self._places:
            linear = self.base + self.pitch * np.arange(self.rows)[:, None] + np.arange(0, self.row_bytes, word)
            self._places[word] = swizzled(linear.reshape(-1), self.swizzle) // word
        return word, self._places[word]


def _as_words(array: Bytes, word: int) -> npt.NDArray[np.unsignedinteger]:
    whole = array[: array.size // word * word]
    return whole.view(f"<u{word}")
