"""The rules that `cuTensorMapEncodeTiled` and `cuTensorMapEncodeIm2col` share: address, dimensions, strides, types.

    address ─┬─ global_strides[0] ─▶┌──────────────┐
             │   (a multiple of 16) │ row 0        │  global_dim[0] elements, 1 to 2^32
             └─────────────────────▶│ row 1        │

>>> from tmalab import TensorMap
>>> [found] = TensorMap.tiled("float32", (1733, 128), (6932,), (64, 32)).violations()
>>> found.message
'global_strides[0]=6932 bytes leaves 4 after division by 16; a stride must be a multiple of 16 bytes.'
>>> found.fix
'Pad it to 6944 bytes (1736 float32 elements), or copy without TMA.'
"""

from __future__ import annotations

from collections.abc import Iterator

from tmalab.model.rules.rule import BLACKWELL, MEASURED, Arch, Finding, listed, rule, show
from tmalab.model.tensor_map_fields import TensorMapFields

DRIVER_API = "CUDA driver API, cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col"
LARGEST_DIM = 1 << 32
LARGEST_STRIDE = (1 << 40) - 16  # below 2^40, and a multiple of 16
PADDED_TYPES = ("16u4_align16b", "16u6_align16b")


def needs_32_bytes(tm: TensorMapFields, arch: Arch) -> bool:
    """Whether the address and the strides must be multiples of 32 bytes and not of 16."""
    return tm.interleave == "32B" or (tm.dtype in PADDED_TYPES and arch.name in BLACKWELL)


# --- Where the tensor starts -----------------------------------------------------------------------------------------


def _misaligned_address(tm: TensorMapFields, alignment: int) -> Iterator[Finding]:
    if tm.address is not None and tm.address % alignment:
        hexadecimal = f"{tm.address:#x}" if tm.address.bit_length() <= 64 else show(tm.address)
        yield (
            "address", tm.address, alignment,
            f"address={hexadecimal} leaves {tm.address % alignment} after division by {alignment}; "
            f"the base address must be a multiple of {alignment}.",
            "Keep an aligned base and put the offset into the coordinates, or copy without TMA.",
        )  # fmt: skip


@rule("base_address_align_16", "The base address is a multiple of 16", written=f"{DRIVER_API}, globalAddress")
def base_address_align_16(tm: TensorMapFields, arch: Arch) -> Iterator[Finding]:
    """The engine reads global memory in pieces of 16 bytes, so the tensor's first byte lies on a multiple of 16.

    An address that is not known breaks nothing. There is no rule of 128 bytes for global memory: that one is shared
    memory's.
    """
    if not needs_32_bytes(tm, arch):
        yield from _misaligned_address(tm, 16)


@rule(
    "base_address_align_32", "With 32-byte slices the base address is a multiple of 32",
    written=f"{DRIVER_API}, globalAddress",
)  # fmt: skip
def base_address_align_32(tm: TensorMapFields, arch: Arch) -> Iterator[Finding]:
    """With interleave 32B, and for the packed types that are padded to 16 bytes, the base is a multiple of 32."""
    if needs_32_bytes(tm, arch):
        yield from _misaligned_address(tm, 32)


@rule(
    "base_address_range", "The base address is below 2^57", written=f"{DRIVER_API}, globalAddress (void *)",
    measured=f"that it is 57 bits and not 64 was {MEASURED}",
)  # fmt: skip
def base_address_range(tm: TensorMapFields, arch: Arch) -> Iterator[Finding]:
    """A base address has 57 bits; the driver refuses a larger one. It need not be memory that exists: null is taken."""
    bits = 57 if arch.measured else 64
    if tm.address is not None and not 0 <= tm.address < 1 << bits:
        yield (
            "address", tm.address, 0 if tm.address < 0 else (1 << bits) - 16,
            f"address={show(tm.address)}; a base address is at least 0 and below 2^{bits}.",
            "Give the address of device memory, or none to leave it open.",
        )  # fmt: skip


# --- How large it is -------------------------------------------------------------------------------------------------


@rule("global_dim_range_1_2pow32", "A dimension has 1 to 2^32 elements", written=f"{DRIVER_API}, globalDim")
def global_dim_range(tm: TensorMapFields, arch: Arch) -> Iterator[Finding]:
    """Each entry of `global_dim` counts elements, is at least 1 and at most 2^32 (4294967296), 2^32 included."""
    for position, size in listed(tm.global_dim):
        if not 1 <= size <= LARGEST_DIM:
            yield (
                f"global_dim[{position}]", size, 1 if size < 1 else LARGEST_DIM,
                f"global_dim[{position}]={show(size)}; a dimension has 1 to {LARGEST_DIM} elements.",
                "Use at least 1, and issue no copy for an empty tensor." if size < 1 else
                f"Use at most {LARGEST_DIM}, and describe the rest with another tensor map.",
            )  # fmt: skip


# --- How far its rows lie apart --------------------------------------------------------------------------------------


def _misaligned_strides(tm: TensorMapFields, alignment: int) -> Iterator[Finding]:
    for position, stride in listed(tm.global_strides):
        if stride % alignment:
            yield (
                f"global_strides[{position}]", stride, alignment,
                f"global_strides[{position}]={show(stride)} bytes leaves {stride % alignment} after division by "
                f"{alignment}; a stride must be a multiple of {alignment} bytes.",
                _stride_fix(tm, position, stride, alignment),
            )  # fmt: skip


def _stride_fix(tm: TensorMapFields, position: int, stride: int, alignment: int) -> str:
    elem_bytes = tm.element.bytes
    if tm.global_dim[position + 1] == 1:
        return f"Dimension {position + 1} has size 1, so its stride is never used: give any multiple of {alignment}."
    if position == 0 and stride == 1:
        return "Leave the stride of dimension 0 out: it is one element, and strides are in bytes from dimension 1 on."
    in_bytes = stride * elem_bytes
    if tm.global_dim[0] <= stride < tm.global_dim[0] * elem_bytes and in_bytes % alignment == 0:
        return f"If {show(stride)} counts elements, give {show(in_bytes)}: strides are in bytes."
    padded = stride - stride % alignment + alignment
    whole = padded % elem_bytes == 0 and not tm.element.packed
    elements = f" ({show(padded // elem_bytes)} {tm.dtype} elements)" if whole else ""
    return f"Pad it to {show(padded)} bytes{elements}, or copy without TMA."


@rule("global_stride_multiple_16", "A stride is a multiple of 16 bytes", written=f"{DRIVER_API}, globalStrides")
def global_stride_multiple_16(tm: TensorMapFields, arch: Arch) -> Iterator[Finding]:
    """Each entry of `global_strides` is in bytes and a multiple of 16; it is the pitch that counts, not the width.

    1004 float16 columns in a pitch of 1008 are legal. A stride of 0 and strides that overlap are taken too.
    """
    if not needs_32_bytes(tm, arch):
        yield from _misaligned_strides(tm, 16)


@rule(
    "global_stride_multiple_32", "With 32-byte slices a stride is a multiple of 32 bytes",
    written=f"{DRIVER_API}, globalStrides",
)  # fmt: skip
def global_stride_multiple_32(tm: TensorMapFields, arch: Arch) -> Iterator[Finding]:
    """With interleave 32B, and for the packed types that are padded to 16 bytes, strides are multiples of 32."""
    if needs_32_bytes(tm, arch):
        yield from _misaligned_strides(tm, 32)


@rule("global_stride_range_0_2pow40", "A stride is below 2^40 bytes", written=f"{DRIVER_API}, globalStrides")
def global_stride_range(tm: TensorMapFields, arch: Arch) -> Iterator[Finding]:
    """Each entry of `global_strides` is at least 0 and less than 2^40 bytes; the engine cannot walk backwards."""
    for position, stride in listed(tm.global_strides):
        if not 0 <= stride <= LARGEST_STRIDE + 15:
            yield (
                f"global_strides[{position}]", stride, 0 if stride < 0 else LARGEST_STRIDE,
                f"global_strides[{position}]={show(stride)} bytes; a stride is at least 0 and below 2^40 bytes.",
                "Copy the view so that its rows go upwards, or describe it unreversed and reverse the coordinates."
                if stride < 0 else f"Use at most {LARGEST_STRIDE}, or move the base address between copies.",
            )  # fmt: skip


# --- Which elements are taken, and what stands in for those outside --------------------------------------------------


@rule(
    "element_stride_range_1_8", "An element stride is 1 to 8", written=f"{DRIVER_API}, elementStrides",
    measured=f"that the first entry is checked without interleave too was {MEASURED}",
)  # fmt: skip
def element_stride_range(tm: TensorMapFields, arch: Arch) -> Iterator[Finding]:
    """Each entry of `element_strides` is 1 to 8.

    The manual says that without interleave the first entry is ignored. The engine ignores it, but the driver refuses
    it outside 1 to 8 all the same.
    """
    for position, stride in listed(tm.element_strides):
        if not 1 <= stride <= 8 and (position or arch.measured or tm.interleave != "none"):
            ignored = position == 0 and tm.interleave == "none"
            yield (
                f"element_strides[{position}]", stride, 1 if stride < 1 else 8,
                f"element_strides[{position}]={show(stride)}; an element stride is 1 to 8.",
                "Use 1: the engine ignores the first one, the driver does not." if ignored else "Use 1 to 8.",
            )  # fmt: skip


_FLOAT_OF_BITS = {16: "float16", 32: "float32", 64: "float64"}


@rule("nan_fill_needs_float_dtype", "NaN fill needs a floating-point type", written=f"{DRIVER_API}, oobFill")
def nan_fill_needs_float_dtype(tm: TensorMapFields, arch: Arch) -> Iterator[Finding]:
    """`oob_fill="nan"` (NAN_REQUEST_ZERO_FMA) is for floating-point types, not for integers and packed types."""
    if tm.oob_fill == "nan" and not tm.element.is_float:
        as_float = _FLOAT_OF_BITS.get(tm.element.bits)
        yield (
            "oob_fill", "nan", "none",
            f"oob_fill=nan with {tm.dtype} elements; NaN fill needs a floating-point type.",
            f"Use oob_fill none{f', or describe the elements as {as_float}' if as_float else ''}.",
        )  # fmt: skip
