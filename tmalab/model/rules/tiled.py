"""The rules of `cuTensorMapEncodeTiled` alone: rank, and the box in each dimension.

    rank 1 to 5; interleaved 3 to 5        box_dim[i] 1 to 256

>>> from tmalab import TensorMap
>>> [found] = TensorMap.tiled("float16", (4096, 4096), (8192,), (64, 512), swizzle="128B").violations()
>>> found.message, found.fix
('box_dim[1]=512; a box has at most 256 elements in a dimension.', 'Use 256 and issue two copies.')
"""

from __future__ import annotations

from collections.abc import Iterator

from tmalab.model.rules.rule import Arch, Finding, listed, plural, rule, show
from tmalab.model.tensor_map_fields import TensorMapFields

LARGEST_BOX_DIM = 256


@rule(
    "rank_range_1_5", "A tiled map has 1 to 5 dimensions", kinds=("tiled",),
    written="CUDA driver API, cuTensorMapEncodeTiled, tensorRank",
)  # fmt: skip
def rank_range(tm: TensorMapFields, arch: Arch) -> Iterator[Finding]:
    """A tiled tensor map has 1 to 5 dimensions."""
    if not 1 <= tm.rank <= 5:
        yield (
            "rank", tm.rank, 5 if tm.rank else 1,
            f"rank={tm.rank}; a tiled tensor map has 1 to 5 dimensions.",
            "Merge neighbouring dimensions until five are left." if tm.rank else "Give at least one dimension.",
        )  # fmt: skip


@rule(
    "interleave_needs_rank_3", "An interleaved map has at least 3 dimensions", kinds=("tiled",),
    written="CUDA driver API, cuTensorMapEncodeTiled, tensorRank",
)  # fmt: skip
def interleave_needs_rank_3(tm: TensorMapFields, arch: Arch) -> Iterator[Finding]:
    """With interleave 16B or 32B a tiled tensor map has at least 3 dimensions; 3 itself is legal."""
    if tm.interleave != "none" and tm.rank in (1, 2):
        yield (
            "rank", tm.rank, 3,
            f"rank={tm.rank} with interleave {tm.interleave}; an interleaved map has at least 3 dimensions.",
            "Use interleave none, or add dimensions of size 1.",
        )  # fmt: skip


@rule(
    "box_dim_range_1_256", "A box has 1 to 256 elements in each dimension", kinds=("tiled",),
    written="CUDA driver API, cuTensorMapEncodeTiled, boxDim",
)  # fmt: skip
def box_dim_range(tm: TensorMapFields, arch: Arch) -> Iterator[Finding]:
    """Each entry of `box_dim` is 1 to 256: elements, not bytes, and whether or not `global_dim` is smaller."""
    for position, size in listed(tm.box_dim):
        if not 1 <= size <= LARGEST_BOX_DIM:
            yield (
                f"box_dim[{position}]", size, 1 if size < 1 else LARGEST_BOX_DIM,
                f"box_dim[{position}]={show(size)}; a box has at "
                f"{'least 1 element' if size < 1 else f'most {LARGEST_BOX_DIM} elements'} in a dimension.",
                "Use at least 1." if size < 1 else
                f"Use {LARGEST_BOX_DIM} and issue {plural(-(-size // LARGEST_BOX_DIM), 'copy')}.",
            )  # fmt: skip
