"""One slice of a wide matrix in every three-dimensional view of it: what the figure "Many atoms in one copy" draws.

    16 x 256 fp16, a slice of 16 x 128           the same memory as (group, row, col), a group 128 bytes wide
    ┌───────────────┬╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌┐            ┌─────┬─────┬╌╌╌╌╌┬╌╌╌╌╌┐
    │ 128 columns   ┆               ┆            │ g0  │ g1  ┆ g2  ┆ g3  ┆
    └───────────────┴╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌┘            └─────┴─────┴╌╌╌╌╌┴╌╌╌╌╌┘

>>> view = grouped_map("128B", 128)
>>> view.global_dim, view.global_strides, view.box_dim
((64, 16, 4), (512, 128), (64, 16, 2))

Element (row, column) holds 256 row + column, so that its bytes say where it came from.
"""

from __future__ import annotations

from collections.abc import Iterator

from tmalab.errors import InputError
from tmalab.experiment.case import Case
from tmalab.experiment.encode_cases import ADDRESS, encode_case
from tmalab.experiment.transfer_case import transfer_case
from tmalab.model.box_bytes import footprint_bytes
from tmalab.model.tensor_map import TensorMap

ATOM_ROWS, ATOM_COLUMNS, ATOM_SLICE = 16, 256, 128  # of the matrix, and how many columns of it are taken
ATOM_MEMORY = {"pattern": "iota16", "bytes": 8192}
ATOM_SWIZZLES = ("none", "32B", "64B", "128B")
ATOM_GROUPS = (32, 64, 128, 256)  # bytes of a row that one group holds; 256 leaves the slice whole
ATOM_COLS = (0, 128)  # where the slice begins
COPIES = ("3-D", "2-D")  # the whole slice at once, or group by group
_ELEMENT, _PITCH = 2, 512  # bytes of an element, bytes from a row of the matrix to the next
_AFTER = 128  # bytes of shared memory behind the box, to see that nothing is written there

# Rows that fill their swizzle span in part, alone: bytes of a row, under 128B.
NARROW_ROWS = (16, 32, 48, 64, 96, 112, 128)
NARROW_COUNT = 8


def grouped_map(swizzle: str, group_bytes: int, *, address: int | None = None) -> TensorMap:
    """The matrix as (col, row, group), innermost first, and the slice as one box of it. Legal or not.

    Raises InputError for a swizzle or a group that the figure does not have.
    """
    _check(swizzle, group_bytes)
    width = group_bytes // _ELEMENT
    return TensorMap.tiled(
        "float16", (width, ATOM_ROWS, ATOM_COLUMNS // width), (_PITCH, group_bytes),
        (width, ATOM_ROWS, ATOM_SLICE // width), swizzle=swizzle, address=address,
    )  # fmt: skip


def flat_map(swizzle: str, group_bytes: int, *, address: int | None = None) -> TensorMap:
    """The same memory as (column, row), and one group of the slice as a box of it. Raises as `grouped_map` does."""
    _check(swizzle, group_bytes)
    box_dim = (group_bytes // _ELEMENT, ATOM_ROWS)
    return TensorMap.tiled(
        "float16", (ATOM_COLUMNS, ATOM_ROWS), (_PITCH,), box_dim, swizzle=swizzle, address=address
    )  # fmt: skip


def atoms_case(swizzle: str, group_bytes: int, col: int) -> Case:
    """The slice at column `col` as one copy of the three-dimensional view."""
    tm = grouped_map(swizzle, group_bytes)
    coords = (0, 0, col * _ELEMENT // group_bytes)
    return transfer_case(
        _name(swizzle, group_bytes, col), tm, "load", coords, memory=ATOM_MEMORY,
        smem_bytes=footprint_bytes(tm) + _AFTER,
    )  # fmt: skip


def flat_cases(swizzle: str, group_bytes: int, col: int) -> list[Case]:
    """The same slice as one two-dimensional copy a group, each put behind the one before it."""
    tm, whole = flat_map(swizzle, group_bytes), grouped_map(swizzle, group_bytes)
    width, each = tm.box_dim[0], footprint_bytes(tm)
    return [
        transfer_case(
            f"{_name(swizzle, group_bytes, col)}/{number}", tm, "load", (col + number * width, 0), memory=ATOM_MEMORY,
            smem_base=number * each, smem_bytes=footprint_bytes(whole) + _AFTER,
        )
        for number in range(ATOM_SLICE // width)
    ]  # fmt: skip


def refused_case(swizzle: str, group_bytes: int, copies: str) -> Case:
    """What the driver is asked where a group is wider than the swizzle's span. `copies` is "3-D" or "2-D"."""
    build = grouped_map if copies == "3-D" else flat_map
    return encode_case(f"atoms/{swizzle}/g{group_bytes}/{copies}", build(swizzle, group_bytes, address=ADDRESS))


def narrow_case(row_bytes: int) -> Case:
    """Eight rows of `row_bytes` under 128B: what a row does that does not fill its span."""
    tm = TensorMap.tiled(
        "float16", (ATOM_COLUMNS, ATOM_ROWS), (_PITCH,), (row_bytes // _ELEMENT, NARROW_COUNT), swizzle="128B"
    )
    return transfer_case(
        f"atoms/row/{row_bytes}", tm, "load", (0, 0), memory=ATOM_MEMORY, smem_bytes=footprint_bytes(tm) + _AFTER
    )  # fmt: skip


def fits(swizzle: str, group_bytes: int) -> bool:
    """Whether the view is one that the driver takes: no rule is broken."""
    return not grouped_map(swizzle, group_bytes).violations()


def atoms_cases() -> Iterator[Case]:
    """Every view of the slice under every swizzle, taken at once and group by group, and what is refused."""
    for swizzle in ATOM_SWIZZLES:
        for group_bytes in ATOM_GROUPS:
            if not fits(swizzle, group_bytes):
                yield from (refused_case(swizzle, group_bytes, copies) for copies in COPIES)
                continue
            for col in ATOM_COLS:
                yield atoms_case(swizzle, group_bytes, col)
                yield from flat_cases(swizzle, group_bytes, col)
    yield from map(narrow_case, NARROW_ROWS)


def _name(swizzle: str, group_bytes: int, col: int) -> str:
    return f"atoms/{swizzle}/g{group_bytes}/c{col}"


def _check(swizzle: str, group_bytes: int) -> None:
    for field, value, known in (("swizzle", swizzle, ATOM_SWIZZLES), ("group_bytes", group_bytes, ATOM_GROUPS)):
        if value not in known:
            fix = f"use one of {', '.join(map(str, known))}"
            raise InputError("not a view of the figure", field=field, value=value, fix=fix)
