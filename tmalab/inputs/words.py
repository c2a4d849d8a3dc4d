"""The words of a descriptor in any of their spellings, made into the ones that `TensorMap` knows.

    CU_TENSOR_MAP_SWIZZLE_128B   SWIZZLE_128B   "128b"   3  ──▶  128B
    CU_TENSOR_MAP_DATA_TYPE_FLOAT16   half   fp16   6       ──▶  float16

>>> word("swizzle", "CU_TENSOR_MAP_SWIZZLE_128B"), word("oob_fill", "NAN_REQUEST_ZERO_FMA"), word("dtype", "bf16")
('128B', 'nan', 'bfloat16')
"""

from __future__ import annotations

from typing import Any

from tmalab.errors import InputError
from tmalab.model.element_types import ELEMENT_TYPES
from tmalab.model.tensor_map_fields import INTERLEAVES, L2_PROMOTIONS, OOB_FILLS, SWIZZLES

# The tuples stand in the order of the driver's enumerators (CUDA driver API 13.0, Tensor Map Object Management).
WORDS: dict[str, tuple[str, ...]] = {
    "dtype": tuple(ELEMENT_TYPES),
    "interleave": INTERLEAVES,
    "swizzle": SWIZZLES,
    "l2_promotion": L2_PROMOTIONS,
    "oob_fill": OOB_FILLS,
}
_PREFIXES = {
    "dtype": ("data_type_",),
    "interleave": ("interleave_",),
    "swizzle": ("swizzle_",),
    "l2_promotion": ("l2_promotion_", "l2_"),
    "oob_fill": ("float_oob_fill_", "oob_fill_"),
}
_SAME = {
    "dtype": {
        "half": "float16", "__half": "float16", "fp16": "float16", "f16": "float16", "half_t": "float16",
        "bf16": "bfloat16", "__nv_bfloat16": "bfloat16", "nv_bfloat16": "bfloat16", "bfloat16_t": "bfloat16",
        "float": "float32", "fp32": "float32", "f32": "float32", "double": "float64", "fp64": "float64",
        "f64": "float64", "tf32": "tfloat32", "tfloat32_t": "tfloat32", "int8": "uint8", "int8_t": "uint8",
        "i8": "uint8", "u8": "uint8", "s8": "uint8", "char": "uint8", "bool": "uint8", "int16": "uint16",
        "i16": "uint16", "u16": "uint16", "i32": "int32", "s32": "int32", "u32": "uint32", "int": "int32",
        "i64": "int64", "s64": "int64", "u64": "uint64", "uint8_t": "uint8", "uint16_t": "uint16",
        "uint32_t": "uint32", "uint64_t": "uint64", "int16_t": "uint16", "int32_t": "int32", "int64_t": "int64",
        "fp8": "uint8", "e4m3": "uint8", "e5m2": "uint8", "fp8_e4m3": "uint8", "fp8_e5m2": "uint8",
        "float8_e4m3": "uint8", "float8_e4m3fn": "uint8", "float8_e5m2": "uint8",
    },
    "interleave": {"disable": "none"},
    "swizzle": {"disable": "none", "disabled": "none", "32": "32B", "64": "64B", "128": "128B"},
    "l2_promotion": {"disable": "none", "64": "64B", "128": "128B", "256": "256B"},
    "oob_fill": {"zero": "none", "zeros": "none", "nan_request_zero_fma": "nan", "constant": "nan"},
}  # fmt: skip
# A JSON file or a flag may say the bytes as a number; none of these is an enumerator.
_BYTES = {"interleave": {16: "16B", 32: "32B"}, "swizzle": {32: "32B", 64: "64B", 128: "128B"}}
_BYTES["l2_promotion"] = {64: "64B", 128: "128B", 256: "256B"}


def word(field: str, value: Any) -> Any:
    """The word of `field` that `value` spells: the contract's own, the driver's enumerator by name or by number.

    A value that is neither comes back as it is, for `TensorMap` to refuse with its list of allowed words; a number
    that no enumerator has raises InputError.
    """
    if value in WORDS[field]:
        return value
    if isinstance(value, str):
        spelled = value[:80].rsplit("::", 1)[-1].rsplit(".", 1)[-1].lower()
        spelled = spelled.removeprefix("cu_").removeprefix("tensor_map_")
        for prefix in _PREFIXES[field]:
            spelled = spelled.removeprefix(prefix)
        for known in WORDS[field]:
            if known.lower() == spelled:
                return known
        if spelled in _SAME[field]:
            return _SAME[field][spelled]
        return enumerator(field, int(spelled)) if spelled.isdecimal() and spelled.isascii() else value
    if isinstance(value, int) and not isinstance(value, bool):
        return _BYTES.get(field, {}).get(value) or enumerator(field, value)
    return value


def enumerator(field: str, number: int) -> str:
    """The word for the driver's enumerator `number`, as dumps print it. Raises InputError where there is none."""
    if 0 <= number < len(WORDS[field]):
        return WORDS[field][number]
    numbered = ", ".join(f"{code} {name}" for code, name in enumerate(WORDS[field]))
    raise InputError(
        "no enumerator of the driver has this number", field=field, value=number, fix=f"the numbers are {numbered}"
    )
