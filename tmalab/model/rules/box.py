"""The rules for the box's row and for the whole of it, in tiled and in im2col maps alike.

    a row: box_dim[0] elements       a multiple of 16 bytes, no wider than the swizzle span
    a box: all that one copy takes   no more than a block's shared memory

>>> from tmalab import TensorMap
>>> [found] = TensorMap.tiled("bfloat16", (4096, 4096), (8192,), (96, 64), swizzle="128B").violations()
>>> found.message
'box_dim[0]=96 bfloat16 elements is 192 bytes; SWIZZLE_128B allows 128.'
>>> found.fix
'Use at most 64, or split the row into two boxes.'
"""

from __future__ import annotations

from collections.abc import Iterator

from tmalab.model.rules.rule import MEASURED, Arch, Finding, listed, plural, rule, show
from tmalab.model.swizzle import PATTERNS
from tmalab.model.tensor_map_fields import TensorMapFields

# The encoder holds a box against the shared memory of a whole SM, 228 KiB on sm_90, of which a block can have 227
# (CUDA programming guide, technical specifications).
ENCODER_BOX_BYTES = 228 * 1024
BLOCK_SMEM_BYTES = 227 * 1024


def inner_row(tm: TensorMapFields) -> tuple[str, int]:
    """The field that says how many elements one row of the box has, and that number."""
    if tm.kind == "im2col":
        return "channels_per_pixel", tm.channels_per_pixel or 0
    return "box_dim[0]", tm.box_dim[0] if tm.box_dim else 0


def _row_in_bytes(field: str, count: int, tm: TensorMapFields) -> str:
    return f"{field}={show(count)} {tm.dtype} element{'s'[: count != 1]} is {show(count * tm.element.bits // 8)} bytes"


@rule(
    "box_inner_bytes_multiple_16", "A row of the box is a multiple of 16 bytes",
    written="CUDA driver API, cuTensorMapEncodeTiled, boxDim",
    measured=f"that it holds with interleave and for im2col's channels too was {MEASURED}",
)  # fmt: skip
def box_inner_bytes_multiple_16(tm: TensorMapFields, arch: Arch) -> Iterator[Finding]:
    """The row of a box (`box_dim[0]`, or `channels_per_pixel` in im2col) is a multiple of 16 bytes.

    The manual says so for tiled maps without interleave. The driver asks it of interleaved and of im2col maps too,
    and of interleave 32B no more than 16.
    """
    field, count = inner_row(tm)
    if count * tm.element.bits % 128 == 0 or count < 0:
        return
    if tm.element.packed and (arch.measured or tm.dtype != "16u4_align8b"):
        return  # sm_90 refuses the type whatever its row, and the padded types have rows of 128 exactly
    if arch.measured or (tm.kind == "tiled" and tm.interleave == "none"):
        yield (
            field, count * tm.element.bits // 8, 16,
            f"{_row_in_bytes(field, count, tm)}; a row of the box must be a multiple of 16 bytes.",
            f"Use a multiple of {128 // tm.element.bits} elements.",
        )  # fmt: skip


@rule(
    "box_inner_le_swizzle_span",
    "A row of the box fits into the swizzle span",
    written="CUDA driver API, cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col, interleave",
)
def box_inner_le_swizzle_span(tm: TensorMapFields, arch: Arch) -> Iterator[Finding]:
    """Without interleave a swizzled row is at most 32, 64 or 128 bytes wide, as the swizzle mode says.

    It need not fill the span: a shorter row is padded to it in shared memory. An interleaved box has no such rule.
    """
    span = PATTERNS[tm.swizzle].span_bytes
    if not span or tm.interleave != "none" or tm.element.packed:
        return
    field, count = inner_row(tm)
    row_bytes = count * tm.element.bytes
    if row_bytes > span:
        remedies = f"split the row into {plural(-(-row_bytes // span), 'box')}"
        wider = [word for word in ("64B", "128B") if row_bytes <= PATTERNS[word].span_bytes]
        remedies += f", or use SWIZZLE_{wider[0]}" if wider else ""
        yield (
            field, row_bytes, span,
            f"{_row_in_bytes(field, count, tm)}; SWIZZLE_{tm.swizzle} allows {span}.",
            f"Use at most {span // tm.element.bytes}, or {remedies}.",
        )  # fmt: skip


@rule("box_fits_shared_memory", "The whole box is at most 228 KiB", measured=MEASURED)
def box_fits_shared_memory(tm: TensorMapFields, arch: Arch) -> Iterator[Finding]:
    """All that one copy takes is at most 233472 bytes (228 KiB), the shared memory of an SM. No manual says so.

    The driver counts `box_dim[i] // element_strides[i]` elements, rounded down, in each dimension, where the engine
    rounds up and takes rows whole: a stride longer than the box passes whatever the box's size. Padding is not
    counted. In im2col it counts `channels_per_pixel` times `pixels_per_column`.
    """
    if tm.element.packed:
        return
    # An entry that breaks its own rule counts as the nearest legal one: what it would be when that is mended.
    if tm.kind == "im2col":
        taken = [min(max(tm.channels_per_pixel or 0, 1), 256), min(max(tm.pixels_per_column or 0, 1), 1024)]
    else:
        taken = []
        for position, size in listed(tm.box_dim):
            step = tm.element_strides[position]
            size = size if 1 <= size <= 256 else 1 if size < 1 else 256
            taken.append(size if step <= 1 else size // min(step, 8))
    total = tm.element.bytes
    for count in taken:
        total *= count
    if total > ENCODER_BOX_BYTES:
        yield (
            "box_dim" if tm.kind == "tiled" else "pixels_per_column", total, ENCODER_BOX_BYTES,
            f"A box of {'x'.join(map(str, taken))} {tm.dtype} elements is {show(total)} bytes; "
            f"the driver takes at most {ENCODER_BOX_BYTES}.",
            f"Split it into {plural(-(-total // BLOCK_SMEM_BYTES), 'box')} or more.",
        )  # fmt: skip
