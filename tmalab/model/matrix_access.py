"""`ldmatrix` and `stmatrix`: one, two or four 8x8 matrices of 16-bit elements, each row 16 bytes at a lane's address.

    lane 8 * m + r ──address──▶ row r of matrix m            8 rows, one phase: a wavefront, if no bank is asked twice

    lane 4 * r + c  holds  (r, 2c) and (r, 2c + 1) of each matrix;  with .trans  (2c, r) and (2c + 1, r)

>>> matrix_access([128 * lane for lane in range(8)], "ldmatrix_x1").count
8
>>> lane_elements("ldmatrix_x2")[5]
(((0, 1, 2), (0, 1, 3)), ((1, 1, 2), (1, 1, 3)))

Source: PTX ISA, Warp Level Matrix Load Instruction: ldmatrix, and stmatrix. The wavefronts were measured on an H200:
.trans costs nothing, and no two matrices share a wavefront.
"""

from __future__ import annotations

from collections.abc import Iterable

from tmalab.errors import InputError, wrong_length
from tmalab.model.banks import checked_addresses
from tmalab.model.wavefronts import BANK_BYTES, LANES, WarpAccess, depth, phases_of, units

ROWS = 8
ROW_BYTES = 16
# Operation → matrices. The names are the mnemonics' words.
MATRIX_OPS = {
    f"{name}_x{count}{trans}": count
    for name in ("ldmatrix", "stmatrix")
    for trans in ("", "_trans")
    for count in (1, 2, 4)
}


def matrix_access(addresses: Iterable[int | None], op: str) -> WarpAccess:
    """What one ldmatrix or stmatrix costs. `addresses` are the rows', 8 a matrix; further ones are not looked at.

    Raises InputError for an unknown `op`, fewer addresses than rows, or one that is no multiple of 16.
    """
    count = _matrices(op)
    checked = checked_addresses(addresses, ROW_BYTES)
    rows = checked[: ROWS * count]
    if None in rows:
        given = rows.index(None)
        message = wrong_length(given, len(rows))
        raise InputError(message, field="addresses", value=list(rows), limit=len(rows), fix="give one address a row")
    padded = (*rows, *[None] * (LANES - len(rows)))
    wanted = units(padded, ROW_BYTES)
    phases = phases_of(wanted, ROWS)
    depths = tuple(depth([wanted[lane] for lane in lanes], ROW_BYTES // BANK_BYTES) for lanes in phases)
    return WarpAccess(op, ROW_BYTES, padded, phases, depths, max(depths))


def lane_elements(op: str) -> tuple[tuple[tuple[tuple[int, int, int], tuple[int, int, int]], ...], ...]:
    """For each of the 32 lanes, for each of its registers, the low and the high element: (matrix, row, column)."""
    count, trans = _matrices(op), op.endswith("_trans")
    found = []
    for lane in range(LANES):
        across, along = lane // 4, 2 * (lane % 4)
        pair = [(along, across), (along + 1, across)] if trans else [(across, along), (across, along + 1)]
        found.append(tuple(((matrix, *pair[0]), (matrix, *pair[1])) for matrix in range(count)))
    return tuple(found)


def _matrices(op: str) -> int:
    count = MATRIX_OPS.get(op) if isinstance(op, str) else None
    if count is None:
        raise InputError("unknown operation", field="op", value=op, fix=f"use one of {', '.join(MATRIX_OPS)}")
    return count
