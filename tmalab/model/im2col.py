"""Which pixels one im2col copy takes: a walk over the window origins, and one offset (the filter's tap) added to all.

    lower ┌───────────────┐           the walk starts at coords, goes along W by the element stride, from the right
          │ · · ●→●→●→●   │           edge of the bounding box to its left edge and the next H, then D, then N
          │ ●→●→● · · ·   │
          └───────────────┘ upper     the pixel read is origin + offset; outside the tensor it is fill

>>> from tmalab.model.tensor_map_fields import TensorMapFields
>>> tm = TensorMapFields.im2col("float16", (8, 4, 3, 2), (16, 64, 192), (0, 0), (-2, -2), 8, 4)
>>> pixel_coords(tm, (0, 1, 0, 0), (0, 2)).tolist()
[[0, 1, 2, 0], [0, 0, 2, 1], [0, 1, 2, 1], [0, 0, 2, 2]]

The bounding box of the origins goes from lower_corner to size - 1 + upper_corner in each spatial dimension.
Source: PTX ISA, im2col mode; every im2col load recorded on an H200 started inside it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tmalab.model.tensor_map_fields import TensorMapFields

if TYPE_CHECKING:
    import numpy.typing as npt

    Ints = npt.NDArray[np.int64]


def spatial_dims(tm: TensorMapFields) -> range:
    """The dimensions that the walk goes along: W, H, D.

    They follow the channels, which are dimension 0. In an interleaved layout the engine's order is W, H, D, C/8, N
    (measured with tiled maps), so that they begin at 0.
    """
    return range(1, tm.rank - 1) if tm.interleave == "none" else range(tm.rank - 2)


def pixel_coords(tm: TensorMapFields, coords: tuple[int, ...], offsets: tuple[int, ...]) -> Ints:
    """The coordinates of each pixel, int64[pixels, rank], innermost first; the channel's is the first one copied."""
    pixels = tm.pixels_per_column or 0
    found = np.empty((pixels, tm.rank), np.int64)
    found[:] = coords
    steps_left: Any = np.arange(pixels)
    for lower, upper, offset, dim in zip(tm.lower_corner, tm.upper_corner, offsets, spatial_dims(tm), strict=True):
        last = tm.global_dim[dim] - 1 + upper
        origins, steps_left = _walk(steps_left, coords[dim], lower, last, tm.element_strides[dim])
        found[:, dim] = origins + offset
    found[:, tm.rank - 1] += steps_left
    return found


def _walk(steps: Ints, start: int, lower: int, last: int, stride: int) -> tuple[Ints, Ints]:
    """Where `steps` steps along one dimension lead, and how often they wrapped from its end to `lower`.

    The first way to the end begins at `start`, each later one at `lower`. A step is taken before it is looked where
    it leads, so that even an origin outside counts once.
    """
    first = max((last - start) // stride + 1, 1)
    later = max((last - lower) // stride + 1, 1)
    wrapped, position = np.divmod(steps - first, later)
    still_first = steps < first
    origins = np.where(still_first, start + steps * stride, lower + position * stride)
    return origins, np.where(still_first, 0, wrapped + 1)
