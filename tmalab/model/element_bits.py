"""What the engine does to the bits of an element on a load: almost nothing.

    tfloat32, tfloat32_ftz     rounded to 10 mantissa bits, nearest even; any NaN becomes 7fffe000
    float32_ftz                nothing: denormals stay (and so they do under tfloat32_ftz)
    outside the tensor         zeros, or with oob_fill="nan" 7ff7 in every 16 bits, which TF32 does not round

>>> [f"{bits:08x}" for bits in rounded_to_tf32(np.array([0x3F801000, 0x3F803000, 0x00000FFF, 0xFFC00001], np.uint32))]
['3f800000', '3f804000', '00000000', '7fffe000']

A store or a reduction takes the bits as they are. All measured on H200; the PTX ISA gives the rounding, and no manual
the NaN's bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tmalab.model.tensor_map_fields import TensorMapFields

if TYPE_CHECKING:
    import numpy.typing as npt

    Bytes = npt.NDArray[np.uint8]

# Every 16 bits of an element that the driver fills with its "special NaN constant" (driver API, oobFill).
NAN_FILL = 0x7FF7
TF32_NAN = 0x7FFFE000
_INFINITY = 0x7F800000
_DROPPED = 13  # of 23 mantissa bits, TF32 keeps 10


def filled(tm: TensorMapFields, size: int) -> Bytes:
    """uint8[size] of what stands for elements outside the tensor."""
    if tm.oob_fill == "none" or not tm.element.is_float:
        return np.zeros(size, np.uint8)
    return np.full(size // 2, NAN_FILL, "<u2").view(np.uint8)


def loaded(tm: TensorMapFields, elements: Bytes) -> Bytes:
    """The bytes that a load makes of `elements`, bytes of the tensor whose last axis holds whole elements."""
    if not tm.dtype.startswith("tfloat32"):
        return elements
    return rounded_to_tf32(np.ascontiguousarray(elements).view("<u4")).view(np.uint8)


def rounded_to_tf32(bits: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    """float32 bits rounded to TF32, to nearest and ties to even, the low 13 bits zero. The largest become infinite."""
    half_less_one = np.uint32((1 << (_DROPPED - 1)) - 1)
    odd = bits >> np.uint32(_DROPPED) & np.uint32(1)
    rounded = (bits + (half_less_one + odd)) & ~np.uint32((1 << _DROPPED) - 1)
    return np.where(bits & np.uint32(0x7FFFFFFF) > _INFINITY, np.uint32(TF32_NAN), rounded)
