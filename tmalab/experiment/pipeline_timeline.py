"""`pipeline_timeline`: one recorded ring as a `Timeline`, for Perfetto: producer, engine, each stage, consumer.

    producer      ▮fill 0 ▮fill 1           ▮fill 2
    TMA engine      ├─ 0 ──────┤  ├─ 2 …
    stage 0       empty ── filling ── full ── empty
    consumer      ├ waits ──────┤▮ 0 ▮▮ 1 ▮

A run is a number: place of its stage count times the compute times, plus that of its compute time.
"""

from __future__ import annotations

from tmalab.errors import InputError
from tmalab.experiment.observation import Observation
from tmalab.experiment.pipeline_runs import moments_of
from tmalab.experiment.timeline import Event, Timeline
from tmalab.experiment.timeline_builders import LOAD, TRY_WAIT

PRODUCER, ENGINE, CONSUMER = "producer", "TMA engine", "consumer"
_USUAL_STAGES = 3  # drawn if no run is named
_NOTE = "Full and empty were seen by warps that look every {} cycles; the run was watched, and so a little slower."


def pipeline_timeline(seen: Observation, run: int | None = None) -> Timeline:
    """The first tiles of one ring. Raises InputError for a run that there is not, or whose ring has no room."""
    stages, works = seen.case.params["stages"], seen.case.params["fma"]
    number = stages.index(_USUAL_STAGES) * len(works) if run is None and _USUAL_STAGES in stages else run or 0
    moments = None
    if 0 <= number < len(stages) * len(works):
        num_stages, fma = stages[number // len(works)], works[number % len(works)]
        moments = moments_of(seen, num_stages, fma)
    if moments is None:
        limit = len(stages) * len(works) - 1
        raise InputError("no such run, or no room for it", field="run", value=run, limit=limit, fix="use another")
    events, rows = [], {name: [int(one) for one in row] for name, row in moments.items()}
    for tile in range(len(rows["issued"])):
        at = {name: row[tile] for name, row in rows.items()}
        stage = f"stage {tile % num_stages}"
        events += [
            Event(f"fill {tile}", PRODUCER, at["empty_seen"], at["issued"], LOAD),
            Event(f"tile {tile} in flight", ENGINE, at["issued"], at["full"], latest=True),
            Event(f"tile {tile} on its way", stage, at["issued"], at["full"], latest=True),
            Event(f"tile {tile} full", stage, at["full"], at["empty"], latest=True),
            Event(f"wait for {tile}", CONSUMER, at["wait_begin"], at["full_seen"], TRY_WAIT),
            Event(f"read {tile}", CONSUMER, at["full_seen"], at["read_end"], detail={"multiplications": fma}),
        ]
    lanes = (PRODUCER, ENGINE, *(f"stage {stage}" for stage in range(num_stages)), CONSUMER)
    ordered = sorted(events, key=lambda event: (event.begin_cycles, event.end_cycles))
    return Timeline(
        f"{seen.case.name}, {num_stages} stages, {fma} multiplications", lanes, tuple(ordered), seen["cycles_per_ns"],
        seen["tick_ns"], seen.provenance.line(), (_NOTE.format(round(seen["look_cycles"])),),
    )  # fmt: skip
