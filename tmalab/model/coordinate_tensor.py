"""CuTe's coordinate tensor: a start and strides that are coordinates, so that tiling gives what a TMA load is told.

    (0,0) o (8448,1792):(1@1,1@0)      index (row, col) ─▶ col of coordinate 0, row of coordinate 1: innermost first
      ├ local_tile (1, 2)              (512,64) o (64,256):(1@1,1@0)
      ├ group_modes(0, 2)              (512,64) o ((64,256)):((1@1,1@0))
      └ tma_partition                  (512,64) o (((256,64),1)):(((1@0,1@1),0))

>>> matrix = CoordinateTensor.of((8448, 1792))
>>> tile = matrix.local_tile((64, 256), (1, 2))
>>> print(tile, tile.coordinate((0, 0)), tile.coordinate((63, 255)), sep="\\n")
(512,64) o (64,256):(1@1,1@0)
(512, 64)
(767, 127)
>>> print(tile.group_modes(0, 2).partition())
(512,64) o (((256,64),1)):(((1@0,1@1),0))

It holds no elements: three small tuples stand for a matrix of any size. Source: CuTe DSL 4.8.1, what it prints.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from tmalab.errors import InputError
from tmalab.model.tensor_map_fields import integer


class Basis(NamedTuple):
    """A stride that is `factor` of one coordinate: 1@0 is one step of the innermost coordinate."""

    factor: int
    coordinate: int

    def __str__(self) -> str:
        return f"{self.factor}@{self.coordinate}"


Shape = int | tuple["Shape", ...]
Stride = int | Basis | tuple["Stride", ...]


@dataclass(frozen=True)
class CoordinateTensor:
    """`start` is innermost first, as an instruction takes it; `shape` and `stride` are nested alike, as in CuTe."""

    start: tuple[int, ...]
    shape: tuple[Shape, ...]
    stride: tuple[Stride, ...]

    @classmethod
    def of(cls, shape: Sequence[int]) -> CoordinateTensor:
        """That of a row-major tensor of `shape`, outermost first: the last mode steps through coordinate 0.

        Raises InputError for a shape that is none.
        """
        sizes = _integers("shape", shape, least=1)
        rank = len(sizes)
        return cls((0,) * rank, sizes, tuple(Basis(1, rank - 1 - mode) for mode in range(rank)))

    def local_tile(self, tile: Sequence[int], index: Sequence[int]) -> CoordinateTensor:
        """Tile `index` of the tensor cut into tiles: the same strides from another start. Raises InputError.

        As in CuTe a tile may lie outside: a load fills it.
        """
        tile, index = _integers("tile", tile, least=1), _integers("index", index)
        if not len(tile) == len(index) == len(self.shape):
            raise InputError("not one entry a mode", field="tile", value=list(tile), limit=len(self.shape))
        start = list(self.start)
        for size, number, stride in zip(tile, index, self.stride, strict=True):
            if not isinstance(stride, Basis):
                raise InputError("grouped already", field="stride", value=str(stride), fix="take the tile first")
            start[stride.coordinate] += size * number * stride.factor
        return replace(self, start=tuple(start), shape=tuple(tile))

    def group_modes(self, begin: int, end: int) -> CoordinateTensor:
        """Modes `begin` to `end` - 1 in one. Neither the start nor a stride changes."""
        if not 0 <= begin < end <= len(self.shape):
            raise InputError("not a range of modes", field="end", value=end, limit=len(self.shape))
        shape = (*self.shape[:begin], self.shape[begin:end], *self.shape[end:])
        return replace(self, shape=shape, stride=(*self.stride[:begin], self.stride[begin:end], *self.stride[end:]))

    def partition(self) -> CoordinateTensor:
        """The first mode as the engine walks it, innermost first, in one instruction; other modes stay."""
        first, strides = self.shape[0], self.stride[0]
        if not isinstance(first, tuple) or not isinstance(strides, tuple):
            raise InputError("the tile is not one mode", field="shape", value=str(self), fix="group its modes first")
        order = sorted(range(len(first)), key=lambda mode: _coordinate(strides[mode]))
        walked = tuple(first[mode] for mode in order), tuple(strides[mode] for mode in order)
        return replace(self, shape=((walked[0], 1), *self.shape[1:]), stride=((walked[1], 0), *self.stride[1:]))

    def coordinate(self, index: Sequence[int]) -> tuple[int, ...]:
        """The coordinates, innermost first, of an element by its index in the (ungrouped) modes. Raises InputError."""
        index, found = _integers("index", index), list(self.start)
        if len(index) != len(self.stride):
            raise InputError("not one entry a mode", field="index", value=list(index), limit=len(self.stride))
        for number, stride in zip(index, self.stride, strict=True):
            if isinstance(stride, Basis):
                found[stride.coordinate] += number * stride.factor
        return tuple(found)

    def __str__(self) -> str:
        return f"{_text(self.start)} o {_text(self.shape)}:{_text(self.stride)}"


def _integers(field: str, values: Any, least: int | None = None) -> tuple[int, ...]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputError("not a list of integers", field=field, value=values, fix="give one integer a mode")
    found = tuple(integer(f"{field}[{mode}]", value) for mode, value in enumerate(values))
    for mode, value in enumerate(found):
        if least is not None and value < least:
            raise InputError(
                "too small", field=f"{field}[{mode}]", value=value, limit=least, fix=f"use {least} or more"
            )
    if not found:
        raise InputError("no modes", field=field, value=[], fix="give one integer a mode")
    return found


def _coordinate(stride: Stride) -> int:
    if not isinstance(stride, Basis):
        raise InputError("no step of one coordinate", field="stride", value=str(stride), fix="group plain modes")
    return stride.coordinate


def _text(nested: Shape | Stride | tuple[int, ...]) -> str:
    if isinstance(nested, tuple) and not isinstance(nested, Basis):
        return f"({','.join(_text(one) for one in nested)})"
    return str(nested)
