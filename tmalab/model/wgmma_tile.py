"""What `wgmma` wants of a tile in shared memory: the matrix descriptor, and which byte each element is read from.

    K-major, row r, chunk c of 16 bytes (eight 2-byte elements), XOR on the address as the TMA engine's swizzle does it
      none                 start + r // 8 * stride + r % 8 * 16   + c * leading         8 x 16 bytes stand together
      32B, 64B, 128B       start + r // 8 * stride + r % 8 * span + c * 16              `leading` is not read

>>> from tmalab.model.tensor_map_fields import TensorMapFields
>>> tm = TensorMapFields.tiled("float16", (64, 64), (128,), (64, 64), swizzle="128B")
>>> first = matrix_descriptors(tm)[0]
>>> hex(first.encode()), int(first.offsets()[1, 8])
('0x4000004000010000', 128)

Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Shared Memory Layout" and "Matrix Descriptor Format", for
operands that are not transposed; what they leave open was measured on an H200.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tmalab.errors import InputError
from tmalab.model.box_bytes import copied_dim, row_bytes, rows
from tmalab.model.operands import read_size
from tmalab.model.shared_tile import shared_offsets
from tmalab.model.swizzle import CHUNK_BYTES, LINE_BYTES, pattern, swizzled
from tmalab.model.tensor_map_fields import TensorMapFields, integer

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Ints = npt.NDArray[np.int64]

# The two bits that name a mode. Swizzles of 32 and 64-byte atoms have none here: Hopper's wgmma does not know them.
SWIZZLE_BITS = {"none": 0, "128B": 1, "64B": 2, "32B": 3}
CORE_ROWS = 8
STEP_ELEMS = 16  # of K, in one wgmma of a 2-byte type
STEP_BYTES = 2 * STEP_ELEMS
OPERAND_ROWS = 64  # of A
MOST_BYTES = (1 << 18) - CHUNK_BYTES  # 14 bits, in units of 16 bytes
NOTHING = -1


class MatrixDescriptor(NamedTuple):
    """The descriptor of one operand of one `wgmma`: 16 columns of K of a tile in shared memory.

    `start_bytes` is where it begins in shared memory, `stride_bytes` leads from eight rows to the next eight,
    `leading_bytes` from the first chunk of a row to the second, and is read without swizzle only. `base_offset`, 0 to
    7, belongs to a tile whose pattern doesn't begin where a pattern does.
    """

    start_bytes: int
    leading_bytes: int
    stride_bytes: int
    swizzle: str = "none"
    base_offset: int = 0

    def encode(self) -> int:
        """Its 64 bits. Raises InputError for a field that they cannot hold."""
        fields = {
            "start_bytes": self.start_bytes,
            "leading_bytes": self.leading_bytes,
            "stride_bytes": self.stride_bytes,
        }
        for name, value in fields.items():
            if integer(name, value) % CHUNK_BYTES or not 0 <= value <= MOST_BYTES:
                raise InputError(
                    "a descriptor counts in 16 bytes, and has 14 bits for it", field=name, value=value,
                    limit=MOST_BYTES, fix=f"use a multiple of 16 up to {MOST_BYTES}",
                )  # fmt: skip
        if not 0 <= integer("base_offset", self.base_offset) <= 7:
            raise InputError("3 bits", field="base_offset", value=self.base_offset, limit=7, fix="use 0 to 7")
        start, leading, stride = (value >> 4 for value in fields.values())
        return start | leading << 16 | stride << 32 | self.base_offset << 49 | _mode(self.swizzle) << 62

    @classmethod
    def decode(cls, bits: int) -> MatrixDescriptor:
        """The descriptor that `encode` wrote. Raises InputError where `bits` are no 64 bits."""
        if not 0 <= integer("bits", bits) < 1 << 64:
            raise InputError("not 64 bits", field="bits", value=bits, limit=(1 << 64) - 1, fix="give a 64-bit integer")
        start, leading, stride = ((bits >> shift & 0x3FFF) << 4 for shift in (0, 16, 32))
        swizzle = next(name for name, mode in SWIZZLE_BITS.items() if mode == bits >> 62)
        return cls(start, leading, stride, swizzle, bits >> 49 & 7)

    def offsets(self, rows: int = OPERAND_ROWS) -> Ints:
        """The byte of shared memory at which each element begins, as wgmma reads it: int64[rows, 16]."""
        row, chunk = np.arange(rows)[:, None], np.arange(STEP_BYTES // CHUNK_BYTES)[None]
        _mode(self.swizzle)
        pitch = pattern(self.swizzle).span_bytes or CHUNK_BYTES
        leading = self.leading_bytes if self.swizzle == "none" else CHUNK_BYTES
        linear = self.start_bytes + row // CORE_ROWS * self.stride_bytes + row % CORE_ROWS * pitch + chunk * leading
        # Measured on H200: the XOR takes its bits from the final address, less one line for each of `base_offset`.
        pattern_bytes = linear - LINE_BYTES * self.base_offset
        found = linear ^ pattern_bytes ^ swizzled(pattern_bytes, self.swizzle)
        return (found[:, :, None] + 2 * np.arange(CHUNK_BYTES // 2)).reshape(rows, STEP_ELEMS)


def _mode(swizzle: str) -> int:
    if swizzle not in SWIZZLE_BITS:
        raise InputError(
            "wgmma does not know it", field="swizzle", value=swizzle, fix=f"use one of {', '.join(SWIZZLE_BITS)}"
        )
    return SWIZZLE_BITS[swizzle]


def matrix_descriptors(tm: TensorMapFields, smem_base: int = 0) -> list[MatrixDescriptor]:
    """The descriptors with which `wgmma` reads a box that TMA put at `smem_base`: one for each 16 columns of K.

    The box is (columns, rows) or (columns, rows, groups) of a 2-byte type, its groups side by side in K. A row fills
    the swizzle's span, or 16 bytes without swizzle. Raises InputError for a box that no descriptor describes.
    """
    base, dims, span = read_size("smem_base", smem_base), copied_dim(tm), pattern(tm.swizzle).span_bytes or CHUNK_BYTES
    _mode(tm.swizzle)
    if tm.element.bits != 16 or tm.interleave != "none" or tm.rank not in (2, 3):
        raise InputError(
            "not a tile of 2-byte elements", field="dtype", value=f"{tm.dtype}, rank {tm.rank}",
            fix="use float16 or bfloat16, and a box of (columns, rows) or (columns, rows, groups)",
        )  # fmt: skip
    if row_bytes(tm) != span:
        raise InputError(
            f"wgmma finds the next row of {tm.swizzle} {span} bytes further on, and a row of the box has "
            f"{row_bytes(tm)} bytes", field="box_dim[0]", value=dims[0], limit=span // 2,
            fix=f"use {span // 2} columns and a dimension of groups, or another swizzle",
        )  # fmt: skip
    height, groups = dims[1], rows(tm) // dims[1]
    if height % CORE_ROWS or groups * span % STEP_BYTES:
        raise InputError(
            f"wgmma reads {CORE_ROWS} rows and {STEP_ELEMS} columns at a time", field="box_dim", value=list(dims),
            limit=CORE_ROWS, fix=f"use a multiple of {CORE_ROWS} rows and {STEP_ELEMS} columns",
        )  # fmt: skip
    group_bytes = height * span
    leading = group_bytes if tm.swizzle == "none" else CHUNK_BYTES  # 16: what the manual assumes where it is not read
    starts = (base + at // span * group_bytes + at % span for at in range(0, groups * span, STEP_BYTES))
    return [MatrixDescriptor(start, leading, CORE_ROWS * span, tm.swizzle) for start in starts]


def elements_read(
    tm: TensorMapFields, descriptors: Sequence[MatrixDescriptor], smem_base: int = 0, rows: int = OPERAND_ROWS
) -> Ints:
    """Which element of the box `wgmma` reads in place of each: int64[rows, 16 * len(descriptors)].

    Elements are numbered as in the tile, row by row, whatever their place in shared memory: `row * columns + column`,
    columns counted over all groups. NOTHING (-1) where no element of the box stands. The right descriptors give
    0, 1, 2 …
    """
    places = shared_offsets(tm, smem_base)
    width, height = places.shape[:2]
    groups = places.size // (width * height)
    column, row, group = np.meshgrid(np.arange(width), np.arange(height), np.arange(groups), indexing="ij")
    number = row * width * groups + group * width + column
    asked = np.concatenate([descriptor.offsets(rows) for descriptor in descriptors], axis=1)
    there = np.full(max(int(np.max(places)), int(np.max(asked))) + 2, NOTHING, np.int64)
    there[places.reshape(number.shape)] = number
    found: Ints = there[asked]
    return found
