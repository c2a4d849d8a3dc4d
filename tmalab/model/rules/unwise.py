"""What the driver takes and a careful reader would not: legal but unwise, never mixed with violations.

    global_dim[0]=40  ├────────────────────────────────────────┤
    box_dim[0]=64     ├───────────────────────────────────────────────────────────────┤  24 are always fill

>>> from tmalab import TensorMap
>>> [found] = TensorMap.tiled("float32", (40,), (), (64,)).warnings()
>>> found.message
'box_dim[0]=64 is wider than global_dim[0]=40; the 24 past the tensor are filled on a load and dropped on a store.'
"""

from __future__ import annotations

from collections.abc import Iterator

from tmalab.model import box_bytes
from tmalab.model.rules.allocation import is_plausible
from tmalab.model.rules.box import BLOCK_SMEM_BYTES, box_fits_shared_memory, inner_row
from tmalab.model.rules.rule import MEASURED, Arch, Finding, listed, rule, show
from tmalab.model.swizzle import PATTERNS
from tmalab.model.tensor_map_fields import TensorMapFields


@rule("null_global_address", "The base address is null", measured=MEASURED)
def null_global_address(tm: TensorMapFields, arch: Arch) -> Iterator[Finding]:
    """The encoder takes a null base (an older driver refused it). A copy through such a map faults."""
    if tm.address == 0:
        yield (
            "address", 0, None, "address=0; the encoder takes a null base, and a copy through it faults.",
            "Encode with the tensor's address, or patch the map with cuTensorMapReplaceAddress before it is used.",
        )  # fmt: skip


@rule("box_wider_than_tensor", "The box is wider than the tensor", kinds=("tiled",), measured=MEASURED)
def box_wider_than_tensor(tm: TensorMapFields, arch: Arch) -> Iterator[Finding]:
    """No rule holds the box to the tensor. What lies past it is filled on a load, and its bytes count all the same."""
    for (position, size), box in zip(listed(tm.global_dim), tm.box_dim, strict=False):
        if box > size > 0:
            yield (
                f"box_dim[{position}]", box, size,
                f"box_dim[{position}]={show(box)} is wider than global_dim[{position}]={show(size)}; the "
                f"{show(box - size)} past the tensor are filled on a load and dropped on a store.",
                "Use a narrower box; these bytes cost shared memory, and a load's barrier counts them.",
            )  # fmt: skip


@rule("size_1_dimension_stride", "A dimension of size 1 has a stride", written="CUDA driver API, globalStrides")
def size_1_dimension_stride(tm: TensorMapFields, arch: Arch) -> Iterator[Finding]:
    """The stride of a dimension of size 1 is checked by the driver and never used by the engine.

    Frameworks put anything there, so that the same code is refused for one batch of size 1 and not for the next.
    """
    for position, stride in listed(tm.global_strides):
        if tm.global_dim[position + 1] == 1:
            yield (
                f"global_strides[{position}]", stride, None,
                f"global_strides[{position}]={show(stride)} belongs to global_dim[{position + 1}]=1; the driver checks "
                "it, and no copy uses it.",
                "Leave the dimension out, or compute the stride instead of taking it from the array.",
            )  # fmt: skip


@rule("strides_overlap", "Rows overlap", written="CUDA driver API, globalStrides")
def strides_overlap(tm: TensorMapFields, arch: Arch) -> Iterator[Finding]:
    """A stride that is smaller than what lies within it makes two coordinates name the same byte.

    Loads see it twice, which a sliding window may want; stores and reductions race. A stride of 0 repeats one row.
    """
    if tm.interleave != "none" or not is_plausible(tm):
        return
    # From the smallest stride to the largest: each must step over all that lies within it.
    extent = (tm.global_dim[0] * tm.element.bits + 7) // 8
    for stride, position in sorted((stride, position) for position, stride in enumerate(tm.global_strides)):
        size = tm.global_dim[position + 1]
        if size > 1 and stride < extent:
            yield (
                f"global_strides[{position}]", stride, extent,
                f"global_strides[{position}]={stride} bytes is less than the {extent} bytes that lie within it; "
                "rows overlap.",
                f"Use at least {extent + -extent % 16}, or store through another tensor map.",
            )  # fmt: skip
        extent += (size - 1) * stride


@rule("swizzled_row_is_padded", "A row of the box is padded to the swizzle span", written="PTX ISA, Swizzling Modes")
def swizzled_row_is_padded(tm: TensorMapFields, arch: Arch) -> Iterator[Finding]:
    """A swizzled row that does not fill its span keeps the span's pitch in shared memory: the rest is never written."""
    span = PATTERNS[tm.swizzle].span_bytes
    field, count = inner_row(tm)
    row_bytes = count * tm.element.bits // 8
    if tm.interleave == "none" and not tm.element.packed and 0 < row_bytes < span:
        yield (
            field, row_bytes, span,
            f"{field}={count} {tm.dtype} elements is {row_bytes} bytes; SWIZZLE_{tm.swizzle} keeps a pitch of {span} "
            f"bytes in shared memory, and {span - row_bytes} of them are never written.",
            f"Use {span // tm.element.bytes}, or a narrower swizzle.",
        )  # fmt: skip


@rule("interleave_32B_without_swizzle_32B", "Interleave 32B without swizzle 32B", measured=MEASURED)
def interleave_32b_without_swizzle_32b(tm: TensorMapFields, arch: Arch) -> Iterator[Finding]:
    """The manual asks for swizzle 32B with interleave 32B. On sm_90 the driver takes any other one too."""
    if tm.interleave == "32B" and tm.swizzle != "32B":
        yield (
            "swizzle", tm.swizzle, "32B",
            f"swizzle={tm.swizzle} with interleave 32B; the manual allows SWIZZLE_32B only, and the driver on sm_90 "
            "does not ask.",
            "Use SWIZZLE_32B.",
        )  # fmt: skip


@rule(
    "inner_element_stride_ignored", "The first element stride has no effect",
    written="CUDA driver API, cuTensorMapEncodeTiled, elementStrides",
)  # fmt: skip
def inner_element_stride_ignored(tm: TensorMapFields, arch: Arch) -> Iterator[Finding]:
    """Without interleave the engine takes every element of a row, whatever `element_strides[0]` says."""
    if tm.interleave == "none" and tm.element_strides and tm.element_strides[0] != 1:
        yield (
            "element_strides[0]", tm.element_strides[0], 1,
            f"element_strides[0]={show(tm.element_strides[0])} has no effect; without interleave a row is taken whole.",
            "Use 1, and thin the row out when it is read from shared memory.",
        )  # fmt: skip


@rule("footprint_past_shared_memory", "The copy is larger than the encoder thinks", kinds=("tiled",), measured=MEASURED)
def footprint_past_shared_memory(tm: TensorMapFields, arch: Arch) -> Iterator[Finding]:
    """The encoder takes boxes that no block's shared memory can hold.

    It rounds `box_dim[i] / element_strides[i]` down where the engine rounds up, it leaves out what a swizzle pads a
    row to, and it counts elements where an interleaved copy brings whole slices.
    """
    box_legal = 1 <= tm.rank <= 5 and all(1 <= size <= 256 for size in tm.box_dim)
    strides_legal = all(1 <= step <= 8 for step in tm.element_strides[:6])
    if not (box_legal and strides_legal) or any(box_fits_shared_memory.check(tm, arch)):
        return
    footprint = box_bytes.footprint_bytes(tm)
    if footprint > BLOCK_SMEM_BYTES:
        yield (
            "box_dim", footprint, BLOCK_SMEM_BYTES,
            f"The box stands in {footprint} bytes of shared memory; a block has at most {BLOCK_SMEM_BYTES}, and the "
            "encoder counts fewer.",
            "Use a smaller box.",
        )  # fmt: skip
