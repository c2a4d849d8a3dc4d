"""What "A coordinate tensor" shows, as tables: where each tile begins, and which SM loaded it when.

    across[7], down[132]        where the tiles of a column and of a strip begin, in elements
    calls                       what the chosen tile's calls give, its start left out: "{at} o (64,256):(1@1,1@0)"
    measured                    issued, landed (ns), differ: a number a tile; sm: one a strip; all with the provenance

>>> spec, provenance = coordinates_spec(None, "A coordinate tensor")
>>> spec["across"][2], spec["down"][1], spec["calls"][1][1], provenance["measured"]
(512, 64, '{at} o (64,256):(1@1,1@0)', None)

Every tile's numbers come in the order of the matrix: strip by strip.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tmalab.experiment.cute_cases import STRIPS, TILE, TILES
from tmalab.experiment.observation import Observation
from tmalab.figures.answers import Observe, answer_to
from tmalab.figures.cost_tables import write_numbers
from tmalab.figures.landing_tables import bins
from tmalab.figures.tile_tables import source_line
from tmalab.model.coordinate_tensor import CoordinateTensor

VIEWS = ("hardware", "model", "difference")
SHOWN = ("landed", "SM")
BANDS = 4  # the strips stand in so many columns
SHADES = 8
ELEMENT_BYTES = 2
ROWS, COLS = STRIPS * TILE[0], TILES * TILE[1]


def coordinates_spec(observe: Observe | None, title: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Everything that the figure draws: (spec, provenance), plain JSON. Raises HardwareError for a run that failed."""
    spec = {
        "schema": 1, "name": "coordinates", "title": title, "strips": STRIPS, "tiles": TILES, "tile": list(TILE),
        "bands": BANDS, "shape": [ROWS, COLS], "row_bytes": COLS * ELEMENT_BYTES,
        "across": [TILE[1] * number for number in range(TILES)],
        "down": [TILE[0] * number for number in range(STRIPS)],
        "calls": calls(), "choices": {"view": list(VIEWS), "shown": list(SHOWN)},
    }  # fmt: skip
    seen = answer_to(observe, "cute/strips")
    if seen is None:
        return spec, {"line": None, "measured": None}
    return spec, {"line": source_line(seen), "measured": _measured(seen)}


def calls() -> list[list[str]]:
    """(call, what it gives), the chosen tile's indices and start left out as {index} and {at}."""
    whole = CoordinateTensor.of((ROWS, COLS))
    tile = whole.local_tile(TILE, (0, 0))
    grouped = tile.group_modes(0, 2)
    start = f"({','.join(map(str, tile.start))})"
    size = f"({TILE[0]}, {TILE[1]})"

    def open_(tensor: CoordinateTensor) -> str:
        return str(tensor).replace(start, "{at}", 1)

    return [
        ["coordinate_view", str(whole)],
        [f"local_tile(coordinate_view, {size}, {{index}})", open_(tile)],
        ["group_modes(chosen, 0, 2)", open_(grouped)],
        ["tma_partition(atom, 0, make_layout(1), …)", open_(grouped.partition())],
        ["copy(atom, global_part, shared_part, …)", "cp.async.bulk.tensor.2d … [map, {coords}] …"],
    ]


def _flat(seen: Observation, name: str) -> list[int]:
    return [int(one) for one in seen[name].ravel()]


def _measured(seen: Observation) -> dict[str, Any]:
    issued, landed, differ, sm = (_flat(seen, name) for name in ("issued_ns", "landed_ns", "differ", "sm"))
    tick = int(seen["timer_step_ns"])
    taken = [end - begin for begin, end in zip(issued, landed, strict=True)]
    return {
        "issued": write_numbers(issued), "taken": write_numbers(taken), "differ": write_numbers(differ),
        "sm": write_numbers(sm), "tick": tick, "elements": int(seen["elements"]), "runs": seen.provenance.repeats,
        "version": f"CuTe DSL {seen['package']['version']}", "end": round(1.02 * max(landed)),
        "bins": {"landed": list(bins(landed, max(tick, 1))), "SM": list(bins(sm, 1))},
    }  # fmt: skip


def shade(value: int, scale: Sequence[int]) -> int:
    """The shade of a value on a scale of (first, width, how many): the lightest is first, the darkest last."""
    first, width, many = scale
    return 0 if many == 1 else round((value - first) // width * (SHADES - 1) / (many - 1) + 1e-9)
