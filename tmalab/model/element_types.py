"""The element types of a tensor map: the driver's names, their sizes and their codes.

    name            bits  driver constant (CU_TENSOR_MAP_DATA_TYPE_…)
    uint8 … float64       as the name says
    float32_ftz      32   denormals become zero in a sum (reduce add), and nowhere else
    tfloat32         32   rounded to TF32 on a load (both measured: see the book's *What we measured*)
    16u4_align8b      4   packed; refused on sm_90

>>> element_type("float16").bytes, element_type("16u4_align8b").bits
(2, 4)
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tmalab.errors import InputError


class ElementType(NamedTuple):
    """One `CUtensorMapDataType`. `bits` is the payload of an element; `code` the driver's enumerator."""

    name: str
    bits: int
    code: int
    is_float: bool
    packed: bool = False

    @property
    def bytes(self) -> int:
        """Bytes of one element in memory, rounded up (a packed element has no address of its own)."""
        return (self.bits + 7) // 8


# Source: CUDA driver API 13.0, CUtensorMapDataType; the order is the enumerators'.
ELEMENT_TYPES: dict[str, ElementType] = {
    row[0]: ElementType(*row)
    for row in (
        ("uint8", 8, 0, False),
        ("uint16", 16, 1, False),
        ("uint32", 32, 2, False),
        ("int32", 32, 3, False),
        ("uint64", 64, 4, False),
        ("int64", 64, 5, False),
        ("float16", 16, 6, True),
        ("float32", 32, 7, True),
        ("float64", 64, 8, True),
        ("bfloat16", 16, 9, True),
        ("float32_ftz", 32, 10, True),
        ("tfloat32", 32, 11, True),
        ("tfloat32_ftz", 32, 12, True),
        ("16u4_align8b", 4, 13, False, True),
        ("16u4_align16b", 4, 14, False, True),
        ("16u6_align16b", 6, 15, False, True),
    )
}

# NumPy (and torch) types that the driver does not name: the engine moves their bits unchanged.
_SAME_BITS = {"int8": "uint8", "bool": "uint8", "int16": "uint16", "half": "float16", "float": "float32"}
_SAME_BITS |= {"double": "float64", "float8_e4m3fn": "uint8", "float8_e5m2": "uint8", "complex64": "uint64"}


def element_type(dtype: Any) -> ElementType:
    """The element type that `dtype` names: a driver's name in any case, a NumPy, CuPy, torch or JAX dtype.

    Raises InputError for anything else.
    """
    found = ELEMENT_TYPES.get(dtype) if isinstance(dtype, str) else None
    if found is not None:
        return found
    if isinstance(dtype, ElementType):
        return dtype
    if isinstance(dtype, str):
        name = dtype
    else:  # np.dtype has .name, np.float16 and ml_dtypes.bfloat16 are classes, torch prints 'torch.float16'
        name = getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or str(dtype)
    name = str(name)[:64].lower().removeprefix("torch.").removeprefix("cu_tensor_map_data_type_")
    found = ELEMENT_TYPES.get(_SAME_BITS.get(name, name))
    if found is None:
        raise InputError(
            "unknown element type", field="dtype", value=dtype, fix=f"use one of {', '.join(ELEMENT_TYPES)}"
        )
    return found
