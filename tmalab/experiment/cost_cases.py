"""The tiles and accesses of *What does my access cost?*, as the figure's controls reach them, and their one recording.

    rows × row bytes × (padding or swizzle)  ×  access × bytes a lane      every combination that a warp can run

>>> len(COST_LAYOUTS), cost_case().name
(7, 'cost/grid')
"""

from __future__ import annotations

from collections.abc import Iterator

from tmalab.experiment.case import Case
from tmalab.model.tile_access import ACCESSES, Tile
from tmalab.model.tile_cost import MATRIX_ACCESSES, MATRIX_BYTES, SWIZZLES, TILE_ACCESSES, TileAccess

COST_DTYPES = {"float16": 2, "float32": 4, "float64": 8}
COST_ROWS = (8, 32)
COST_ROW_BYTES = (32, 64, 128, 256)
COST_PADDINGS = (0, 4, 8, 16)
# Swizzle and padding of each layout: whoever pads swizzles not.
COST_LAYOUTS = (*(("none", padding) for padding in COST_PADDINGS), *((swizzle, 0) for swizzle in SWIZZLES[1:]))
COST_WIDTHS = (2, 4, 8, 16)


def cost_tiles() -> Iterator[Tile]:
    """Every tile of the figure."""
    for rows in COST_ROWS:
        for row_bytes in COST_ROW_BYTES:
            for swizzle, padding in COST_LAYOUTS:
                yield Tile(rows, row_bytes, swizzle, padding)


def cost_accesses() -> Iterator[TileAccess]:
    """Every access of the figure."""
    for access in TILE_ACCESSES:
        for width in (MATRIX_BYTES,) if access in MATRIX_ACCESSES else COST_WIDTHS:
            yield TileAccess(access, width)


def cost_case() -> Case:
    """All of them in one run of the probe, which leaves out what is not aligned."""
    return Case(
        "cost/grid", "banks",
        {
            "family": "tiles", "rows": list(COST_ROWS), "row_bytes": list(COST_ROW_BYTES), "swizzle": list(SWIZZLES),
            "padding_bytes": list(COST_PADDINGS), "access": list(ACCESSES), "width_bytes": list(COST_WIDTHS),
            "op": ["load", *MATRIX_ACCESSES.values()], "at": [0],
        },
    )  # fmt: skip


def cost_cases() -> Iterator[Case]:
    """The group "cost"."""
    yield cost_case()
