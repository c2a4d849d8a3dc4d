"""`make_bytes`: the bytes that a case starts from, made from a few JSON words so that no case carries data.

    {"pattern": "random", "seed": 7, "bytes": n}          numpy.random.default_rng(7).integers(0, 256, n)
    {"pattern": "iota16", "bytes": n}                     uint16 element i holds i: a byte says where it came from
    {"pattern": "fill", "value": 0xCD, "bytes": n}        every byte the same
    {"pattern": "arange_float32", "bytes": n}             float32 element i holds i
    {"pattern": "float_edges", "dtype": "float16", "seed": 7, "bytes": n}
                                                          NaNs, infinities, zeros, denormals and plain numbers

>>> make_bytes({"pattern": "iota16", "bytes": 6}).tolist()
[0, 0, 1, 0, 2, 0]
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tmalab.errors import InputError, short_repr

if TYPE_CHECKING:
    import numpy as np

PATTERNS = {
    "random": ("seed",),
    "iota16": (),
    "fill": ("value",),
    "arange_float32": (),
    "float_edges": ("dtype", "seed"),
}
MAX_BYTES = 1 << 32  # a case's memory is a test tensor's; more is a slip of the pen

# (exponent bits, mantissa bits) of the float formats that the engine converts or adds.
_FLOAT_FORMATS = {"float16": (5, 10), "bfloat16": (8, 7), "float32": (8, 23), "float64": (11, 52)}
_FORMAT_OF = {"float32_ftz": "float32", "tfloat32": "float32", "tfloat32_ftz": "float32"}


def make_bytes(spec: Mapping[str, Any]) -> np.ndarray:
    """The uint8 array, `bytes` long, that `spec` describes; a fresh one at each call.

    Raises InputError for an unknown pattern, for a key that the pattern lacks or does not know, and for a value
    out of range.
    """
    import numpy as np

    pattern, size = _checked(spec)
    if pattern == "fill":
        return np.full(size, spec["value"], np.uint8)
    if pattern == "random":
        return np.random.default_rng(spec["seed"]).integers(0, 256, size, dtype=np.uint8)
    if pattern == "float_edges":
        return _float_edges(spec["dtype"], spec["seed"], size)
    dtype = np.dtype("<u2" if pattern == "iota16" else "<f4")
    count = -(-size // dtype.itemsize)
    # uint16 wraps at 65536 by design: the value is the element's number, modulo what 16 bits hold
    return np.arange(count, dtype=np.int64).astype(dtype).view(np.uint8)[:size].copy()


def _float_edges(dtype: str, seed: int, size: int) -> np.ndarray:
    """Bytes whose elements are mostly what float hardware treats specially, at the places where rounding turns."""
    import numpy as np

    exponent_bits, mantissa_bits = _FLOAT_FORMATS[_FORMAT_OF.get(dtype, dtype)]
    width = 1 + exponent_bits + mantissa_bits
    rng = np.random.default_rng(seed)
    count = -(-size * 8 // width)
    ones = (1 << mantissa_bits) - 1
    top, bias = (1 << exponent_bits) - 1, (1 << (exponent_bits - 1)) - 1
    # Zero and denormals, the smallest and largest normal, infinity and NaNs, and numbers near one, which add to
    # each other's last bit.
    exponents = np.array([0, 0, 1, bias - 1, bias, bias + 1, bias + mantissa_bits, top - 1, top, top], np.uint64)
    mantissas = np.array([0, 1, ones, ones >> 1, (ones >> 1) + 1, 0x1000 & ones, 0x0FFF & ones], np.uint64)
    chosen = mantissas[rng.integers(0, len(mantissas), count)]
    noise = rng.integers(0, 1 << mantissa_bits, count, dtype=np.uint64)
    mantissa = np.where(rng.random(count) < 0.5, chosen, noise)
    exponent = exponents[rng.integers(0, len(exponents), count)]
    sign = rng.integers(0, 2, count, dtype=np.uint64)
    bits = sign << np.uint64(width - 1) | exponent << np.uint64(mantissa_bits) | mantissa
    return bits.astype(f"<u{width // 8}").view(np.uint8)[:size].copy()


def _checked(spec: Mapping[str, Any]) -> tuple[str, int]:
    """The pattern and the size of a spec that is whole, or an InputError that says what is not."""
    if not isinstance(spec, Mapping):
        raise InputError("not a memory pattern", field="memory", value=spec, fix='give {"pattern": …, "bytes": …}')
    pattern = spec.get("pattern")
    if not isinstance(pattern, str) or pattern not in PATTERNS:
        raise InputError("unknown pattern", field="pattern", value=pattern, fix=f"use one of {', '.join(PATTERNS)}")
    wanted = {"pattern", "bytes", *PATTERNS[pattern]}
    if set(spec) != wanted:
        raise InputError(
            f"keys {short_repr(sorted(map(str, spec)))} do not fit pattern {pattern!r}", field="memory",
            value=dict(spec), limit=sorted(wanted), fix=f"give {', '.join(sorted(wanted))}",
        )  # fmt: skip
    for key, limit in (("bytes", MAX_BYTES), ("seed", 1 << 128), ("value", 255)):
        value = spec.get(key, 0)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= limit:
            raise InputError("out of range", field=key, value=value, limit=limit, fix=f"use 0 to {limit}")
    if "dtype" in wanted and _FORMAT_OF.get(spec["dtype"], spec["dtype"]) not in _FLOAT_FORMATS:
        known = ", ".join([*_FLOAT_FORMATS, *_FORMAT_OF])
        raise InputError("no float format", field="dtype", value=spec["dtype"], fix=f"use one of {known}")
    return pattern, spec["bytes"]
