"""What a reduction leaves in memory, to the bit, and which reductions there are.

    memory 01010101… ──op──▶ memory        shared memory 02020202…

>>> from tmalab.model.rules.launch import REDUCTION_TYPES
>>> len(REDUCTIONS[0].trials), sum(map(len, REDUCTION_TYPES.values()))
(33, 33)
"""

from __future__ import annotations

from typing import Any

from tmalab.experiment.facts.fact import COUNTED, ZEROS, Trial, fact, line, moved
from tmalab.model.element_types import ELEMENT_TYPES

PTX = "PTX ISA, cp.reduce.async.bulk.tensor"
_ONES, _TWOS, _ALL = ({"pattern": "fill", "value": value} for value in (0x01, 0x02, 0xFF))

# The bits of 01010101… + 02020202…, for each type that can be added.
_SUMS = {
    "int32": "03030303*4", "uint32": "03030303*4", "uint64": "0303030303030303*2", "float16": "0303*8",
    "bfloat16": "0222*8", "float32": "02224242*4", "float32_ftz": "02224242*4", "tfloat32": "02224242*4",
    "tfloat32_ftz": "02224242*4", "float64": "0202021303030303*2",
}  # fmt: skip
_ORDERED = ("int32", "uint32", "int64", "uint64", "float16", "bfloat16")
_BITWISE = ("int32", "uint32", "uint64")
# One op that is not there for each type that lacks any.
_MISSING = {
    "uint8": "add", "uint16": "add", "int32": "inc", "int64": "add", "uint64": "dec", "float16": "xor",
    "bfloat16": "and", "float32": "min", "float32_ftz": "max", "tfloat32": "min", "tfloat32_ftz": "or",
    "float64": "max",
}  # fmt: skip


def _reduced(
    label: str, answer: str, dtype: str, op: str, question: str = "", *, memory: dict[str, Any], smem: dict[str, Any],
    **given: Any,
) -> Trial:  # fmt: skip
    """16 bytes into 16 bytes."""
    width = ELEMENT_TYPES[dtype].bytes
    sizes = {"memory_bytes": 16, "smem_bytes": given.get("smem_base", 0) + 16, "word_bytes": width, **given}
    elements = 16 // width
    return moved(label, answer, "reduce", line(dtype, elements, elements), (0,), memory=memory, smem=smem, op=op,
                 question=question or f"{op} {dtype}", **sizes)  # fmt: skip


def _pair(op: str, dtype: str, answer: str) -> Trial:
    return _reduced(f"{op}-{dtype}", answer, dtype, op, memory=_ONES, smem=_TWOS)


def _filled(byte: str, dtype: str) -> str:
    width = ELEMENT_TYPES[dtype].bytes
    return f"{byte * width}*{16 // width}"


REDUCTIONS = (
    fact(
        "reductions-that-exist",
        "33 pairs of op and type exist through a tensor map. Here each puts 02 in every byte to 01 in every byte.",
        f"{PTX}: lists the ops, and takes the type from the map. The pairs stand under cp.reduce.async.bulk, without "
        "those of TF32 and FTZ.",
        *(_pair("add", dtype, answer) for dtype, answer in _SUMS.items()),
        *(_pair("min", dtype, _filled("01", dtype)) for dtype in _ORDERED),
        *(_pair("max", dtype, _filled("02", dtype)) for dtype in _ORDERED),
        _pair("inc", "uint32", "01010102*4"),
        _pair("dec", "uint32", "01010100*4"),
        *(_pair("and", dtype, _filled("00", dtype)) for dtype in _BITWISE),
        *(_pair(op, dtype, _filled("03", dtype)) for op in ("or", "xor") for dtype in _BITWISE),
        rules=("reduction_op_and_type",),
    ),
    fact(
        "reductions-that-do-not",
        "Any other pair is an illegal instruction at the launch: the encoder does not know what a map is for.",
        f"{PTX}: names no error. (One pair a type here; the oracle's records hold the others.)",
        *(_pair(op, dtype, "ILLEGAL_INSTRUCTION") for dtype, op in _MISSING.items()),
        rules=("reduction_op_and_type",),
    ),
    fact(
        "sum-with-nan",
        "A sum with a NaN is 7fff in 16 bits and 7fffffff in 32, whatever NaN it was; float64 keeps its bits.",
        f"{PTX}: nothing.",
        *(
            _reduced(f"add-{dtype}", answer, dtype, "add", f"{dtype}: the NaN {'ff' * ELEMENT_TYPES[dtype].bytes} "
                     "plus 0", memory=_ALL, smem=ZEROS)
            for dtype, answer in (("float16", "7fff*8"), ("bfloat16", "7fff*8"), ("float32", "7fffffff*4"),
                                  ("float64", "ffffffffffffffff*2"))
        ),
    ),
    fact(
        "order-with-nan",
        "min and max take the number rather than the NaN, and leave 7fff of two NaNs.",
        f"{PTX}: nothing; min and max of registers have a modifier for it.",
        _reduced("min-number", "0202*8", "float16", "min", "min of NaN and 0202", memory=_ALL, smem=_TWOS),
        _reduced("max-number", "0202*8", "float16", "max", "max of NaN and 0202", memory=_ALL, smem=_TWOS),
        _reduced("min-two-nans", "7fff*8", "float16", "min", "min of ffff and ffff", memory=_ALL, smem=_ALL),
    ),
    fact(
        "order-of-zeros",
        "For min and max -0 is less than +0.",
        f"{PTX}: nothing.",
        *(
            _reduced(f"{op}-zeros", answer, "float16", op, f"{op} of 0 and 8000, 8001 …", memory=ZEROS, smem=COUNTED,
                     smem_base=0x10000)
            for op, answer in (("min", "8000 8001 8002 8003 8004 8005 8006 8007"), ("max", "0000*8"))
        ),
    ),
    fact(
        "sum-of-denormals",
        "A sum of float32 keeps denormals; float32_ftz flushes them.",
        "PTX ISA, cp.reduce.async.bulk: versions differ, older ones say that a float32 sum flushes them. Of a map's "
        "FTZ nothing.",
        _reduced("float32", "00010000 00030002 00050004 00070006", "float32", "add", "float32 denormals plus 0",
                 memory=ZEROS, smem=COUNTED),
        _reduced("float32-ftz", "00000000*4", "float32_ftz", "add", "float32_ftz denormals plus 0", memory=ZEROS,
                 smem=COUNTED),
    ),
    fact(
        "inc-and-dec",
        "inc and dec count as red's do: up to the operand and back to 0, down to 0 and back to the operand.",
        f"{PTX}: names them. Their range stands under cp.reduce.async.bulk, a formula under red.",
        *(
            _reduced(op, answer, "uint32", op, f"{op} of 02020202 with 02010200, 02030202 …", memory=_TWOS,
                     smem=COUNTED, smem_base=0x400)
            for op, answer in (("inc", "00000000 02020203*3"), ("dec", "02010200 02020201*3"))
        ),
        _reduced("dec-of-0", "02010200 02030202 02050204 02070206", "uint32", "dec", "dec of 0 with the same",
                 memory=ZEROS, smem=COUNTED, smem_base=0x400),
    ),
)  # fmt: skip
