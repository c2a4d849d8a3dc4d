"""A 16 x 16 grid of chunks in shared memory, its rows split into 128-byte groups or kept whole: what a column costs.

    grouped     g0: rows of columns 0-7, 128 bytes each │ then g1: columns 8-15      box {64, 16, 2} of fp16
    ungrouped   row 0: 256 bytes │ row 1 │ …                                         box {128, 16}

>>> [column_addresses("yes", "128B", 5, 0)[row] % 128 // 16 for row in range(8)]
[5, 4, 7, 6, 1, 0, 3, 2]
>>> [column_addresses("no", "128B", 5, 0)[row] % 128 // 16 for row in range(8)]
[5, 7, 1, 3, 5, 7, 1, 3]

With SWIZZLE_128B the driver refuses rows of 256 bytes. The same 4096 bytes read as 32 rows of 128 are a legal box, and
leave in shared memory what the ungrouped layout would be: its addresses in order, each through the XOR. So it can be
measured all the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from tmalab.errors import InputError
from tmalab.experiment.case import Case
from tmalab.experiment.encode_cases import ADDRESS, encode_case
from tmalab.experiment.transfer_case import transfer_case
from tmalab.model.element_types import element_type
from tmalab.model.swizzle import CHUNK_BYTES, LINE_BYTES, swizzled
from tmalab.model.tensor_map import TensorMap

TILING_ROWS = TILING_COLUMNS = 16  # of chunks
TILING_BYTES = TILING_ROWS * TILING_COLUMNS * CHUNK_BYTES
READ_ROWS = 8  # as many reads of 16 bytes as the banks hold at once

# The states' parts, the last one fastest; a pattern of the bank probe is one of them.
TILINGS = ("yes", "no")
TILING_SWIZZLES = ("128B", "none")
COLUMNS = tuple(range(TILING_COLUMNS))
FIRST_ROWS = tuple(range(TILING_ROWS - READ_ROWS + 1))
TILING_DTYPES = ("uint8", "float16", "float32", "float64")  # of 1, 2, 4 and 8 bytes

_ROW_BYTES = TILING_COLUMNS * CHUNK_BYTES
_MEMORY = {"pattern": "iota16", "bytes": TILING_BYTES}  # no two chunks are alike


def chunk_address(tiling: str, swizzle: str, row: int, column: int) -> int:
    """The byte of shared memory at which the chunk in `row` and `column` of the grid stands."""
    _known("tiling", tiling, TILINGS)
    if tiling == "yes":
        group, local = divmod(column, LINE_BYTES // CHUNK_BYTES)
        linear = (group * TILING_ROWS + row) * LINE_BYTES + local * CHUNK_BYTES
    else:
        linear = row * _ROW_BYTES + column * CHUNK_BYTES
    return swizzled(linear, swizzle)


def column_addresses(tiling: str, swizzle: str, column: int, first_row: int) -> list[int]:
    """The eight addresses of one column, from `first_row` on: what eight lanes read, 16 bytes each."""
    return [chunk_address(tiling, swizzle, first_row + lane, column) for lane in range(READ_ROWS)]


def state_number(tiling: str, swizzle: str, column: int, first_row: int) -> int:
    """Which pattern of `banks_case` a state is. Raises InputError for a state that is none."""
    number = 0
    for name, value, values in (
        ("tiling", tiling, TILINGS), ("swizzle", swizzle, TILING_SWIZZLES), ("column", column, COLUMNS),
        ("first_row", first_row, FIRST_ROWS),
    ):  # fmt: skip
        _known(name, value, values)
        number = number * len(values) + values.index(value)
    return number


def _known(name: str, value: object, values: tuple[object, ...]) -> None:
    if value not in values:
        raise InputError("not in this figure", field=name, value=value, fix=f"use one of {', '.join(map(str, values))}")


# --- the maps --------------------------------------------------------------------------------------------------------


def tiling_map(tiling: str, swizzle: str, dtype: str) -> TensorMap:
    """The map whose one box is the whole grid, as it is loaded: three dimensions, or whole rows, or rows of 128 bytes.

    Dimensions are innermost first, in elements of `dtype`.
    """
    _known("tiling", tiling, TILINGS)
    whole = _ROW_BYTES // element_type(dtype).bytes
    if tiling == "yes":
        dims = (whole // 2, TILING_ROWS, 2)
        return TensorMap.tiled(dtype, dims, (_ROW_BYTES, LINE_BYTES), dims, swizzle=swizzle)
    if swizzle == "none":
        return TensorMap.tiled(dtype, (whole, TILING_ROWS), (_ROW_BYTES,), (whole, TILING_ROWS))
    lines = (whole // 2, 2 * TILING_ROWS)
    return TensorMap.tiled(dtype, lines, (LINE_BYTES,), lines, swizzle=swizzle)


def refused_map(dtype: str) -> TensorMap:
    """Rows of 256 bytes under SWIZZLE_128B: what the ungrouped layout would ask for, and the driver refuses."""
    dims = (_ROW_BYTES // element_type(dtype).bytes, TILING_ROWS)
    return TensorMap.tiled(dtype, dims, (_ROW_BYTES,), dims, swizzle="128B", address=ADDRESS)


# --- the cases -------------------------------------------------------------------------------------------------------


def tiling_case(tiling: str, swizzle: str, dtype: str) -> Case:
    """The grid's bytes, brought to shared address 0 by one copy."""
    return transfer_case(
        f"tiling/{tiling}/{swizzle}/{dtype}", tiling_map(tiling, swizzle, dtype), "load",
        (0, 0, 0) if tiling == "yes" else (0, 0), memory=_MEMORY, smem_bytes=TILING_BYTES,
    )  # fmt: skip


def refused_case(dtype: str) -> Case:
    """The driver is asked for the map that it refuses."""
    return encode_case(f"tiling/refused/{dtype}", refused_map(dtype))


def banks_case() -> Case:
    """Every column from every first row of every layout, read by eight lanes, 16 bytes each: a pattern a state."""
    patterns = [
        {"addresses": column_addresses(*state), "width_bytes": CHUNK_BYTES, "op": "load"}
        for state in product(TILINGS, TILING_SWIZZLES, COLUMNS, FIRST_ROWS)
    ]
    return Case("tiling/banks", "banks", {"patterns": patterns})


def tiling_cases() -> Iterator[Case]:
    """All that the figure needs."""
    for tiling, swizzle, dtype in product(TILINGS, TILING_SWIZZLES, TILING_DTYPES):
        yield tiling_case(tiling, swizzle, dtype)
    for dtype in TILING_DTYPES:
        yield refused_case(dtype)
    yield banks_case()
