"""What TileLang's runtime prints when it cannot make a tensor map: as CUTLASS does, with [arrays] of `dim` entries.

    globalStridesRaw  [2, 2048]        rank entries; the first is never given to the driver
    cudaGlobalStrides [2048]           what the driver was given (newer versions)
    globalStrides     [2, 2048]        older versions print only this: as globalStridesRaw
    smem_box_channel  64               im2col: channels_per_pixel; smem_box_pixel: pixels_per_column

>>> dump = '''TMA Desc Addr:   0x1080 (mod64=0)
... format         6 (CU_TENSOR_MAP_DATA_TYPE_FLOAT16)
... dim            2
... gmem_address   0x7f00000000 (mod16=0, mod32=0)
... globalDim      [1024, 1024]
... globalStridesRaw [2, 2048]
... cudaGlobalStrides [2048]
... boxDim         [64, 128]
... elementStrides [1, 1]
... interleave     0 (CU_TENSOR_MAP_INTERLEAVE_NONE)
... swizzle        3 (CU_TENSOR_MAP_SWIZZLE_128B)
... l2Promotion    2 (CU_TENSOR_MAP_L2_PROMOTION_L2_128B)
... oobFill        0 (CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)'''
>>> next(read(dump)).tensor_map().box_dim
(64, 128)

Source: tile-ai/tilelang src/cuda/runtime.cc (before 2026 src/runtime/runtime.cc), ToDebugString of both argument types.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from tmalab.errors import InputError
from tmalab.inputs.cutlass_dump import NAMES, driver_strides, leading_stride_note
from tmalab.inputs.dump_lines import Block, find_blocks
from tmalab.inputs.dump_lines import looks_like as looks_like_a_dump
from tmalab.inputs.position import UnreadableError
from tmalab.inputs.reading import Reading

FORM = "tilelang"
_IM2COL = {
    "lower_corner": "pixelBoxLowerCorner", "upper_corner": "pixelBoxUpperCorner",
    "channels_per_pixel": "smem_box_channel", "pixels_per_column": "smem_box_pixel",
}  # fmt: skip


def looks_like(text: str) -> bool:
    """Whether a dump in `text` writes its arrays in square brackets, or has lines that only TileLang prints."""
    if not looks_like_a_dump(text):
        return False
    return any(mark in text for mark in ("cudaGlobalStrides", "globalStridesRaw", "smem_box_pixel", "globalDim      ["))


def read(text: str) -> Iterator[Reading | UnreadableError]:
    """Each dump in `text`, as a Reading or as the error that says which line is not as TileLang prints it."""
    for block in find_blocks(text, FORM):
        names = _names(block)
        try:
            yield _reading_of(block, names)
        except UnreadableError as error:
            yield error
        except InputError as error:
            yield UnreadableError.from_error(error, text=text, offset=block.place(error.field or "", names), form=FORM)


def _names(block: Block) -> dict[str, str]:
    strides = next((name for name in ("cudaGlobalStrides", "globalStridesRaw") if name in block), "globalStrides")
    return NAMES | {"global_strides": strides} | _IM2COL


def _reading_of(block: Block, names: dict[str, str]) -> Reading:
    rank = block.number("dim")
    printed = block.numbers(names["global_strides"], "[]")
    raw = block.numbers("globalStridesRaw", "[]") if "globalStridesRaw" in block else printed
    dtype = block.word("format", "dtype")
    fields: dict[str, Any] = {"kind": "im2col" if "smem_box_pixel" in block else "tiled", "dtype": dtype, "rank": rank}
    for name in ("interleave", "swizzle", "l2_promotion", "oob_fill"):
        fields[name] = block.word(names[name], name)
    fields["address"] = block.number("gmem_address")
    fields["global_strides"] = driver_strides(printed, rank)
    arrays = ["global_dim", "element_strides"]
    if fields["kind"] == "tiled":
        arrays += ["box_dim"]
    else:
        arrays += ["lower_corner", "upper_corner"]
        fields |= {name: block.number(names[name]) for name in ("channels_per_pixel", "pixels_per_column")}
    fields |= {name: block.numbers(names[name], "[]") for name in arrays}
    notes = leading_stride_note(raw, rank, dtype)
    return Reading(FORM, fields, block.text, block.offset, partial(block.place, names=names), notes)
