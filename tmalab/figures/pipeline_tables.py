"""What "A pipeline" shows, as tables: runs of 1 to 8 stages as an H200 timed them, and as the model says they must be.

    sweeps[tile]                 None, or one sweep: the window that is drawn, the work of a tile, Little's law
      cells[stages, compute]     None (no room for the ring), or what a tile took, its bubble, and when each step was

>>> pipeline_spec(None, "hbm", "A pipeline")[1]["sweeps"]
[None, None, None, None]

All times are cycles, measured or made of what was measured: they stand with the provenance, since another run has
others. A bubble is the time that the consumers wait for a full barrier, less what a wait costs that need not wait.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tmalab.experiment.observation import Observation
from tmalab.experiment.pipeline_cases import FMA, STAGES, TILE_BYTES, TILES
from tmalab.experiment.pipeline_runs import costs_of, moments_of
from tmalab.figures.answers import Observe, answer_to
from tmalab.figures.cost_tables import write_numbers
from tmalab.figures.tile_tables import gpu_name, source_line
from tmalab.model.pipeline import PipelineCosts, hiding_stages, run_pipeline

Run = Mapping[str, Sequence[float]]
VIEWS = ("hardware", "model", "difference")
MOMENTS = ("empty_seen", "issued", "full", "wait_begin", "full_seen", "read_end", "empty")  # as they come
DRAWN = 6  # tiles of the run with one stage: the stretch of time that every depth is drawn over
NOISE = 20  # cycles by which a wait that need not wait may differ from what it costs
STEADY = 8  # from this tile on a ring of any depth has gone round


def pipeline_spec(observe: Observe | None, place: str, title: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Everything that the figure draws of one place: (spec, provenance), plain JSON. Raises HardwareError."""
    spec = {
        "schema": 1, "name": "pipeline", "title": title, "place": place,
        "noise": NOISE, "moments": list(MOMENTS), "tiles": TILES,
        "choices": {"tile": list(TILE_BYTES), "compute": list(FMA), "stages": list(STAGES), "view": list(VIEWS)},
    }  # fmt: skip
    lines: dict[str, int] = {}
    costs, gpu = answer_to(observe, "pipeline/costs"), gpu_name(None)
    sweeps: list[dict[str, Any] | None] = []
    for tile_bytes in TILE_BYTES:
        seen = answer_to(observe, f"pipeline/{place}/{tile_bytes}")
        if seen is None or costs is None:
            sweeps.append(None)
            continue
        gpu = gpu_name(seen)
        line = lines.setdefault(source_line(seen), len(lines))
        sweeps.append({"line": line, **_sweep(seen, [costs_of(costs, place, tile_bytes, fma) for fma in FMA])})
    return spec, {"lines": list(lines), "gpu": gpu, "sweeps": sweeps}


def _sweep(seen: Observation, costs: Sequence[PipelineCosts]) -> dict[str, Any]:
    """One size of tiles: all its cells, and Little's law for it."""
    ends = [_window(seen, fma) for fma in FMA]
    return {
        "cycles_per_ns": round(float(seen["cycles_per_ns"]), 4), "late": round(float(seen["look_cycles"])),
        "ends": ends, "pass": [round(one.wait_cycles) for one in costs],
        "work": [round(one.work_cycles) for one in costs], "law": [_law(one) for one in costs],
        "cells": [
            _cell(seen, costs[number], stages, number, ends[number])
            for stages in STAGES for number in range(len(FMA))
        ],
    }  # fmt: skip


def _window(seen: Observation, fma: int) -> int:
    """The cycles that are drawn, whatever the depth: in them one stage serves `DRAWN` tiles."""
    shallow = moments_of(seen, STAGES[0], fma)
    return round(1.01 * int(shallow["empty"][DRAWN - 1])) if shallow is not None else 1


def _law(costs: PipelineCosts) -> list[int]:
    """Little's law: a stage's round trip, the slowest step, and the stages that hide the one behind the other."""
    return [round(costs.round_trip_cycles), round(costs.step_cycles), hiding_stages(costs)]


def _cell(seen: Observation, costs: PipelineCosts, stages: int, number: int, end: int) -> dict[str, Any] | None:
    """A depth and a compute time: cycles a tile over all runs, and one run beside the model's."""
    import numpy as np

    measured = moments_of(seen, stages, FMA[number])
    if measured is None:
        return None
    totals = np.asarray(seen["total_cycles"])[stages - 1, number] / TILES
    modelled = run_pipeline(costs, stages, TILES)
    seen_run: Run = {name: measured[name].tolist() for name in MOMENTS}
    told: Run = {name: modelled.moments[name][: len(seen_run["issued"])] for name in MOMENTS}
    return {
        "tile": [round(float(one), 1) for one in (np.median(totals), totals.min(), totals.max())],
        "plain": round(float(seen["plain_cycles"][stages - 1, number]) / TILES, 1),
        "told": round(modelled.total_cycles / TILES, 1),
        "parts": [_parts(one, costs.wait_cycles) for one in (seen_run, told)],
        "runs": [_packed(one, stages, end) for one in (seen_run, told)],
    }


def _parts(moments: Run, passing: float) -> list[int]:
    """Of a tile on average, once the ring has gone round: from one's end to the next's, bubble, work."""
    ends, waits = moments["read_end"], range(STEADY, len(moments["read_end"]))
    bubbles = [bubble(moments, tile, passing) for tile in waits]
    works = [moments["read_end"][tile] - moments["full_seen"][tile] for tile in waits]
    period = (ends[-1] - ends[STEADY - 1]) / len(waits)
    return [round(float(one)) for one in (period, sum(bubbles) / len(waits), sum(works) / len(waits))]


def bubble(moments: Run, tile: int, passing: float) -> float:
    """How long the consumers stood still for a tile, in cycles."""
    waited = float(moments["full_seen"][tile] - moments["wait_begin"][tile] - passing)
    return waited if waited > NOISE else 0.0


def _packed(moments: Run, stages: int, end: int) -> list[str]:
    """The moments of the tiles that come into the window, a text a name.

    The watcher looks late, or not at all: what somebody acted on was there before.
    """
    count = sum(1 for at in moments["empty_seen"] if at < end)
    found = {name: [round(float(one)) for one in moments[name][:count]] for name in MOMENTS}
    for name, acted in (("full", found["full_seen"]), ("empty", [*found["empty_seen"][stages:], *[end] * stages])):
        seen = zip(found[name], acted, strict=False)
        found[name] = [min(one, later) if one >= 0 else later for one, later in seen]
    return [write_numbers(one) for one in found.values()]
