"""What a launch comes to: the faults and their names, im2col's walk, what the barrier does when armed wrongly.

    cp.async.bulk.tensor ──▶ bytes | ILLEGAL_INSTRUCTION | MISALIGNED_ADDRESS | ILLEGAL_ADDRESS

>>> [fact.id for fact in BARRIERS]
['armed-wrongly', 'expect-tx-completes']
"""

from __future__ import annotations

from typing import Any

from tmalab.experiment.facts.fact import COUNTED, FLOATS, ZEROS, Trial, fact, line, moved
from tmalab.model.tensor_map import TensorMap

PTX = "PTX ISA, cp.async.bulk.tensor"
RESTRICTIONS = "PTX ISA, Restriction on Tensor Copy instructions"
_FOUR = "00000000 3f800000 40000000 40400000"


def _load_4(label: str, answer: str, question: str, coords: tuple[int, ...] = (0,), **given: Any) -> Trial:
    """Four floats, 16 bytes: the smallest box that there is."""
    smem_bytes = given.get("smem_base", 0) + 16
    fields = {"memory": FLOATS, "memory_bytes": 32, "smem_bytes": smem_bytes, "question": question, **given}
    return moved(label, answer, "load", line("float32", 8, 4), coords, **fields)


def _null(label: str, answer: str, direction: str, coord: int, question: str) -> Trial:
    smem = None if direction == "load" else FLOATS
    tensor_map = line("float32", 4, 4, address=0)
    return moved(label, answer, direction, tensor_map, (coord,), memory=ZEROS, memory_bytes=16, smem=smem,
                 smem_bytes=16, question=question)  # fmt: skip


FAULTS = (
    fact(
        "inner-coordinate",
        "An inner coordinate that is no multiple of 16 bytes is an illegal instruction, not a misaligned address.",
        "PTX ISA, Tiled mode, Bounding Box: a multiple of 16 bytes; no error is named.",
        _load_4("1", "ILLEGAL_INSTRUCTION", "coordinate 1", (1,)),
        _load_4("4", "40800000 40a00000 40c00000 40e00000", "coordinate 4", (4,)),
        rules=("inner_coordinate_16B",),
    ),
    fact(
        "shared-address",
        "A shared address that is no multiple of 128 is a misaligned address, for 16 bytes in one dimension as well.",
        "CUDA programming guide, Tensor Memory Accelerator: 128 bytes; no error is named.",
        _load_4("64", "MISALIGNED_ADDRESS", "16 bytes to byte 64", smem_base=64),
        rules=("smem_dst_align_128",),
    ),
    fact(
        "two-faults",
        "Of two faults at once the coordinate's is raised.",
        "PTX ISA: nothing.",
        _load_4("coordinate-and-address", "ILLEGAL_INSTRUCTION", "coordinate 1, to byte 64", (1,), smem_base=64),
        rules=("inner_coordinate_16B", "smem_dst_align_128"),
    ),
    fact(
        "null-base",
        "Each load through a null base faults, outside the tensor as well; a store faults only if it writes.",
        "CUDA driver API, globalAddress: nothing.",
        _null("load", "ILLEGAL_ADDRESS", "load", 0, "load"),
        _null("load-outside", "ILLEGAL_ADDRESS", "load", 4, "load of a box outside the tensor"),
        _null("store", "ILLEGAL_ADDRESS", "store", 0, "store"),
        _null("store-outside", "00000000*4", "store", 4, "store of a box outside the tensor"),
        rules=("null_global_address",),
    ),
    fact(
        "descriptor-alignment",
        "A descriptor at 64 bytes serves. At 32 or 16 it is a misaligned address.",
        "CUDA driver API, tensorMap: 64 bytes, for the encoder; CUDA 13 declares the type with 128.",
        _load_4("64", _FOUR, "64 bytes past a multiple of 128", descriptor_space="global", descriptor_align=64),
        _load_4("32", "MISALIGNED_ADDRESS", "32 bytes past it", descriptor_space="global", descriptor_align=32),
        _load_4("16", "MISALIGNED_ADDRESS", "16 bytes past it", descriptor_space="global", descriptor_align=16),
        rules=("tensormap_address_align_64",),
    ),
    fact(
        "descriptor-space",
        "A descriptor in shared or local memory is an illegal address.",
        f"{PTX}, tensorMap: in param, const or global memory; no error is named.",
        _load_4("const", _FOUR, "in constant memory", descriptor_space="const", descriptor_align=128),
        _load_4("shared", "ILLEGAL_ADDRESS", "in shared memory", descriptor_space="shared"),
        _load_4("local", "ILLEGAL_ADDRESS", "in a local variable", descriptor_space="local"),
        rules=("descriptor_must_be_param_const_or_global",),
    ),
)  # fmt: skip

# 8 channels of uint16, 16 bytes; 4 pixels along W, 3 along H, 2 images. Pixel p of the memory begins with word 8 p.
_IMAGE = ("uint16", (8, 4, 3, 2), (16, 64, 192))
_PIXEL_0, _PIXEL_1, _PIXEL_4 = (
    " ".join(f"{8 * pixel + channel:04x}" for channel in range(8)) for pixel in (0, 1, 4)
)  # fmt: skip


def _walk(label: str, answer: str, question: str, coords: tuple[int, ...], **given: Any) -> Trial:
    tensor_map = TensorMap.im2col(*_IMAGE, (0, 0), (0, 0), 8, 1)
    fields = {"memory": COUNTED, "memory_bytes": 384, "smem_bytes": 16, "word_bytes": 2, "question": question, **given}
    return moved(label, answer, "load", tensor_map, coords, **fields)


def _tap(label: str, answer: str, dims: tuple[int, ...], offsets: tuple[int, ...], question: str) -> Trial:
    """One pixel of a small dense image of 8 channels, at the offsets."""
    strides = [16]
    for size in dims[1:-1]:
        strides.append(strides[-1] * size)
    corners = (0,) * (len(dims) - 2)
    tensor_map = TensorMap.im2col("uint16", dims, strides, corners, corners, 8, 1)
    return moved(label, answer, "load", tensor_map, (0,) * len(dims), memory=COUNTED, memory_bytes=384, smem_bytes=16,
                 offsets=offsets, word_bytes=2, question=question)  # fmt: skip


def _store_pixel(label: str, answer: str, question: str, lower: tuple[int, ...], upper: tuple[int, ...]) -> Trial:
    tensor_map = TensorMap.im2col("uint16", (8, 4, 3, 1), (16, 64, 192), lower, upper, 8, 1)
    return moved(label, answer, "store", tensor_map, (0, 0, 0, 0), memory=ZEROS, memory_bytes=192, smem=COUNTED,
                 smem_bytes=16, word_bytes=2, question=question)  # fmt: skip


WALKS = (
    fact(
        "im2col-start",
        "An im2col walk starts inside its bounding box or is an illegal instruction; channel and image lie anywhere.",
        "PTX ISA, Im2col mode: coordinates name the first element in the box; no error is named.",
        _walk("last", "0018 0019 001a 001b 001c 001d 001e 001f", "W = 3, the last", (0, 3, 0, 0)),
        _walk("past", "ILLEGAL_INSTRUCTION", "W = 4", (0, 4, 0, 0)),
        _walk("no-channel", "0000*8", "channel 8 of 8", (8, 0, 0, 0)),
        _walk("no-image", "0000*8", "image -1", (0, 0, 0, -1)),
        rules=("im2col_start_inside_box",),
    ),
    fact(
        "im2col-store",
        "A store through an im2col map whose bounding box leaves the tensor is an illegal instruction.",
        f"{RESTRICTIONS}: the box stays inside; no error is named.",
        _store_pixel("inside", "0000 0001 0002 0003 0004 0005 0006 0007 0000*88", "corners 0", (0, 0), (0, 0)),
        _store_pixel("before", "ILLEGAL_INSTRUCTION", "lower corner -1 along W", (-1, 0), (0, 0)),
        _store_pixel("after", "ILLEGAL_INSTRUCTION", "upper corner 1 along H", (0, 0), (0, 1)),
        rules=("im2col_store_box_inside",),
    ),
    fact(
        "im2col-offset-bits",
        "All offsets of a copy share 16 bits: one of 16, two of 8 or three of 5. What does not fit is lost, or carried "
        "into the next one at rank 5; nothing is raised.",
        f"{PTX}, im2colInfo: a vector of 16-bit operands. Im2col mode gives their ranges; past them nothing is said.",
        _tap("rank-3", "0000*8", (8, 4, 3), (256,), "rank 3, offset 256: outside"),
        _tap("rank-4", _PIXEL_1, (8, 4, 3, 2), (257, 0), "rank 4, offsets (257, 0): those of (1, 0)"),
        _tap("rank-5", _PIXEL_4, (8, 4, 3, 2, 1), (32, 0, 0), "rank 5, offsets (32, 0, 0): those of (0, 1, 0)"),
        rules=("im2col_offset_is_cut",),
    ),
)  # fmt: skip

_SHORT_MAPS = {
    "two-rows": (TensorMap.tiled("float32", (4, 8, 8), (64, 512), (4, 2, 2), interleave="16B"), 64, 128),
    "116-rows": (TensorMap.tiled("float32", (4, 2, 116), (64, 128), (4, 1, 116), interleave="16B"), 1856, 7424),
}


def _armed(label: str, answer: str, expect_tx_bytes: int) -> Trial:
    return moved(label, answer, "load", line("float32", 8, 8), (0,), memory=FLOATS, memory_bytes=32, smem_bytes=32,
                 expect_tx_bytes=expect_tx_bytes, shows="count",
                 question=f"32 bytes come, armed for {expect_tx_bytes}")  # fmt: skip


_SHORT = _armed("facts/armed-wrongly/short", "never completed, 32 bytes counted", 31)

BARRIERS = (
    fact(
        "armed-wrongly",
        "Armed for more bytes than come, a phase never completes. Armed for fewer, it never does or did so too early.",
        "PTX ISA, Tracking asynchronous operations: a phase completes at zero; of a count that passes it nothing.",
        _armed("right", "completed, 32 bytes counted", 32),
        _armed("over", "never completed, 32 bytes counted", 33),
        _SHORT,
        *(
            moved(label, (f"completed, {come} bytes counted", f"never completed, {come} bytes counted"), "load",
                  tensor_map, (0, 0, 0), memory=FLOATS, memory_bytes=16384, smem_bytes=come, expect_tx_bytes=armed,
                  shows="count", question=f"{come} bytes come in slices, armed for {armed}")
            for label, (tensor_map, armed, come) in _SHORT_MAPS.items()
        ),
    ),
    fact(
        "expect-tx-completes",
        "An expect_tx that brings the count to zero completes the phase: so are the bytes counted that came too many.",
        "PTX ISA, expect-tx operation: raises the count. That it may complete a phase stands under complete-tx alone.",
        _SHORT,
    ),
)  # fmt: skip
