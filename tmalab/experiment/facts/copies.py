"""What the engine does to bytes on the way, loads and stores, where no manual says so or another thing is written.

    memory ──one box──▶ shared memory ──dumped──▶ words        cdcdcdcd: not written

>>> LOADS[0].trials[0].case.name, LOADS[0].trials[0].answer
('facts/nan-fill/float16', '0000*8 7ff7*8')
"""

from __future__ import annotations

from tmalab.experiment.facts.fact import COUNTED, FLOATS, ZEROS, Trial, fact, line, moved
from tmalab.model.element_types import ELEMENT_TYPES
from tmalab.model.tensor_map import TensorMap

DRIVER = "CUDA driver API, cuTensorMapEncodeTiled"
PTX = "PTX ISA, cp.async.bulk.tensor"
_FLOAT_TYPES = tuple(name for name, element in ELEMENT_TYPES.items() if element.is_float)


def _words_at(label: str, answer: str, dtype: str, offset: int, question: str) -> Trial:
    """Four elements whose bits are (2i + 1) << 16 | 2i, from the `offset`-th byte on."""
    return moved(
        label, answer, "load", line(dtype, 4, 4), (0,), memory=COUNTED, memory_bytes=offset + 16, smem_bytes=16,
        address_offset=offset, question=question,
    )  # fmt: skip


LOADS = (
    fact(
        "nan-fill",
        "NaN fill puts 7ff7 into every 16 bits of an element outside the tensor, whatever its type.",
        f"{DRIVER}, oobFill: a special NaN constant, without its bits.",
        *(
            moved(dtype, f"{'0' * 4 * halves}*{8 // halves} {'7ff7' * halves}*{8 // halves}", "load",
                  line(dtype, 8 // halves, 16 // halves, oob_fill="nan"), (0,), memory=ZEROS, memory_bytes=16,
                  smem_bytes=32, word_bytes=2 * halves, question=dtype)
            for dtype, halves in ((dtype, ELEMENT_TYPES[dtype].bytes // 2) for dtype in _FLOAT_TYPES)
        ),
    ),
    fact(
        "outside-counts",
        "Bytes outside the tensor count on the barrier like all others.",
        f"{PTX}: the data copied, in bytes; whether what is filled is among it is not said.",
        moved("all-outside", "completed, 32 bytes counted", "load", line("float32", 8, 8), (8,), memory=FLOATS,
              memory_bytes=32, smem_bytes=32, shows="count", question="a box of 32 bytes, none of them in the tensor"),
        rules=("box_wider_than_tensor",),
    ),
    fact(
        "narrow-row-padded",
        "A row that is narrower than the swizzle span keeps the span's pitch. The bytes between are not written.",
        "CUDA programming guide, TMA Swizzle: asks for room for the full width; of the bytes between nothing.",
        moved("two-rows", "00000000 3f800000 40000000 40400000 cdcdcdcd*32 40800000 40a00000 40c00000 40e00000 "
              "cdcdcdcd*24", "load", TensorMap.tiled("float32", (4, 2), (16,), (4, 2), swizzle="128B"), (0, 0),
              memory=FLOATS, memory_bytes=32, smem_bytes=256, question="two rows of 16 bytes, swizzle 128B"),
        rules=("swizzled_row_is_padded",),
    ),
    fact(
        "swizzle-follows-address",
        "The swizzle takes the row from the shared address, not from the box: the same row is swapped at byte 128.",
        "PTX ISA, Swizzling Modes: draws aligned starts. CUDA programming guide, TMA Swizzle: speaks of an offset, "
        "and advises to align.",
        moved("at-0", "0000 0001 0002 0003 0004 0005 0006 0007 0008 0009 000a 000b 000c 000d 000e 000f cdcd*64",
              "load", line("uint16", 16, 16, swizzle="32B"), (0,), memory=COUNTED, memory_bytes=32, smem_bytes=160,
              word_bytes=2, question="one row of 32 bytes at byte 0"),
        moved("at-128", "cdcd*64 0008 0009 000a 000b 000c 000d 000e 000f 0000 0001 0002 0003 0004 0005 0006 0007",
              "load", line("uint16", 16, 16, swizzle="32B"), (0,), memory=COUNTED, memory_bytes=32, smem_bytes=160,
              smem_base=128, word_bytes=2, question="the same row at byte 128"),
        rules=("smem_pattern_alignment",),
    ),
    fact(
        "interleaved-slices",
        "In an interleaved map dimension 0 counts slices of 16 or 32 bytes, coordinate and box alike, whatever the "
        "type; of dimension rank-2 one copy takes one.",
        f"{DRIVER}, interleave: names the layouts, and counts boxes in elements.",
        moved("first", "0000 0001 0002 0003 0004 0005 0006 0007 0008 0009 000a 000b 000c 000d 000e 000f", "load",
              TensorMap.tiled("uint64", (4, 2, 1), (64, 128), (2, 1, 1), interleave="16B"), (0, 0, 0), memory=COUNTED,
              memory_bytes=128, smem_bytes=32, word_bytes=2, question="a box of 2 from 0 on: 32 bytes"),
        moved("second", "0008 0009 000a 000b 000c 000d 000e 000f 0010 0011 0012 0013 0014 0015 0016 0017", "load",
              TensorMap.tiled("uint64", (4, 2, 1), (64, 128), (2, 1, 1), interleave="16B"), (1, 0, 0), memory=COUNTED,
              memory_bytes=128, smem_bytes=32, word_bytes=2, question="from 1 on: 16 bytes further"),
        moved("two-of-rank-2", "completed, 32 bytes counted", "load",
              TensorMap.tiled("uint64", (4, 2, 1), (64, 128), (2, 2, 1), interleave="16B"), (0, 0, 0), memory=COUNTED,
              memory_bytes=128, smem_bytes=32, shows="count", question="a box of 2 in dimension rank-2 as well"),
        rules=("inner_coordinate_16B",),
    ),
    fact(
        "tf32-on-a-load",
        "A load rounds TF32 to nearest, ties to even, and makes every NaN 7fffe000.",
        "PTX ISA, Tensor Dimension, size and format: rounded to nearest even; of NaNs nothing.",
        _words_at("tie-to-even", "10010000 10032000 10052000 10072000", "tfloat32", 0x2000,
                  "10011000, a tie, then 10031002, 10051004, 10071006"),
        _words_at("tie-from-odd", "30014000 30034000 30054000 30074000", "tfloat32", 0x6000,
                  "30013000, a tie, then 30033002, 30053004, 30073006"),
        _words_at("nan", "7fffe000*4", "tfloat32", 0xFF00, "the NaNs 7f817f80, 7f837f82, 7f857f84, 7f877f86"),
        _words_at("negative-nan", "7fffe000*4", "tfloat32", 0x1FF00, "the NaNs ff81ff80, ff83ff82, ff85ff84, ff87ff86"),
    ),
    fact(
        "tf32-to-memory",
        "A store and a reduction take TF32 as float32: nothing is rounded.",
        "PTX ISA, Tensor Dimension, size and format: rounded to nearest even, without saying when.",
        moved("store", "10011000 10031002 10051004 10071006", "store", line("tfloat32", 4, 4), (0,), memory=ZEROS,
              memory_bytes=16, smem=COUNTED, smem_bytes=0x2010, smem_base=0x2000, question="10011000 … stored"),
        moved("add", "10011000 10031002 10051004 10071006", "reduce", line("tfloat32", 4, 4), (0,), memory=ZEROS,
              memory_bytes=16, smem=COUNTED, smem_bytes=0x2010, smem_base=0x2000, op="add",
              question="10011000 … added to zeros"),
    ),
    fact(
        "ftz-on-a-load",
        "A load through a type with FTZ in its name flushes nothing: denormals come through.",
        f"{DRIVER}, tensorDataType: names the types, and says nothing of them.",
        _words_at("float32-ftz", "00010000 00030002 00050004 00070006", "float32_ftz", 0, "float32_ftz denormals"),
        _words_at("tfloat32-ftz", "00010000 00030000 00050000 00070000", "tfloat32_ftz", 0,
                  "tfloat32_ftz, the same denormals: rounded, not flushed"),
    ),
    fact(
        "far-coordinates",
        "A load may be put anywhere that a coordinate reaches; nothing wraps, all is fill.",
        f"{PTX}, tensorCoords: 32-bit operands, without a range.",
        *(
            moved(label, "00000000*8", "load", line("float32", 8, 8), (coord,), memory=FLOATS, memory_bytes=32,
                  smem_bytes=32, question=f"coordinate {words}")
            for label, coord, words in (("far", (1 << 31) - 4, "2^31 - 4"), ("far-before", -(1 << 31), "-2^31"))
        ),
    ),
)  # fmt: skip

STORES = (
    fact(
        "store-ends-on-16-bytes",
        "A store and a reduction write up to the next multiple of 16 bytes after a row's end. A load is cut exactly.",
        "PTX ISA, Tiled mode: what lies outside the tensor is not written.",
        moved("load", "00000000 3f800000 40000000 40400000 40800000 40a00000 40c00000 40e00000 41000000 00000000*3",
              "load", line("float32", 9, 12), (0,), memory=FLOATS, memory_bytes=48, smem_bytes=48,
              question="9 floats loaded, a box of 12"),
        moved("store", "00000000 3f800000 40000000 40400000 40800000 40a00000 40c00000 40e00000 41000000 41100000 "
              "41200000 41300000 00000000*4", "store", line("float32", 9, 16), (0,), memory=ZEROS, memory_bytes=64,
              smem=FLOATS, smem_bytes=64, question="9 floats stored, a box of 16"),
        moved("add", "00000000 3f800000 40000000 40400000 40800000 40a00000 40c00000 40e00000 41000000 41100000 "
              "41200000 41300000 00000000*4", "reduce", line("float32", 9, 16), (0,), memory=ZEROS, memory_bytes=64,
              smem=FLOATS, smem_bytes=64, op="add", question="9 floats added to zeros, a box of 16"),
        rules=("tma_store_16B_granularity",),
    ),
    fact(
        "negative-coordinate",
        "A load before the tensor is filled; a store or a reduction there is an illegal instruction, past its end not.",
        "PTX ISA, Restriction on Tensor Copy instructions: a store's coordinates are not negative; no error is named.",
        moved("load", "00000000*5 3f800000 40000000 40400000", "load", line("float32", 8, 8), (-4,), memory=FLOATS,
              memory_bytes=32, smem_bytes=32, question="load at -4"),
        moved("store", "ILLEGAL_INSTRUCTION", "store", line("float32", 8, 8), (-4,), memory=ZEROS, memory_bytes=32,
              smem=FLOATS, smem_bytes=32, question="store at -4"),
        moved("store-past-the-end", "00000000*5 3f800000 40000000 40400000", "store", line("float32", 8, 8), (4,),
              memory=ZEROS, memory_bytes=32, smem=FLOATS, smem_bytes=32, question="store at 4, half of it outside"),
        rules=("store_coordinate_not_negative",),
    ),
)  # fmt: skip
