"""What sm_90 lacks, and what the manuals write for sm_100 and sm_120, where none of it was measured here.

    sm_90            sm_100, sm_120
    no packed types  16u4_align8b, 16u4_align16b, 16u6_align16b, each with rules of its own
    16-byte atoms    atoms of 16, 32 and 64 bytes

>>> from tmalab import TensorMap
>>> packed = TensorMap.tiled("16u4_align8b", (256, 128), (128,), (128, 64))
>>> [found.message for found in packed.violations()]
['dtype=16u4_align8b; packed 4-bit and 6-bit types need sm_100 or later.']
>>> packed.violations("sm_100")
[]
"""

from __future__ import annotations

from collections.abc import Iterator

from tmalab.model.rules.box import inner_row
from tmalab.model.rules.rule import BLACKWELL, MEASURED, Arch, Finding, rule, show
from tmalab.model.rules.shared import DRIVER_API, PADDED_TYPES
from tmalab.model.tensor_map_fields import TensorMapFields

# --- sm_90 -----------------------------------------------------------------------------------------------------------


@rule("packed_type_needs_sm100", "Packed 4-bit and 6-bit types need sm_100 or later", measured=MEASURED)
def packed_type_needs_sm100(tm: TensorMapFields, arch: Arch) -> Iterator[Finding]:
    """On sm_90 the driver refuses every packed type, whatever the other fields say."""
    if tm.element.packed:
        yield (
            "dtype", tm.dtype, "sm_100",
            f"dtype={tm.dtype}; packed 4-bit and 6-bit types need sm_100 or later.",
            f"On {arch.name} describe the bytes as uint8, and unpack them in the kernel.",
        )  # fmt: skip


@rule("atom_swizzle_needs_sm100", "Swizzle atoms of 32 and 64 bytes need sm_100 or later", measured=MEASURED)
def atom_swizzle_needs_sm100(tm: TensorMapFields, arch: Arch) -> Iterator[Finding]:
    """On sm_90 the driver refuses 128B_ATOM_32B, 128B_ATOM_32B_FLIP_8B and 128B_ATOM_64B."""
    if "_ATOM_" in tm.swizzle:
        yield (
            "swizzle", tm.swizzle, "sm_100",
            f"swizzle={tm.swizzle}; swizzle atoms of 32 and 64 bytes need sm_100 or later.",
            f"On {arch.name} use SWIZZLE_128B, whose atom is 16 bytes.",
        )  # fmt: skip


# --- sm_100 and sm_120: read, not measured ---------------------------------------------------------------------------


@rule(
    "interleave_32B_needs_swizzle_32B", "Interleave 32B goes with swizzle 32B", arches=BLACKWELL,
    written=f"{DRIVER_API}, swizzle",
)  # fmt: skip
def interleave_32b_needs_swizzle_32b(tm: TensorMapFields, arch: Arch) -> Iterator[Finding]:
    """The manual allows no other swizzle with interleave 32B. On sm_90 the driver takes any (measured): a warning."""
    if tm.interleave == "32B" and tm.swizzle != "32B":
        yield (
            "swizzle", tm.swizzle, "32B",
            f"swizzle={tm.swizzle} with interleave 32B; the manual allows SWIZZLE_32B only.",
            "Use SWIZZLE_32B, or interleave 16B.",
        )  # fmt: skip


@rule(
    "packed_global_dim_multiple", "A packed row has a whole number of groups", arches=BLACKWELL,
    written=f"{DRIVER_API}, globalDim",
)  # fmt: skip
def packed_global_dim_multiple(tm: TensorMapFields, arch: Arch) -> Iterator[Finding]:
    """`global_dim[0]` counts single 4-bit or 6-bit values: a multiple of 128, or of 2 for 16u4_align8b."""
    multiple = 128 if tm.dtype in PADDED_TYPES else 2
    if tm.element.packed and tm.global_dim and tm.global_dim[0] % multiple:
        yield (
            "global_dim[0]", tm.global_dim[0], multiple,
            f"global_dim[0]={show(tm.global_dim[0])} {tm.dtype} values; it must be a multiple of {multiple}.",
            "Pad the row, and count single values and not bytes.",
        )  # fmt: skip


@rule(
    "packed_row_is_128_values", "A row of a padded packed type is 128 values", arches=BLACKWELL,
    written=f"{DRIVER_API}, boxDim and channelsPerPixel",
)  # fmt: skip
def packed_row_is_128_values(tm: TensorMapFields, arch: Arch) -> Iterator[Finding]:
    """With 16u4_align16b and 16u6_align16b `box_dim[0]` (or `channels_per_pixel`) is 128 exactly.

    16 values fill 16 bytes of shared memory, padding included, so that such a row is 128 bytes there.
    """
    field, count = inner_row(tm)
    if tm.dtype in PADDED_TYPES and count != 128:
        yield (
            field, count, 128,
            f"{field}={show(count)} {tm.dtype} values; a row of this type has 128.",
            "Use 128, or 16u4_align8b where 4-bit values need no padding.",
        )  # fmt: skip


_PACKED_SWIZZLES = {
    "16u4_align16b": ("none", "128B", "128B_ATOM_32B"),
    "16u6_align16b": ("none", "128B", "128B_ATOM_32B", "128B_ATOM_64B"),
}


@rule(
    "packed_swizzle_modes", "A padded packed type has few swizzle modes", arches=BLACKWELL,
    written=f"{DRIVER_API}, swizzle",
)  # fmt: skip
def packed_swizzle_modes(tm: TensorMapFields, arch: Arch) -> Iterator[Finding]:
    """Both padded types take none, 128B and 128B_ATOM_32B; 16u6_align16b takes 128B_ATOM_64B too, for stores only."""
    allowed = _PACKED_SWIZZLES.get(tm.dtype, (tm.swizzle,))
    if tm.swizzle not in allowed:
        yield (
            "swizzle", tm.swizzle, ", ".join(allowed),
            f"swizzle={tm.swizzle} with {tm.dtype} values; the manual allows {', '.join(allowed)}.",
            "Use SWIZZLE_128B or none.",
        )  # fmt: skip


@rule(
    "packed_16u6_needs_no_interleave", "16u6_align16b is not interleaved", arches=BLACKWELL,
    written=f"{DRIVER_API}, interleave",
)  # fmt: skip
def packed_16u6_needs_no_interleave(tm: TensorMapFields, arch: Arch) -> Iterator[Finding]:
    """16u6_align16b requires interleave none."""
    if tm.dtype == "16u6_align16b" and tm.interleave != "none":
        yield (
            "interleave", tm.interleave, "none",
            f"interleave={tm.interleave} with 16u6_align16b values; the manual allows none only.",
            "Use interleave none.",
        )  # fmt: skip
