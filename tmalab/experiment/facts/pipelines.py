"""What rings of stages and copies cost in time; recorded in the group "pipeline".

    pipeline/copy    pipeline/l2/…    pipeline/costs        an answer is a limit that was kept, since times vary

>>> [fact.id for fact in PIPELINES]
['tiles-from-a-counter', 'two-stages-are-enough-for-cached-tiles', 'a-full-memory-makes-loads-wait']
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tmalab.experiment.case import Case
from tmalab.experiment.facts.fact import Trial, fact
from tmalab.experiment.observation import Observation
from tmalab.experiment.pipeline_cases import TILE_BYTES, pipeline_cases
from tmalab.experiment.pipeline_runs import cycles_of

_CASES: dict[str, Case] = {case.name: case for case in pipeline_cases()}
_AS_FAST = 1.05  # of the least time: as fast as it gets


def _read(name: str, answer: str, question: str, reads: Callable[[Observation], str]) -> Trial:
    return Trial(_CASES[name], question, answer, reads=reads)


def _best_share(*orders: str) -> Callable[[Observation], str]:
    """Of the versions that choose their tiles so: whether the best reaches 98 % of the driver's rate."""

    def reads(seen: Observation) -> str:
        *medians, driver = np.median(seen["ms"], axis=1)
        versions = seen.case.params["versions"]
        best = max(driver / ms for version, ms in zip(versions, medians, strict=True) if version[0] in orders)
        wrong = sum(seen["differ"])
        return f"{'98 % or more' if best >= 0.98 else 'under 95 %' if best < 0.95 else 'between'}, {wrong} words wrong"

    return reads


def _depths(seen: Observation) -> str:
    """Of each compute time: the first depth that is as fast as any."""
    params = seen.case.params
    found = []
    for fma in params["fma"]:
        runs = {stages: cycles_of(seen, stages, fma) for stages in params["stages"]}
        medians = {stages: float(np.median(cycles)) for stages, cycles in runs.items() if cycles is not None}
        best = min(medians.values())
        found.append(next(stages for stages, cycles in medians.items() if cycles < _AS_FAST * best))
    return ", ".join(map(str, found))


def _loaded(tile_bytes: int) -> Callable[[Observation], str]:
    """How much longer a load takes while all load as fast as they can, than with 6 times that interval."""

    def reads(seen: Observation) -> str:
        paced = seen["paced"][seen.case.params["tile_bytes"].index(tile_bytes)]
        return "more than 5 times" if paced[0, 1] > 5 * paced[-1, 1] else "less than 5 times"

    return reads


PIPELINES = (
    fact(
        "tiles-from-a-counter",
        "A copy by the TMA engine keeps up with the driver's if whoever is ready takes the next tile from a counter; "
        "with shares fixed beforehand it does not.",
        "Not in the manuals.",
        _read("pipeline/copy", "98 % or more, 0 words wrong", "tiles from a counter", _best_share("counter")),
        _read(
            "pipeline/copy", "under 95 %, 0 words wrong", "a fixed share of the tiles",
            _best_share("interleaved", "chunks"),
        ),
    ),
    fact(
        "two-stages-are-enough-for-cached-tiles",
        "With tiles in the L2 a ring of two stages is as fast as one of eight, whatever the consumer computes.",
        "Not in the manuals.",
        *(
            _read(f"pipeline/l2/{size}", "2, 2, 2, 2, 2", f"the least depth as fast as any, {size} bytes", _depths)
            for size in TILE_BYTES
        ),
    ),
    fact(
        "a-full-memory-makes-loads-wait",
        "A tile's load takes more than five times as long while every multiprocessor loads as fast as it can.",
        "Not in the manuals.",
        *(
            _read("pipeline/costs", "more than 5 times", f"{size} bytes, beside a sixth of that rate", _loaded(size))
            for size in TILE_BYTES[2:]
        ),
    ),
)  # fmt: skip
