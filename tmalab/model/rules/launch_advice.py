"""Copies that run and raise nothing, and still move other bytes than was meant: said by `launch_warnings`.

    smem_base 640 = 5 · 128    the engine XORs the address's row, 5 + r       a reader that counts rows from the
                               of its 1024-byte pattern                       tile's start XORs r: not the same

>>> smem_pattern_alignment.title
'The box starts where the swizzle pattern does'
"""

from __future__ import annotations

from collections.abc import Iterator

from tmalab.model.rules.launch import Launch
from tmalab.model.rules.rule import MEASURED, Arch, Finding, rule, show
from tmalab.model.swizzle import PATTERNS


@rule("smem_pattern_alignment", "The box starts where the swizzle pattern does", written="PTX ISA, Swizzling Modes")
def smem_pattern_alignment(launch: Launch, arch: Arch) -> Iterator[Finding]:
    """The swizzle follows the absolute shared address, and its pattern repeats every 256, 512 or 1024 bytes.

    A box at another multiple of 128 is legal, but a reader that computes from the tile's start finds other bytes.
    """
    pattern_bytes = PATTERNS[launch.tm.swizzle].repeat_bytes
    if launch.smem_base % pattern_bytes:
        yield (
            "smem_base", launch.smem_base, pattern_bytes,
            f"smem_base={show(launch.smem_base)} is not a multiple of {pattern_bytes}; SWIZZLE_{launch.tm.swizzle} "
            "follows the absolute address, so a reader that computes from the tile's start finds other bytes.",
            f"Align the buffer to {pattern_bytes}, or swizzle with the absolute address.",
        )  # fmt: skip


@rule("tma_store_16B_granularity", "A store ends on 16 bytes", measured=MEASURED)
def tma_store_16b_granularity(launch: Launch, arch: Arch) -> Iterator[Finding]:
    """A store is clipped at the next multiple of 16 bytes after a row's end, and overwrites what is there.

    Loads are clipped exactly. Where the row's pitch leaves no such gap the next row's first bytes are meant.
    """
    tm = launch.tm
    if launch.direction == "load" or tm.kind != "tiled" or tm.interleave != "none" or not tm.global_dim:
        return
    row_bytes = tm.global_dim[0] * tm.element.bits // 8
    reaches_end = launch.coords[0] + tm.box_dim[0] > tm.global_dim[0] > launch.coords[0]
    if reaches_end and row_bytes % 16:
        yield (
            "global_dim[0]", row_bytes, row_bytes + -row_bytes % 16,
            f"global_dim[0]={show(tm.global_dim[0])} {tm.dtype} elements is {show(row_bytes)} bytes; a "
            f"{launch.direction} also writes the {-row_bytes % 16} bytes after the row's end.",
            "Keep these bytes free in every row, or write the last columns without TMA.",
        )  # fmt: skip


@rule(
    "fence_proxy_tensormap_after_global_write", "A descriptor written in global memory needs a fence",
    written="CUDA programming guide, Tensor Memory Accelerator",
)  # fmt: skip
def fence_proxy_tensormap_after_global_write(launch: Launch, arch: Arch) -> Iterator[Finding]:
    """The engine reads descriptors through a proxy of its own, which does not see a new one in global memory by itself.

    A `const __grid_constant__` parameter and `__constant__` memory need no fence.
    """
    if launch.descriptor_space == "global":
        yield (
            "descriptor_space", "global", None,
            "descriptor_space=global; the engine may still see what was there before the descriptor was written.",
            "Issue fence.proxy.tensormap::generic.acquire.sys on its 128 bytes in each block before the first use.",
        )  # fmt: skip


# 16 bits for all offsets of a copy: one of 16, two of 8 or three of 5.
OFFSET_LIMITS = {3: (1 << 16) - 1, 4: (1 << 8) - 1, 5: (1 << 5) - 1}


@rule(
    "im2col_offset_is_cut", "An im2col offset fits into its bits", kinds=("im2col",), written="PTX ISA, im2col mode",
    measured=f"that nothing is raised was {MEASURED}",
)  # fmt: skip
def im2col_offset_is_cut(launch: Launch, arch: Arch) -> Iterator[Finding]:
    """Offsets are at most 65535 with rank 3, 255 with rank 4 and 31 with rank 5. What does not fit is lost."""
    most = OFFSET_LIMITS.get(launch.tm.rank)
    for position, offset in enumerate(launch.offsets):
        if most is not None and offset > most:
            yield (
                f"offsets[{position}]", offset, most,
                f"offsets[{position}]={show(offset)}; with rank {launch.tm.rank} an offset has {most.bit_length()} "
                "bits, and what does not fit is lost.",
                "Move the coordinates instead.",
            )  # fmt: skip
