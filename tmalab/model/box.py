"""Which elements of the tensor one tiled copy takes: along each dimension, evenly spaced, some of them outside.

    coords[d]   coords[d] + step   …   length of them       those before 0 or from global_dim[d] on do not exist
    ╰ step = element_strides[d], length = ceil(box_dim[d] / step)

>>> from tmalab.model.tensor_map_fields import TensorMapFields
>>> tm = TensorMapFields.tiled("float32", (12, 16), (64,), (6, 4), element_strides=(1, 3))
>>> [(list(axis.indices), list(axis.inside)) for axis in axes(tm, (9, 1))]
[([9, 10, 11, 12, 13, 14], [0, 1, 2]), ([1, 4], [0, 1])]

Plain integers, no numpy. An element exists where it exists in every dimension, so what a box finds is a box again.
"""

from __future__ import annotations

from typing import NamedTuple

from tmalab.model.box_bytes import copied_dim, used_strides
from tmalab.model.tensor_map_fields import TensorMapFields


class Axis(NamedTuple):
    """One dimension of a box: `length` coordinates from `start` in steps of `step`, in a tensor of `size`."""

    start: int
    step: int
    length: int
    size: int

    @property
    def indices(self) -> range:
        """The coordinates in the tensor that the box takes, existing or not."""
        return range(self.start, self.start + self.length * self.step, self.step)

    @property
    def inside(self) -> range:
        """The positions in the box (0 … length-1) whose coordinates exist."""
        first = min(max(-(self.start // self.step), 0), self.length)
        return range(first, max(min(-((self.start - self.size) // self.step), self.length), first))


def axes(tm: TensorMapFields, coords: tuple[int, ...]) -> tuple[Axis, ...]:
    """The axes of a tiled copy at `coords`, innermost first.

    Dimension 0 counts elements, or slices of an interleaved layout; see `tmalab.model.box_bytes`. Element stride 0
    applies in the latter only. Raises TensorMapError for a box that no copy can have.
    """
    return tuple(map(Axis, coords, used_strides(tm), copied_dim(tm), tm.global_dim))
