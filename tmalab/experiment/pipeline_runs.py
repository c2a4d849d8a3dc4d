"""What the recordings of pipelines hold, read: the moments of a run, and the costs that the model is given.

"pipeline/costs"       ─▶ costs_of(seen, place, tile_bytes, fma) ─▶ model.run_pipeline(costs, …)
"pipeline/hbm/16384"   ─▶ cycles_of(seen, num_stages, fma), moments_of(seen, num_stages, fma)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tmalab.errors import InputError
from tmalab.experiment.observation import Observation
from tmalab.model.pipeline import PipelineCosts

if TYPE_CHECKING:
    import numpy as np


def cycles_of(seen: Observation, num_stages: int, fma: int) -> list[int] | None:
    """Of each run, its whole time in cycles; None where the ring has no room in shared memory."""
    cycles = seen["total_cycles"][_place(seen, num_stages, fma)].tolist()
    return None if cycles[0] < 0 else cycles


def moments_of(seen: Observation, num_stages: int, fma: int) -> dict[str, np.ndarray] | None:
    """Name → int32[kept]: cycles since the start of one run, of which the barriers were watched.

    `full` and `empty` are when the watcher saw the phase complete, or the return of a wait on it if that was earlier.
    """
    import numpy as np

    if cycles_of(seen, num_stages, fma) is None:
        return None
    rows = np.cumsum(seen["moment_steps"][_place(seen, num_stages, fma)], axis=-1, dtype=np.int32)
    moments = dict(zip(seen["moments"], rows, strict=True))
    moments["full"] = np.minimum(moments["full"], moments["full_seen"])
    again = moments["empty_seen"][num_stages:]  # the same stages, a round later
    moments["empty"][: len(again)] = np.minimum(moments["empty"][: len(again)], again)
    return moments


def costs_of(seen: Observation, place: str, tile_bytes: int, fma: int, consumers: int = 1) -> PipelineCosts:
    """What the model needs of one place, tile size and compute time. Raises InputError for what was not measured."""
    params = seen.case.params
    size = _index("tile_bytes", tile_bytes, params["tile_bytes"])
    row = _index("place", {"all": "hbm"}.get(place, place), ["l2", "hbm"])
    of_consumer = seen["consume"][size, _index("fma", fma, params["fma"])]
    wait, work, rest = of_consumer[_index("consumers", consumers, params["consumers"])].tolist()
    wake, handoff = seen["handoff"].tolist()
    paced = [tuple(pair) for pair in seen["paced"][size].tolist()]
    return PipelineCosts(
        load_cycles=tuple(seen["load"][row, size].tolist()), turn_cycles=float(seen["turn"][size]),
        handoff_cycles=handoff, wait_cycles=wait, work_cycles=work, rest_cycles=rest, wake_cycles=wake,
        gap_cycles=min(interval for interval, _ in paced) if place == "all" else 0.0,
        loaded=tuple(paced) if place == "all" else (),
    )  # fmt: skip


def _place(seen: Observation, num_stages: int, fma: int) -> tuple[int, int]:
    params = seen.case.params
    return _index("num_stages", num_stages, params["stages"]), _index("fma", fma, params["fma"])


def _index(field: str, value: Any, known: list[Any]) -> int:
    if value not in known:
        raise InputError("not measured", field=field, value=value, fix=f"use one of {', '.join(map(str, known))}")
    return known.index(value)
