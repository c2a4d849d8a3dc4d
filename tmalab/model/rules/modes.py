"""The load modes that come with sm_100, and what they ask of a tensor map: gather4, scatter4 and im2col along W.

    tile::gather4    four rows of a rank-2 tensor ──▶ one box of 4 rows     box_dim[1] is 1
    tile::scatter4   one box of 4 rows ──▶ four rows of a rank-2 tensor
    im2col::w        pixels_per_column pixels along W alone                 im2col::w::128: always 128

>>> from tmalab import TensorMap
>>> from tmalab.model.rules import mode_violations
>>> tm = TensorMap.tiled("float16", (4096, 4096), (8192,), (64, 4), swizzle="128B")
>>> [(found.rule, found.value, found.limit) for found in mode_violations(tm, "tile::gather4")]
[('gather4_box_is_one_row', 4, 1)]

All of this was read in the manuals. None of it was measured: there was no such GPU.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tmalab.model.rules.im2col import CORNER_LIMITS
from tmalab.model.rules.rule import BLACKWELL, Arch, Finding, rule, show
from tmalab.model.tensor_map_fields import TensorMapFields
from tmalab.model.violation import Violation

PTX_GATHER = "PTX ISA, .tile::scatter4 and .tile::gather4 modes"
DRIVER_WIDE = "CUDA driver API, cuTensorMapEncodeIm2colWide"
TARGETS = "PTX ISA, cp.async.bulk.tensor, Target ISA Notes"


class LoadMode(NamedTuple):
    """A mode: the kind of map that it reads, the architectures that have it, and the rules that it replaces."""

    kind: str
    arches: tuple[str, ...]
    replaces: tuple[str, ...] = ()


# Corners of the wide modes have one entry, of 16 bits whatever the rank; W128 ignores pixels_per_column.
_CORNERS = ("im2col_corner_range", "im2col_bounding_box_not_empty")
LOAD_MODES = {
    "tile::gather4": LoadMode("tiled", ("sm_100", "sm_120")),
    "tile::scatter4": LoadMode("tiled", ("sm_100",)),
    "im2col::w": LoadMode("im2col", ("sm_100", "sm_120"), _CORNERS),
    "im2col::w::128": LoadMode("im2col", ("sm_100",), (*_CORNERS, "im2col_pixels_le_1024")),
}


def unsupported(mode: str, arch: Arch) -> list[Violation]:
    """The violation that `arch` has no such load mode (gather4 and im2col::w: into shared::cta), or none."""
    supported = LOAD_MODES[mode].arches
    if arch.name in supported:
        return []
    return [
        Violation(
            "load_mode_needs_sm100", "arch", arch.name, supported[0],
            f"{arch.name} has no load mode {mode}; {' and '.join(supported)} {'have' if supported[1:] else 'has'} it.",
            "Issue one tiled copy a row." if mode.startswith("tile") else "Use the im2col mode.",
            "read in PTX ISA, cp.async.bulk.tensor, Target ISA Notes; not measured",
        )
    ]  # fmt: skip


@rule(
    "gather4_needs_rank_2", "gather4 and scatter4 take rank 2", kinds=("tiled",), arches=BLACKWELL, written=PTX_GATHER
)
def gather4_needs_rank_2(tm: TensorMapFields, arch: Arch) -> Iterator[Finding]:
    """The four rows are rows of a tensor with two dimensions."""
    if tm.rank != 2:
        yield "rank", tm.rank, 2, f"rank={tm.rank}; gather4 and scatter4 take rank 2.", "Merge the outer dimensions."


@rule("gather4_box_is_one_row", "The box of gather4 is one row", kinds=("tiled",), arches=BLACKWELL, written=PTX_GATHER)
def gather4_box_is_one_row(tm: TensorMapFields, arch: Arch) -> Iterator[Finding]:
    """`box_dim[1]` is 1: the instruction names four rows, and each is a box of its own."""
    if tm.rank == 2 and tm.box_dim[1] != 1:
        yield (
            "box_dim[1]", tm.box_dim[1], 1,
            f"box_dim[1]={show(tm.box_dim[1])}; the box of gather4 and scatter4 is one row, taken four times.",
            "Use box_dim[1]=1.",
        )  # fmt: skip


@rule(
    "gather4_needs_no_interleave", "gather4 and scatter4 are not interleaved", kinds=("tiled",), arches=BLACKWELL,
    written=PTX_GATHER,
)  # fmt: skip
def gather4_needs_no_interleave(tm: TensorMapFields, arch: Arch) -> Iterator[Finding]:
    """The interleaved layouts do not exist in these modes."""
    if tm.interleave != "none":
        yield (
            "interleave", tm.interleave, "none",
            f"interleave={tm.interleave}; gather4 and scatter4 take none.", "Use interleave none.",
        )  # fmt: skip


@rule(
    "im2col_w_needs_no_interleave", "im2col along W is not interleaved", kinds=("im2col",), arches=BLACKWELL,
    written="PTX ISA, Interleave layout",
)  # fmt: skip
def im2col_w_needs_no_interleave(tm: TensorMapFields, arch: Arch) -> Iterator[Finding]:
    """The interleaved layouts do not exist in these modes."""
    if tm.interleave != "none":
        yield (
            "interleave", tm.interleave, "none", f"interleave={tm.interleave}; im2col::w takes none.",
            "Use interleave none.",
        )  # fmt: skip


WIDE_SWIZZLES = ("64B", "128B", "128B_ATOM_32B")


@rule(
    "im2col_w_swizzle_modes", "im2col along W is swizzled", kinds=("im2col",), arches=BLACKWELL,
    written=f"{DRIVER_WIDE}, swizzle",
)  # fmt: skip
def im2col_w_swizzle_modes(tm: TensorMapFields, arch: Arch) -> Iterator[Finding]:
    """The swizzle is 64B, 128B or 128B_ATOM_32B, and never none."""
    if tm.swizzle not in WIDE_SWIZZLES:
        yield (
            "swizzle", tm.swizzle, ", ".join(WIDE_SWIZZLES),
            f"swizzle={tm.swizzle}; im2col::w takes {', '.join(WIDE_SWIZZLES)}.", "Use SWIZZLE_128B.",
        )  # fmt: skip


@rule(
    "im2col_w_corner_range", "A corner of im2col along W has 16 bits", kinds=("im2col",), arches=BLACKWELL,
    written=f"{DRIVER_WIDE}, pixelBoxLowerCornerWidth and pixelBoxUpperCornerWidth",
)  # fmt: skip
def im2col_w_corner_range(tm: TensorMapFields, arch: Arch) -> Iterator[Finding]:
    """The corner of W lies in -32768 to 32767 whatever the rank; H and D have none, so theirs are 0 here."""
    for name in ("lower_corner", "upper_corner"):
        for position, corner in enumerate(getattr(tm, name)[:3]):
            least, most = CORNER_LIMITS[3] if position == 0 else (0, 0)
            if not least <= corner <= most:
                allowed = f"lies in {least} to {most}" if position == 0 else "is 0: the box spans one position there"
                yield (
                    f"{name}[{position}]", corner, least if corner < least else most,
                    f"{name}[{position}]={show(corner)}; in im2col::w it {allowed}.", "Move the coordinates instead.",
                )  # fmt: skip


@rule(
    "im2col_w_bounding_box_not_empty", "The bounding box along W holds at least one position", kinds=("im2col",),
    arches=BLACKWELL, written=f"{DRIVER_WIDE}, pixelBoxUpperCornerWidth",
)  # fmt: skip
def im2col_w_bounding_box_not_empty(tm: TensorMapFields, arch: Arch) -> Iterator[Finding]:
    """`global_dim[1] + upper_corner[0] - lower_corner[0]` is at least 1."""
    if tm.rank in CORNER_LIMITS:
        positions = max(tm.global_dim[1], 1) + tm.upper_corner[0] - tm.lower_corner[0]
        if positions < 1:
            yield (
                "upper_corner[0]", positions, 1,
                f"lower_corner[0]={show(tm.lower_corner[0])} and upper_corner[0]={show(tm.upper_corner[0])} leave "
                f"{show(positions)} positions along W; the bounding box needs at least 1.",
                f"Use an upper corner of at least {show(tm.lower_corner[0] - tm.global_dim[1] + 1)}.",
            )  # fmt: skip
