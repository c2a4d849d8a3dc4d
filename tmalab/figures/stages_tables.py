"""What "Loads that run ahead" shows, as tables: one block's tiles through 1 to 4 buffers, and each version's rate.

    cycles[version]   of each tile: its load issued, seen complete, on its way out, its buffer free; one list of numbers
    share[version]    how fast it copied 1 GB, beside the driver's own copy of the same bytes

>>> stages_spec(None, "Loads that run ahead")[1]["states"][:1]
[None]

All of it is measured, and the model has no clock.
"""

from __future__ import annotations

from typing import Any

from tmalab.experiment.cute_cases import WALKS
from tmalab.experiment.observation import Observation
from tmalab.figures.answers import Observe, answer_to
from tmalab.figures.cost_tables import write_numbers
from tmalab.figures.tile_tables import source_line

VIAS = ("registers", "tma")  # how a tile leaves shared memory
STAGES = (1, 2, 3, 4)
STAMPS = 4
BLOCKS = 132
NEVER = -1  # a buffer that no later tile wanted


def stages_spec(observe: Observe | None, title: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Everything that the figure draws: (spec, provenance), plain JSON. Raises HardwareError for a run that failed."""
    spec = {
        "schema": 1, "name": "stages", "title": title, "choices": {"via": list(VIAS), "stages": list(STAGES)},
        "tile_bytes": 32768, "blocks": BLOCKS,
    }  # fmt: skip
    walked, rated = (answer_to(observe, name) for name in ("cute/timeline", "cute/rate"))
    if walked is None or rated is None:
        return spec, {"line": None, "states": [None] * len(WALKS), "end": 0}
    shares = _shares(rated)
    states = [
        {"cycles": write_numbers([int(one) for one in cycles.ravel()]), "share": shares[(*walk, BLOCKS)]}
        for walk, cycles in zip(WALKS, walked["cycles"], strict=True)
    ]
    # One scale for all versions: a shorter walk looks shorter.
    return spec, {"line": source_line(rated), "states": states, "end": round(1.02 * int(walked["cycles"].max()))}


def _shares(rated: Observation) -> dict[tuple[str, int, int], float]:
    """Version → its rate as a share of the driver's copy, from medians."""
    import numpy as np

    *medians, driver = np.median(rated["ms"], axis=1)
    versions = rated.case.params["versions"]
    return {
        (via, stages, blocks): round(float(driver / ms), 3)
        for (via, stages, blocks), ms in zip(versions, medians, strict=True)
    }
