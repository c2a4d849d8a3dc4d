"""How much one box is: its rows in shared memory, the bytes that a barrier counts, the bytes that it spans.

    a row     row_bytes ─ padded to the swizzle span ─▶ row_pitch_bytes          128B: 32 bytes stand 128 apart
    the box   transaction_bytes = what is copied       footprint_bytes = what it stands in, padding included

>>> from tmalab.model.tensor_map_fields import TensorMapFields
>>> tm = TensorMapFields.tiled("float32", (64, 64), (256,), (8, 16), swizzle="128B")
>>> row_bytes(tm), row_pitch_bytes(tm), transaction_bytes(tm), footprint_bytes(tm)
(32, 128, 512, 2048)

Plain integers, no numpy: a page of the book runs this file in the reader's browser.
"""

from __future__ import annotations

from math import prod

from tmalab.errors import TensorMapError
from tmalab.model.swizzle import span_bytes
from tmalab.model.tensor_map_fields import TensorMapFields

SLICE_BYTES = {"16B": 16, "32B": 32}

# Bytes that 16 elements of a packed type take in shared memory; in global memory they are packed without gaps.
# Source: CUDA driver API, CUtensorMapDataType. Read, not measured: sm_90 has no such types.
PACKED_GROUP = 16
PACKED_SMEM_BYTES = {"16u4_align8b": 8, "16u4_align16b": 16, "16u6_align16b": 16}


def unit_bytes(tm: TensorMapFields) -> int:
    """Bytes that one step along dimension 0 copies: an element or, where the layout is interleaved, a whole slice.

    Measured on H200 and in no manual: with interleave 16B or 32B the engine counts dimension 0 (coordinate, box and
    element stride) in slices of 16 or 32 bytes, whatever the element type.
    """
    return SLICE_BYTES.get(tm.interleave, tm.element.bytes)


def used_strides(tm: TensorMapFields) -> tuple[int, ...]:
    """The element strides as the engine takes them: without interleave the first is 1, whatever the map says."""
    return tm.element_strides if tm.interleave != "none" else (1, *tm.element_strides[1:])


def copied_dim(tm: TensorMapFields) -> tuple[int, ...]:
    """What one copy brings, in units, innermost first; for an im2col map (channels, pixels).

    - `element_strides[d]` > 1 leaves ceil(box_dim[d] / element_strides[d]). Dimension 0 is not thinned out unless
      the layout is interleaved: the engine ignores the first element stride, whatever it is, and so does this.
    - Interleaved, dimension rank-2 holds the slices of channels (NC/8HWC8: the engine's order is W, H, D, C/8, N),
      and one copy takes one slice, whatever box_dim[rank-2] says (measured on H200, in no manual).

    Raises TensorMapError for a map whose rank, box or element strides no copy can have; a size of 0 gives 0.
    """
    if not 1 <= tm.rank <= 5:
        raise _refused(tm)
    steps = used_strides(tm)
    if tm.kind == "im2col":
        sizes = (tm.channels_per_pixel or 0, tm.pixels_per_column or 0)
        if min(sizes) < 0 or tm.rank < 3 or min(steps) < 1:
            raise _refused(tm)
        return sizes if tm.interleave == "none" else (1, sizes[1])
    if min(tm.box_dim) < 0 or min(steps) < 1:
        raise _refused(tm)
    counts = [-(-size // step) for size, step in zip(tm.box_dim, steps, strict=True)]
    if tm.interleave != "none" and tm.rank > 1:
        counts[tm.rank - 2] = min(counts[tm.rank - 2], 1)
    return tuple(counts)


def row_bytes(tm: TensorMapFields) -> int:
    """Bytes of shared memory that one row (dimension 0, or a pixel's channels) fills."""
    units = copied_dim(tm)[0]
    if tm.element.packed:
        return -(-units // PACKED_GROUP) * PACKED_SMEM_BYTES[tm.dtype]
    return units * unit_bytes(tm)


def row_pitch_bytes(tm: TensorMapFields) -> int:
    """Bytes from one row of the box to the next in shared memory.

    A row that is narrower than the swizzle span is padded to it; the padding is not written. Interleaved, slices
    follow each other without a gap. Measured on H200; no manual says either.
    """
    return max(row_bytes(tm), span_bytes(tm.swizzle)) if tm.interleave == "none" else row_bytes(tm)


def rows(tm: TensorMapFields) -> int:
    """How many rows the box has: all its dimensions but the innermost, or an im2col map's pixels."""
    return prod(copied_dim(tm)[1:])


def transaction_bytes(tm: TensorMapFields) -> int:
    """Bytes that one load completes on its mbarrier: every unit of the box, out-of-bounds ones included, no padding.

    Of a packed type it is the packed bytes, without the gaps in shared memory (read in DeepGEMM, not measured).
    Raises TensorMapError as `copied_dim` does.
    """
    if tm.element.packed:
        return prod(copied_dim(tm)) * tm.element.bits // 8
    return prod(copied_dim(tm)) * unit_bytes(tm)


def footprint_bytes(tm: TensorMapFields) -> int:
    """Bytes of shared memory to set aside for one box: from its address, all that it can be written to.

    The padding of every row counts, the last one's too: a swizzle moves a chunk within its span of 32, 64 or 128
    bytes, and never out of it. Raises TensorMapError as `copied_dim` does.
    """
    span = max(span_bytes(tm.swizzle), 1)
    return -(-rows(tm) * row_pitch_bytes(tm) // span) * span


def _refused(tm: TensorMapFields) -> TensorMapError:
    from tmalab.model import rules  # late: the rules of a launch import this module

    return TensorMapError(rules.violations(tm))
