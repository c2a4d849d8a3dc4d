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
Source: PTX ISA, im2col mode. Measured on H200: a walk that starts outside the box is refused (ILLEGAL_INSTRUCTION; N
may lie anywhere), one that starts between two strides is not; the next N is the element stride of N away.
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

    They follow the channels, which are dimension 0. In an interleaved layout the engine's order is W, H, D, C/8, N, so
    that they begin at 0, and a pixel is one slice (measured on H200).
    """
    return range(1, tm.rank - 1) if tm.interleave == "none" else range(tm.rank - 2)


def pixel_coords(tm: TensorMapFields, coords: tuple[int, ...], offsets: tuple[int, ...]) -> Ints:
    """The coordinates of each pixel, int64[pixels, rank], innermost first; the channel's is the first one copied."""
    pixels = tm.pixels_per_column or 0
    found = np.empty((pixels, tm.rank), np.int64)
    found[:] = coords
    steps_left: Any = np.arange(pixels)
    taps = held_offsets(offsets)
    for lower, upper, tap, dim in zip(tm.lower_corner, tm.upper_corner, taps, spatial_dims(tm), strict=True):
        last = tm.global_dim[dim] - 1 + upper
        origins, steps_left = _walk(steps_left, coords[dim], lower, last, tm.element_strides[dim])
        found[:, dim] = origins + tap
    found[:, tm.rank - 1] += steps_left * tm.element_strides[tm.rank - 1]
    return found


def held_offsets(offsets: tuple[int, ...]) -> tuple[int, ...]:
    """The offsets that reach the engine: all of them share 16 bits, 16, 8 or 5 each at rank 3, 4 or 5.

    What does not fit is lost, and at rank 5 is carried into the next one before. Measured on H200 with NVRTC 13.0,
    which packs them; the manual gives 16 bits for each.
    """
    if len(offsets) < 3:
        bits = 16 // max(len(offsets), 1)
        return tuple(offset % (1 << bits) for offset in offsets)
    packed = sum(offset << 5 * position for position, offset in enumerate(offsets))
    return tuple(packed >> 5 * position & 31 for position in range(len(offsets)))


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
