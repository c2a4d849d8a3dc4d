"""The answer to a descriptor of Triton: the tensor map that Triton makes of its block, and what that one breaks.

    block 64 x 128 of float16    rows of 256 bytes ──▶ 128B swizzle    boxes of 64 x 64, two of them
    block 32 x 32 of float16     rows of  64 bytes ──▶  64B swizzle    one box
    block  4 x 64 of float16     fewer than 8 rows ──▶  no swizzle     one box

>>> choose([64, 128], 2), choose([4, 64], 2), choose([512, 32], 2)
((128, [64, 64]), (0, [4, 64]), (64, [256, 32]))

Source: Triton's TritonGPUAttrDefs.td (NVMMASharedEncodingAttr) and TMAUtilities.cpp (getTMABlockShape); of its wheel
3.6.0 backends/nvidia/driver.c and _utils.py. An H200 ran the blocks of float16 in `RECORDED` with 3.6.0. A test holds
the recordings, and what an installed Triton compiles for sm_90, against `choose`.
"""

from __future__ import annotations

from math import prod
from typing import Any

from tmalab.checker.answer import Answer
from tmalab.checker.array import answer_array
from tmalab.checker.descriptor import numbers
from tmalab.checker.options import Options
from tmalab.errors import InputError, short_repr
from tmalab.inputs.reading import Reading
from tmalab.inputs.words import word
from tmalab.model.element_types import ELEMENT_TYPES, element_type
from tmalab.model.violation import Violation

RULE = "triton_block_shape"
SOURCE = "Triton 3.6.0, triton/_utils.py, validate_block_shape; recorded on an H200: refusals/odd, refusals/tall"
RECORDED: dict[tuple[int, ...], str] = {(32, 64): "128B", (32, 128): "128B", (32, 32): "64B", (4, 64): "none"}
_FEWEST_ROWS, _LONGEST_SIDE, _MOST_ELEMENTS = 8, 256, 1 << 20


def choose(block: list[int], element_bytes: int) -> tuple[int, list[int]]:
    """The swizzle's span in bytes, 0 for none, and the box of one copy, outermost first as the block."""
    box = [min(size, _LONGEST_SIDE) for size in block]
    if len(block) < 2 or prod(block[:-1]) < _FEWEST_ROWS:
        return 0, box
    row = block[-1] * element_bytes
    span = next((span for span in (128, 64, 32) if row >= span and row % span == 0), 0)
    if span:
        box[-1] = span // element_bytes
    return span, box


def answer_triton(reading: Reading, options: Options) -> Answer:
    """The answer to a reading of Triton's descriptor. Raises UnreadableError for what no map can be made of."""
    said = {**options.facts, **reading.fields}
    try:
        dtype = _dtype(said)
        element = element_type(dtype)
        block = list(numbers("box_shape", said.get("box_shape")))
        if element.packed:
            raise InputError("no element type of Triton's descriptors", field="dtype", value=dtype)
    except InputError as error:
        raise reading.unreadable(error) from None
    span, box = choose(block, element.bytes)
    on_host = said.get("built_on") != "device"
    swizzle = f"{span}B" if span else "none"
    fields = {
        **reading.fields, "kind": "dlpack", "dtype": dtype, "box_shape": box, "swizzle": swizzle,
        "interleave": "none", "l2_promotion": "128B" if on_host else "none",
    }  # fmt: skip
    refused = _refused(block)
    notes = reading.notes if refused else (*reading.notes, *_notes(block, box, swizzle, element.bytes, dtype))
    known = Reading(reading.form, fields, reading.text, reading.offset, reading.locate, notes)
    answer = answer_array(known, options)
    answer = answer._replace(kind="triton_descriptor", violations=(*refused, *answer.violations))
    return answer._replace(verdict="reject") if refused else answer


def _dtype(said: dict[str, Any]) -> str:
    """The map's element type. Raises InputError where neither the text nor an option says it."""
    dtype = word("dtype", said.get("dtype"))
    if dtype is None:
        name = said.get("name", "a")
        line = f"make it in the text, as {name if str(name).isidentifier() else 'a'} = "
        line += "torch.empty((4096, 512), dtype=torch.float16)"
        if said.get("built_on") == "device":
            line = "put the kernel's one launch and the tensor that it gives into the text"
        message = f"the text does not say the element type of {name}"
        raise InputError(message, field="dtype", value=None, fix=f"{line}, or say --dtype float16 beside it")
    if dtype not in ELEMENT_TYPES:
        raise InputError("no element type of a tensor map", field="dtype", value=dtype, fix="use torch.float16 …")
    return str(dtype)


def _notes(block: list[int], box: list[int], swizzle: str, size: int, dtype: str) -> list[str]:
    """What Triton chose, why, and where that is known from."""
    if not block:
        return []
    rows = prod(block[:-1])
    why = f"a row of the block has {short_repr(block[-1] * size)} bytes"
    if swizzle == "none" and rows < _FEWEST_ROWS:
        why = f"the block has {'no rows' if len(block) < 2 else f'fewer than {_FEWEST_ROWS} rows'}"
    seen = dtype == "float16" and RECORDED.get(tuple(block)) == swizzle
    where = "recorded on an H200" if seen else "read in its source, and in what it compiles"
    made = [f"Triton itself chooses the swizzle: {swizzle}, since {why} (Triton 3.6.0: {where})"]
    if box != block and all(size > 0 for size in block):
        copies = prod(-(-size // side) for size, side in zip(block, box, strict=True))
        sizes = " x ".join(short_repr(size) for size in block)
        made.append(f"Triton copies the block of {sizes} as {short_repr(copies)} boxes of {' x '.join(map(str, box))}")
    return made


def _refused(block: list[int]) -> tuple[Violation, ...]:
    """What Triton refuses of the block before it asks the driver."""
    found = [
        Violation(
            RULE, f"block_shape[{index}]", size, None,
            f"block_shape[{index}]={short_repr(size)} is no power of two; Triton raises an error before it asks the "
            "driver.",
            f"Use {_powers_beside(size)}, and mask or pad what is over.", SOURCE,
        )
        for index, size in enumerate(block)
        if size & (size - 1)
    ]  # fmt: skip
    if not found and prod(block) > _MOST_ELEMENTS:
        found.append(
            Violation(
                RULE, "block_shape", prod(block), _MOST_ELEMENTS,
                f"the block has {short_repr(prod(block))} elements; Triton takes {_MOST_ELEMENTS} at the most.",
                "Use a smaller block.", SOURCE,
            )
        )  # fmt: skip
    return tuple(found)


def _powers_beside(size: int) -> str:
    if size < 1:
        return "1 or more"
    low = 1 << (size.bit_length() - 1)
    return f"{short_repr(low)} or {short_repr(2 * low)}"
