"""How a warp reads a tile of shared memory: which row and vector each lane takes, and at which address that stands.

    lane ──access──▶ (row, vector) ──pitch──▶ base + row * pitch_bytes + vector * width ──swizzle──▶ address

>>> access_addresses(Tile(rows=32, row_bytes=128, swizzle="128B"), "column", 16)[:4]
[0, 144, 288, 432]

No numpy: a page asks the same in the reader's browser.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tmalab.errors import InputError
from tmalab.model.operands import MOST_SMEM_BYTES
from tmalab.model.swizzle import span_bytes, swizzled
from tmalab.model.tensor_map_fields import integer

LANES = 32
MATRIX_ROW_BYTES = 16  # of an 8x8 matrix of ldmatrix; PTX ISA, ldmatrix

# access: (lane, vectors in a row) → (row, vector), both before they wrap around
_PLACES: dict[str, Callable[[int, int], tuple[int, int]]] = {
    "row": lambda lane, per_row: (lane // per_row, lane % per_row),
    "column": lambda lane, _: (lane, 0),
    "diagonal": lambda lane, _: (lane, lane),
    "transposed": lambda lane, _: (lane % 8, lane // 8),
    "ldmatrix": lambda lane, _: (lane % 16, lane // 16),
}
ACCESSES = tuple(_PLACES)


@dataclass(frozen=True)
class Tile:
    """A tile in shared memory: `rows` of `row_bytes`, `padding_bytes` after each, from address `base` on, swizzled.

    The swizzle is the engine's, of the absolute address. A row shorter than the mode's span is padded to it, as the
    engine does (measured on H200). Raises InputError for numbers that are no tile's and for an unknown mode.
    """

    rows: int
    row_bytes: int
    swizzle: str = "none"
    padding_bytes: int = 0
    base: int = 0

    def __post_init__(self) -> None:
        least = {"rows": 1, "row_bytes": 1, "padding_bytes": 0, "base": 0}
        for name, limit in least.items():
            if integer(name, getattr(self, name)) < limit:
                raise InputError(
                    "too small for a tile",
                    field=name,
                    value=getattr(self, name),
                    limit=limit,
                    fix=f"use {limit} or more",
                )
        span_bytes(self.swizzle)  # raises for an unknown one
        if self.base + self.rows * self.pitch_bytes > MOST_SMEM_BYTES:
            raise InputError(
                "the tile is larger than any shared memory", field="rows", value=self.rows, limit=MOST_SMEM_BYTES,
                fix="use fewer or shorter rows",
            )  # fmt: skip

    @property
    def pitch_bytes(self) -> int:
        """Bytes from one row to the next."""
        return max(self.row_bytes + self.padding_bytes, span_bytes(self.swizzle))

    def address(self, row: int, byte: int) -> int:
        """The shared address of that byte of the row."""
        return swizzled(self.base + row * self.pitch_bytes + byte, self.swizzle)


def access_addresses(tile: Tile, access: str, width_bytes: int, at: int = 0) -> list[int]:
    """The address of each of the 32 lanes; a row is read in vectors of `width_bytes`, and rows and vectors wrap around.

    `at` is the vector (for "row" the row) at which the access begins. Raises InputError for an unknown access and for
    a width that is wider than the row.
    """
    if access not in ACCESSES:
        raise InputError("unknown access", field="access", value=access, fix=f"use one of {', '.join(ACCESSES)}")
    per_row = vectors_per_row(tile, width_bytes)
    addresses = []
    for lane in range(LANES):
        row, vector = _PLACES[access](lane, per_row)
        row, vector = (row + at, vector) if access == "row" else (row, vector + at)
        addresses.append(tile.address(row % tile.rows, vector % per_row * width_bytes))
    return addresses


def vectors_per_row(tile: Tile, width_bytes: int) -> int:
    """How many whole vectors of that width a row has. Raises InputError where it has none."""
    if not 1 <= integer("width_bytes", width_bytes) <= tile.row_bytes:
        raise InputError(
            "a row does not hold one vector", field="width_bytes", value=width_bytes, limit=tile.row_bytes,
            fix=f"use 1 to {tile.row_bytes}",
        )  # fmt: skip
    return tile.row_bytes // width_bytes
