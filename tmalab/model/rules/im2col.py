"""The rules of `cuTensorMapEncodeIm2col` alone: rank, channels, pixels and the corners of the bounding box.

    W positions of the tensor     0 ──────────────── global_dim[1]
    window origins walked         lower ──────── global_dim[1] + upper      at least one of them

>>> from tmalab import TensorMap
>>> image = ("float16", (64, 8, 8, 1), (128, 1024, 8192))
>>> [found] = TensorMap.im2col(*image, (2, 0), (-6, 0), 64, 36, swizzle="128B").violations()
>>> found.message
'lower_corner[0]=2 and upper_corner[0]=-6 leave 0 of the 8 positions in global_dim[1]; a bounding box has 1 or more.'
"""

from __future__ import annotations

from collections.abc import Iterator

from tmalab.model.rules.rule import MEASURED, Arch, Finding, plural, rule, show
from tmalab.model.rules.shared import LARGEST_DIM
from tmalab.model.tensor_map_fields import TensorMapFields

IM2COL = ("im2col",)
DRIVER_API = "CUDA driver API, cuTensorMapEncodeIm2col"
LARGEST_CHANNELS, LARGEST_PIXELS = 256, 1024

# The map holds 16, 2 x 8 or 3 x 5 bits for a corner.
CORNER_LIMITS = {3: (-32768, 32767), 4: (-128, 127), 5: (-16, 15)}


@rule("im2col_rank_range_3_5", "An im2col map has 3 to 5 dimensions", kinds=IM2COL, written=f"{DRIVER_API}, tensorRank")
def im2col_rank_range(tm: TensorMapFields, arch: Arch) -> Iterator[Finding]:
    """An im2col tensor map has 3 to 5 dimensions: channels, one to three of space, and the batch."""
    if not 3 <= tm.rank <= 5:
        yield (
            "rank", tm.rank, 5 if tm.rank > 5 else 3,
            f"rank={tm.rank}; an im2col tensor map has 3 to 5 dimensions.",
            "Merge neighbouring dimensions until five are left." if tm.rank > 5 else "Add dimensions of size 1.",
        )  # fmt: skip


def _too_many(field: str, value: int, limit: int) -> Iterator[Finding]:
    if not 0 <= value <= limit:
        yield (
            field, value, 1 if value < 0 else limit,
            f"{field}={show(value)}; one im2col copy takes 1 to {limit}.",
            "Use at least 1." if value < 0 else f"Use {limit} and issue {plural(-(-value // limit), 'copy')}.",
        )  # fmt: skip


@rule(
    "im2col_channels_le_256", "One im2col copy takes at most 256 channels", kinds=IM2COL,
    written=f"{DRIVER_API}, channelsPerPixel",
)  # fmt: skip
def im2col_channels_le_256(tm: TensorMapFields, arch: Arch) -> Iterator[Finding]:
    """`channels_per_pixel` is at most 256; a swizzle may allow fewer."""
    yield from _too_many("channels_per_pixel", tm.channels_per_pixel or 0, LARGEST_CHANNELS)


@rule(
    "im2col_pixels_le_1024", "One im2col copy takes at most 1024 pixels", kinds=IM2COL,
    written=f"{DRIVER_API}, pixelsPerColumn",
)  # fmt: skip
def im2col_pixels_le_1024(tm: TensorMapFields, arch: Arch) -> Iterator[Finding]:
    """`pixels_per_column` is at most 1024."""
    yield from _too_many("pixels_per_column", tm.pixels_per_column or 0, LARGEST_PIXELS)


@rule("im2col_counts_ge_1", "One im2col copy takes at least one channel and one pixel", kinds=IM2COL, measured=MEASURED)
def im2col_counts_ge_1(tm: TensorMapFields, arch: Arch) -> Iterator[Finding]:
    """`channels_per_pixel` and `pixels_per_column` are not 0. The manual gives their upper limits only."""
    for field in ("channels_per_pixel", "pixels_per_column"):
        if getattr(tm, field) == 0:
            yield field, 0, 1, f"{field}=0; one im2col copy takes at least 1.", "Use at least 1."


@rule(
    "im2col_corner_range", "A corner fits into the map's 16, 8 or 5 bits", kinds=IM2COL,
    written=f"{DRIVER_API}, pixelBoxLowerCorner and pixelBoxUpperCorner",
)  # fmt: skip
def im2col_corner_range(tm: TensorMapFields, arch: Arch) -> Iterator[Finding]:
    """Corners lie in -32768 to 32767 with rank 3, in -128 to 127 with rank 4 and in -16 to 15 with rank 5."""
    if tm.rank in CORNER_LIMITS:
        least, most = CORNER_LIMITS[tm.rank]
        for name in ("lower_corner", "upper_corner"):
            for position, corner in enumerate(getattr(tm, name)):
                if not least <= corner <= most:
                    yield (
                        f"{name}[{position}]", corner, least if corner < least else most,
                        f"{name}[{position}]={show(corner)}; with rank {tm.rank} a corner lies in {least} to {most}.",
                        f"Use {least} to {most}, or move the coordinates instead.",
                    )  # fmt: skip


def first_axis(tm: TensorMapFields) -> int:
    """The dimension that the first corner belongs to, W: 1 after the channels, or 0 in an interleaved layout.

    NC/8HWC8 is (W, H, D, C/8, N) to the engine, each element of W a slice of 16 or 32 bytes of channels (measured).
    """
    return 0 if tm.interleave != "none" else 1


@rule(
    "im2col_bounding_box_not_empty", "The bounding box holds at least one position", kinds=IM2COL,
    written=f"{DRIVER_API}, pixelBoxUpperCorner",
    measured=f"that it is computed in 32 bits, and with interleave from dimension 0 on, was {MEASURED}",
)  # fmt: skip
def im2col_bounding_box_not_empty(tm: TensorMapFields, arch: Arch) -> Iterator[Finding]:
    """The size of each axis, plus its upper corner, minus its lower one (the window origins along it) is at least 1.

    The driver adds size and upper corner in 32 bits: a sum of 2^31 or more is negative, and refused. The axes begin at
    dimension 1, after the channels; in an interleaved layout W is dimension 0.
    """
    if tm.rank not in CORNER_LIMITS:
        return
    least, most = CORNER_LIMITS[tm.rank]
    for position, (lower, upper) in enumerate(zip(tm.lower_corner, tm.upper_corner, strict=True)):
        axis = position + first_axis(tm)
        # A field that breaks its own rule counts as the nearest legal one: what it would be when that is mended.
        size = min(max(tm.global_dim[axis], 1), LARGEST_DIM)
        lowest, highest = min(max(lower, least), most), min(max(upper, least), most)
        end = size + highest
        if arch.measured:
            end = (end + (1 << 31)) % (1 << 32) - (1 << 31)
        positions = end - lowest
        if positions < 1:
            yield (
                f"upper_corner[{position}]", positions, 1,
                f"lower_corner[{position}]={show(lower)} and upper_corner[{position}]={show(upper)} leave "
                f"{positions} of the {show(tm.global_dim[axis])} positions in global_dim[{axis}]; a bounding box has "
                f"1 or more{', and fewer than 2^31' if size >> 31 else ''}.",
                "Use a tensor of fewer than 2^31 elements along this axis." if size >> 31 else
                f"Use an upper corner of at least {lowest - size + 1}; for a convolution it is "
                "padding - dilation * (kernel - 1).",
            )  # fmt: skip
