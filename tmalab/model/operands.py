"""What a copy is given beside its map, read: coordinates, offsets, where in shared memory, and the bytes themselves.

    coords   rank integers of 32 bits          offsets   rank-2 integers of 16 bits, im2col only
    memory, smem   uint8[n]                    smem_base   0 or more

>>> from tmalab.model.tensor_map_fields import TensorMapFields
>>> read_coords(TensorMapFields.tiled("float16", (64, 8), (128,), (8, 8)), [0])
Traceback (most recent call last):
tmalab.errors.InputError: coords=[0]: 1 entry where 2 are needed. Fix: give 2 integers, innermost dimension first.

Whether the engine would refuse them is another question: `launch_violations` answers it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from tmalab.errors import InputError, wrong_length
from tmalab.model.tensor_map_fields import TensorMapFields, integer, require_map

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Bytes = npt.NDArray[np.uint8]

# More than any block has on any GPU: the largest interleaved box that the driver takes, which a store may read in part.
MOST_SMEM_BYTES = 1 << 23


def read_coords(tm: TensorMapFields, coords: Any) -> tuple[int, ...]:
    """The coordinates, rank of them, innermost first. Raises InputError; PTX: each is a signed 32-bit operand."""
    require_map(tm)
    return _read("coords", coords, tm.rank, -(1 << 31), (1 << 31) - 1)


def read_offsets(tm: TensorMapFields, offsets: Any) -> tuple[int, ...]:
    """An im2col load's offsets, rank-2 of them, all 0 where none are given; () for a tiled map. Raises InputError."""
    most = (1 << 16) - 1
    if tm.kind == "tiled":
        return _read("offsets", offsets, 0, 0, most)
    return _read("offsets", offsets, tm.rank - 2, 0, most, default=0)


def _read(
    field: str, values: Any, length: int, least: int, most: int, default: int | None = None
) -> tuple[int, ...]:  # fmt: skip
    """`length` integers from `least` to `most`; for an empty list as many times `default`, where there is one."""
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise InputError("not a list of integers", field=field, value=values, fix=f"give {length} integers")
    listed = tuple(values)
    if not listed and default is not None:
        listed = (default,) * length
    if len(listed) != length:
        order = ", innermost dimension first" if length else ": only an im2col map has them"
        raise InputError(
            wrong_length(len(listed), length), field=field, value=list(listed), limit=length,
            fix=f"give {length} integers{order}",
        )  # fmt: skip
    return tuple(_bounded(f"{field}[{d}]", value, least, most) for d, value in enumerate(listed))


def _bounded(field: str, value: Any, least: int, most: int) -> int:
    number = integer(field, value)
    if not least <= number <= most:
        raise InputError("out of range", field=field, value=number, limit=most, fix=f"use {least} to {most}")
    return number


def read_size(field: str, value: Any, most: int = MOST_SMEM_BYTES) -> int:
    """A number of bytes of shared memory, or a place in it. Raises InputError."""
    return _bounded(field, value, 0, most)


def read_bytes(field: str, array: Any) -> Bytes:
    """`array` itself where it is a contiguous uint8[n], else a contiguous copy. Raises InputError for anything else."""
    import numpy as np

    if not isinstance(array, np.ndarray) or array.dtype != np.uint8 or array.ndim != 1:
        kind = f"{array.dtype}{list(array.shape)}" if isinstance(array, np.ndarray) else type(array).__name__
        raise InputError("not a uint8 array of one dimension", field=field, value=kind, fix="give array.view(np.uint8)")
    return np.ascontiguousarray(array)
