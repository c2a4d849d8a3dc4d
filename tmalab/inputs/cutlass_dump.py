"""What CUTLASS prints before *Error: Failed to initialize the TMA descriptor*: arrays of five, enumerators as numbers.

    dim            3
    globalDim      (1024,1024,1,1,1)             always five entries: those past dim are padding
    globalStrides  (2,2048,2097152,0,0)          bytes; the first is the element's and the driver never sees it

>>> dump = '''TMA Desc Addr:   0x7ffd7d2800c0
... format         6
... dim            2
... gmem_address   0x7f1400000000
... globalDim      (1024,1024,1,1,1)
... globalStrides  (2,2048,0,0,0)
... boxDim         (64,128,1,1,1)
... elementStrides (1,1,1,1,1)
... interleave     0
... swizzle        3
... l2Promotion    2
... oobFill        0'''
>>> next(read(dump)).tensor_map().global_strides
(2048,)

Source: NVIDIA/cutlass include/cute/atom/copy_traits_sm90_tma.hpp, make_tma_copy_desc.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from tmalab.errors import InputError
from tmalab.inputs.dump_lines import Block, find_blocks, looks_like
from tmalab.inputs.position import UnreadableError
from tmalab.inputs.reading import Reading
from tmalab.model.element_types import ELEMENT_TYPES

__all__ = ["FORM", "NAMES", "looks_like", "read", "reading_of"]

FORM = "cutlass"
# The reading's fields, and the dump's names for them.
NAMES = {
    "dtype": "format", "rank": "dim", "address": "gmem_address", "global_dim": "globalDim",
    "global_strides": "globalStrides", "box_dim": "boxDim", "element_strides": "elementStrides",
    "interleave": "interleave", "swizzle": "swizzle", "l2_promotion": "l2Promotion", "oob_fill": "oobFill",
}  # fmt: skip


def read(text: str) -> Iterator[Reading | UnreadableError]:
    """Each dump in `text`, as a Reading or as the error that says which line is not as CUTLASS prints it."""
    for block in find_blocks(text, FORM):
        try:
            yield reading_of(block)
        except UnreadableError as error:
            yield error
        except InputError as error:
            yield UnreadableError.from_error(error, text=text, offset=block.place(error.field or "", NAMES), form=FORM)


def reading_of(block: Block) -> Reading:
    """The Reading of one dump. Raises UnreadableError or InputError."""
    rank = block.number("dim")
    arrays = {name: block.numbers(NAMES[name], "()") for name in ("global_dim", "box_dim", "element_strides")}
    strides = block.numbers("globalStrides", "()")
    for name, values in arrays.items():
        if len(values) < rank:
            raise block.error(f"{len(values)} entries, and dim is {rank}", NAMES[name])
        del values[max(rank, 0) :]
    dtype = block.word("format", "dtype")
    fields = {
        "kind": "tiled", "dtype": dtype, "rank": rank, **arrays,
        "global_strides": driver_strides(strides, rank), "address": block.number("gmem_address"),
        "interleave": block.word("interleave", "interleave"), "swizzle": block.word("swizzle", "swizzle"),
        "l2_promotion": block.word("l2Promotion", "l2_promotion"), "oob_fill": block.word("oobFill", "oob_fill"),
    }  # fmt: skip
    notes = leading_stride_note(strides, rank, dtype)
    return Reading(FORM, fields, block.text, block.offset, partial(block.place, names=NAMES), notes)


def driver_strides(printed: list[int], rank: int) -> list[int]:
    """The rank-1 strides that the driver was given: the printed array without its first entry and its padding."""
    if len(printed) == rank - 1:  # printed as the driver takes them
        return printed
    return printed[1:rank] if rank > 0 else []


def leading_stride_note(printed: list[int], rank: int, dtype: str) -> tuple[str, ...]:
    """A word on a first stride that is not one element: the driver never sees it, and the copy ignores it."""
    size = ELEMENT_TYPES[dtype].bytes
    if len(printed) < rank or not printed or printed[0] in (0, size):
        return ()
    guess = " The strides may have been printed in elements." if printed[0] == 1 else ""
    return (f"the first stride is {printed[0]}, and one {dtype} is {size} bytes; a copy takes {size}.{guess}",)
