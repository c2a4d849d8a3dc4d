"""The part of a box that exists in the tensor: where it stands in the box, and where its bytes are in global memory.

    box   ┌──────────┐           cut into lines of bytes that are contiguous in memory: a tiled box's rows, an im2col
          │    ══════╪═══┐       copy's pixels, the slices of an interleaved layout
          │    ══════╪   │
          └────┼─────┘   │       each line of the part: starts[i] in memory, `taken` of line lines[i] in the box
               └─────────┘ tensor

>>> from tmalab.model.tensor_map_fields import TensorMapFields
>>> tm = TensorMapFields.tiled("uint8", (20, 4), (32,), (16, 2))
>>> memory = np.arange(128, dtype=np.uint8)
>>> TensorPart(tm, (16, 3)).read(memory).tolist()
[[112, 113, 114, 115]]
>>> TensorPart(tm, (16, 3), to_memory=True).read(memory).shape
(1, 16)

A load knows the end of a row to the element. A store or reduction knows it to 16 bytes only: what follows the tensor's
end within the same 16 bytes is written too (measured on H200; an issue tracker says so, no manual does).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from tmalab.errors import InputError, TensorMapError
from tmalab.model.box import Axis, axes
from tmalab.model.box_bytes import copied_dim, row_bytes, unit_bytes
from tmalab.model.im2col import pixel_coords
from tmalab.model.swizzle import CHUNK_BYTES
from tmalab.model.tensor_map_fields import TensorMapFields

if TYPE_CHECKING:
    import numpy.typing as npt

    Bytes = npt.NDArray[np.uint8]
    Ints = npt.NDArray[np.int64]


class TensorPart:
    """The lines of the box at `coords` that exist; with `to_memory`, those that a store or reduction writes.

    `starts` int64[n]: where each begins in memory; `lines` int64[n]: its number among the box's lines of `line_bytes`;
    `taken`: the bytes of a line that exist, the same in each.
    """

    __slots__ = ("line_bytes", "lines", "starts", "taken")

    def __init__(
        self, tm: TensorMapFields, coords: tuple[int, ...], offsets: tuple[int, ...] = (), *, to_memory: bool = False
    ):
        _refuse_what_no_map_holds(tm)
        unit = unit_bytes(tm)
        byte_strides = (unit, *tm.global_strides)
        if tm.kind == "im2col":
            found = pixel_coords(tm, coords, offsets)
            # In an interleaved layout a pixel is one slice; in a plain one, channels of which some may not exist.
            row = (
                Axis(0, 1, 1, 1) if tm.interleave != "none" else Axis(coords[0], 1, copied_dim(tm)[0], tm.global_dim[0])
            )
            outer = slice(0 if tm.interleave != "none" else 1, tm.rank)
            self._take(row, unit, row_bytes(tm), to_memory)
            self._place_pixels(found[:, outer], tm.global_dim[outer], byte_strides[outer], row.start * unit)
        else:
            row, *outer_axes = axes(tm, coords)
            if row.step > 1:  # only an interleaved layout's: its slices are apart in memory, a line each
                self._take(Axis(0, 1, 1, 1), unit, unit, to_memory)
                self._place_box([row, *outer_axes], byte_strides, 0)
            else:
                self._take(row, unit, row_bytes(tm), to_memory)
                self._place_box(outer_axes, byte_strides[1:], row.start * unit)

    def _take(self, row: Axis, unit: int, line_bytes: int, to_memory: bool) -> None:
        self.line_bytes = line_bytes
        inside = row.inside
        end = inside.stop * unit
        if to_memory and inside:
            size = -(-row.size * unit // CHUNK_BYTES) * CHUNK_BYTES
            end = min(size - row.start * unit, line_bytes)
        self.taken = slice(inside.start * unit, end)

    def _place_box(self, outer: list[Axis], byte_strides: tuple[int, ...], row_start: int) -> None:
        """Lines of a tiled box: the existing positions of every outer dimension, the innermost of them fastest."""
        self.starts = np.array([row_start + self.taken.start], np.int64)
        self.lines = np.zeros(1, np.int64)
        lines_before = 1
        for axis, stride in zip(outer, byte_strides, strict=True):
            inside = axis.inside
            positions = np.arange(inside.start, inside.stop)
            first = axis.start + inside.start * axis.step
            # A dimension that lies outside altogether touches nothing, however far it is.
            reach = _within_reach(stride, first + (len(inside) - 1) * axis.step if inside else 0)
            steps = (first + np.arange(len(inside)) * axis.step) * reach
            self.starts = (steps[:, None] + self.starts).reshape(-1)
            self.lines = (positions[:, None] * lines_before + self.lines).reshape(-1)
            lines_before *= axis.length

    def _place_pixels(self, found: Ints, sizes: tuple[int, ...], byte_strides: tuple[int, ...], row_start: int) -> None:
        """Lines of an im2col copy: the pixels that exist in every dimension."""
        exists = np.all([(0 <= at) & (at < size) for at, size in zip(found.T, sizes, strict=True)], axis=0)
        self.lines = np.flatnonzero(exists)
        self.starts = np.full(self.lines.size, row_start + self.taken.start, np.int64)
        for at, stride in zip(found[exists].T, byte_strides, strict=True):
            self.starts += at * _within_reach(stride, int(at.max(initial=0)))

    @property
    def shape(self) -> tuple[int, int]:
        """Lines of the part, and the bytes of each."""
        return self.lines.size, max(self.taken.stop - self.taken.start, 0)

    @property
    def size(self) -> int:
        """Bytes of the part."""
        return self.shape[0] * self.shape[1]

    @property
    def overlaps(self) -> bool:
        """Whether two lines share a byte of memory, so that their order matters."""
        return bool(self.starts.size > 1 and np.min(np.diff(np.sort(self.starts))) < self.shape[1])

    def put(self, part: Bytes, box: Bytes) -> None:
        """The part's bytes into the box."""
        box.reshape(-1, self.line_bytes)[self.lines, self.taken] = part

    def read(self, memory: Bytes) -> Bytes:
        """The part's bytes, uint8[lines, bytes], out of memory. Raises InputError where memory ends before it."""
        words, places = self._words(memory)
        return words[places].view(np.uint8)

    def write(self, part: Bytes, memory: Bytes) -> None:
        """The part's bytes into memory; where lines overlap the last one stays. Raises InputError as `read` does."""
        words, places = self._words(memory)
        words[places] = part.view(words.dtype)

    def one_by_one(self) -> Iterator[TensorPart]:
        """The part's lines, each a part of its own, in the order of the box."""
        for line, start in zip(self.lines, self.starts, strict=True):
            one = object.__new__(TensorPart)
            one.line_bytes, one.taken = self.line_bytes, self.taken
            one.lines, one.starts = np.array([line]), np.array([start])
            yield one

    def _words(self, memory: Bytes) -> tuple[npt.NDArray[np.unsignedinteger], Ints]:
        """Memory in the largest words (8 bytes at most) that fit into every line, and the part's places in it."""
        if not self.size:
            return memory[:0], np.zeros(self.shape, np.int64)
        width = self.shape[1]
        first, end = int(np.min(self.starts)), int(np.max(self.starts)) + width
        if first < 0 or end > memory.size:
            raise InputError(
                f"the copy touches bytes {first} to {end - 1} of the tensor's memory", field="memory",
                value=f"{memory.size} bytes", limit=end, fix=f"give all that it touches: at least {end} bytes",
            )  # fmt: skip
        word = next(word for word in (8, 4, 2, 1) if width % word == 0 and not np.any(self.starts % word))
        words = memory[: memory.size // word * word].view(f"<u{word}")
        return words, (self.starts // word)[:, None] + np.arange(width // word)


# With offsets below this the sum of five of them fits 64 bits, and no memory is that large.
_FAR = 1 << 58


def _within_reach(stride: int, last: int) -> int:
    """`stride`, or 0 where it is taken `last` = 0 times and so may be any number at all."""
    if abs(last * stride) > _FAR:
        raise InputError(
            f"the copy touches index {last}, and the stride is {stride} bytes", field="memory", value=last * stride,
            limit=_FAR, fix="no memory is that large; copy from where the tensor is",
        )  # fmt: skip
    return stride if last else 0


def _refuse_what_no_map_holds(tm: TensorMapFields) -> None:
    """Numbers that would not fit 64 bits; the driver takes none of them. A map that is merely illegal goes through."""
    numbers = (*tm.lower_corner, *tm.upper_corner, *tm.element_strides, *tm.box_dim)
    if any(abs(number) >= 1 << 31 for number in numbers) or any(abs(number) >= 1 << 62 for number in tm.global_dim):
        from tmalab.model import rules  # late: only a map that is refused needs them

        raise TensorMapError(rules.violations(tm))
