"""What a reduction makes of two elements, to the bit: the one in memory and the one that is brought to it.

    add            integers wrap; floats round to nearest even          inc    memory >= source ? 0 : memory + 1
    min, max       a number before a NaN, -0 below +0                   dec    memory == 0 or memory > source ?
    and, or, xor                                                                    source : memory - 1

>>> combine("uint32", "inc", np.array([3, 7], np.uint32), np.array([7, 7], np.uint32)).tolist()
[4, 0]
>>> one, nan = np.array([0x3C00], np.uint16), np.array([0xFE01], np.uint16)
>>> [f"{combine('float16', op, one, nan)[0]:04x}" for op in ("add", "min")]
['7fff', '3c00']

Sources: PTX ISA, cp.reduce.async.bulk.tensor and red. Measured on H200: the bits of a NaN, which are in no manual, and
that float32 keeps denormals, where PTX ISA says of the bulk copy without a map that it flushes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tmalab.errors import InputError
from tmalab.model.rules.launch import REDUCTION_TYPES

if TYPE_CHECKING:
    import numpy.typing as npt

    Bits = npt.NDArray[Any]  # unsigned integers as wide as the element

_INTEGERS = {"int32": "<i4", "uint32": "<u4", "int64": "<i8", "uint64": "<u8"}
# The NaN that a reduction leaves, whatever NaN went in.
_NAN_16 = 0x7FFF
_NAN_32 = 0x7FFFFFFF


def combine(dtype: str, op: str, memory: Bits, source: Bits) -> Bits:
    """The bits that `op` leaves in memory; both arrays hold elements of `dtype` as unsigned integers of its width.

    Raises InputError for an unknown op and for a pair of op and type that no instruction has (PTX ISA and measured).
    """
    allowed = REDUCTION_TYPES.get(op) if isinstance(op, str) else None
    if allowed is None:
        raise InputError("unknown reduction", field="op", value=op, fix=f"use one of {', '.join(REDUCTION_TYPES)}")
    if dtype not in allowed:
        raise InputError(
            f"the engine has no such reduction of {dtype}", field="op", value=op, limit=list(allowed),
            fix=f"{op} takes {', '.join(allowed)}",
        )  # fmt: skip
    if dtype in _INTEGERS:
        kind = _INTEGERS[dtype]
        combined: Bits = _integers(op, memory.view(kind), source.view(kind)).view(memory.dtype)
        return combined
    if op == "add":
        with np.errstate(all="ignore"):  # the hardware raises no floating-point exceptions either
            return _SUMS[dtype](memory, source)
    return _ordered(dtype, op, memory, source)


def _integers(op: str, memory: Bits, source: Bits) -> Bits:
    if op == "add":
        return memory + source
    if op == "inc":
        return np.where(memory >= source, 0, memory + 1).astype(memory.dtype)
    if op == "dec":
        return np.where((memory == 0) | (memory > source), source, memory - 1).astype(memory.dtype)
    same: Any = {
        "min": np.minimum, "max": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
    }[op]  # fmt: skip
    ordered: Bits = same(memory, source)
    return ordered


# --- Sums of floats: `a` is in memory, `b` comes ----------------------------------------------------------------------


def _sum_float16(a: Bits, b: Bits) -> Bits:
    # float32 has more than twice float16's digits and two, so that rounding twice is rounding once.
    exact = a.view("<f2").astype("<f4") + b.view("<f2").astype("<f4")
    return np.where(np.isnan(exact), np.uint16(_NAN_16), exact.astype("<f2").view("<u2"))


def _sum_bfloat16(a: Bits, b: Bits) -> Bits:
    exact = (a.astype("<u4") << 16).view("<f4") + (b.astype("<u4") << 16).view("<f4")
    bits = exact.view("<u4")
    rounded = (bits + (0x7FFF + (bits >> 16 & 1))) >> 16  # a NaN may overflow, and is replaced
    return np.where(np.isnan(exact), np.uint16(_NAN_16), rounded.astype("<u2"))


def _sum_float32(a: Bits, b: Bits) -> Bits:
    exact = a.view("<f4") + b.view("<f4")
    return np.where(np.isnan(exact), np.uint32(_NAN_32), exact.view("<u4"))


def _sum_float32_ftz(a: Bits, b: Bits) -> Bits:
    """Denormals become zero, coming and going, and keep their sign: what FTZ in the type's name is about."""
    return _flushed(_sum_float32(_flushed(a), _flushed(b)))


def _flushed(bits: Bits) -> Bits:
    return np.where(bits & np.uint32(0x7F800000), bits, bits & np.uint32(0x80000000))


def _sum_float64(a: Bits, b: Bits) -> Bits:
    """A NaN goes through as it is, signalling ones too; of two, the one that comes."""
    x, y = a.view("<f8"), b.view("<f8")
    return np.where(np.isnan(y), b, np.where(np.isnan(x), a, (x + y).view("<u8")))


# TF32 is rounded on a load only: its sums are those of float32.
_SUMS = {
    "float16": _sum_float16, "bfloat16": _sum_bfloat16, "float32": _sum_float32, "float32_ftz": _sum_float32_ftz,
    "tfloat32": _sum_float32, "tfloat32_ftz": _sum_float32_ftz, "float64": _sum_float64,
}  # fmt: skip


def _ordered(dtype: str, op: str, a: Bits, b: Bits) -> Bits:
    """min and max of float16 and bfloat16 bits: compared as sign and magnitude, so that -0 is below +0."""
    infinity = {"float16": 0x7C00, "bfloat16": 0x7F80}[dtype]
    a_nan, b_nan = (bits & 0x7FFF > infinity for bits in (a, b))
    a_key, b_key = (np.where(bits & 0x8000, ~bits, bits | np.uint16(0x8000)) for bits in (a, b))
    chosen = np.where((a_key < b_key) == (op == "min"), a, b)
    chosen = np.where(a_nan, b, np.where(b_nan, a, chosen))
    return np.where(a_nan & b_nan, np.uint16(_NAN_16), chosen)
