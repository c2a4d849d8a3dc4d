"""A ring of stages in time: when each may be filled, is full, is read and is empty again, from what each part costs.

    producer   ├turn├turn├─────── waits: the ring is full ──┤├turn…
    stage 0    ├──── load ────┤├ work ┤├ hand-off ┤├──── load …        stages of them run side by side
    consumer   ├─── waits ────┤├ work ┤├ work ┤                        never idle if stages * work covers a round trip

>>> costs = PipelineCosts(
...     (1000.0,), turn_cycles=100, handoff_cycles=100, wait_cycles=50, work_cycles=400, rest_cycles=50
... )
>>> [round(run_pipeline(costs, stages, 64).cycles_per_tile) for stages in (1, 2, 3, 4, 8)]
[1500, 758, 516, 516, 516]
>>> round(costs.step_cycles), round(costs.round_trip_cycles), hiding_stages(costs)
(500, 1500, 3)

No time is fitted to a pipeline: each cost is measured by itself (kernels/pipeline_costs.cu). Pure Python.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

from tmalab.errors import InputError

MOMENTS = ("empty_seen", "issued", "wait_begin", "full_seen", "read_end", "full", "empty")
# So that neighbours among the loads are no neighbours among the sorted latencies: 7 has no factor of 16.
_STRIDE = 7
_BISECTIONS = 20


@dataclass(frozen=True)
class PipelineCosts:
    """What each part of a pipeline takes, in cycles.

    `load_cycles` are equally likely times from "the stage is known to be empty" to "the waiting consumer has seen it
    full"; `gap_cycles` the least time from one load's end to the next's (tile bytes over the rate); `loaded` pairs of
    (interval between loads, mean load_cycles) where other multiprocessors load at the same interval.
    """

    load_cycles: Sequence[float]
    turn_cycles: float  # producer: from one empty stage to the next
    handoff_cycles: float  # from the consumer's arrival on empty to the return of the producer's wait
    wait_cycles: float  # consumer: a wait on a stage that is full already
    work_cycles: float  # consumer: reads and computes
    rest_cycles: float  # consumer: arrives, and comes round to its next wait
    gap_cycles: float = 0.0
    issue_cycles: float = 0.0  # producer: arms and issues
    wake_cycles: float = 0.0  # from a phase's end to the return of the wait that slept on it
    loaded: Sequence[tuple[float, float]] = ()

    def __post_init__(self) -> None:
        """Raises InputError for a cost that is no time."""
        if not self.load_cycles:
            raise InputError("no load is timed", field="load_cycles", value=self.load_cycles, fix="give one or more")
        named = [(field.name, getattr(self, field.name)) for field in fields(self) if field.name.endswith("_cycles")]
        for name, value in [*named[1:], *(("load_cycles", one) for one in self.load_cycles)]:
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
                raise InputError("not a number of cycles", field=name, value=value, limit=0, fix="give 0 or more")

    @property
    def mean_load_cycles(self) -> float:
        """Of one load."""
        return sum(self.load_cycles) / len(self.load_cycles)

    @property
    def step_cycles(self) -> float:
        """The slowest of those that every tile passes: consumer, producer, memory. No pipeline is faster."""
        return max(self.wait_cycles + self.work_cycles + self.rest_cycles, self.turn_cycles, self.gap_cycles)

    @property
    def round_trip_cycles(self) -> float:
        """What one tile keeps its stage for: load, work, hand-off."""
        return self.mean_load_cycles + self.work_cycles + self.handoff_cycles

    def at_interval(self, interval_cycles: float) -> PipelineCosts:
        """The same with loads as slow as they are when every multiprocessor has one per interval."""
        if not self.loaded:
            return self
        longer = max(0.0, _between(self.loaded, interval_cycles) - self.mean_load_cycles)
        return replace(self, load_cycles=tuple(one + longer for one in self.load_cycles), loaded=())


@dataclass(frozen=True)
class PipelineRun:
    """When everything happens to every tile, in cycles since the start: MOMENTS → one number a tile."""

    moments: dict[str, list[float]]
    total_cycles: float
    bubble_cycles: list[float]  # of each tile: the consumer stands still for it

    @property
    def cycles_per_tile(self) -> float:
        """Over the whole run, its start included."""
        return self.total_cycles / len(self.bubble_cycles)


def run_pipeline(costs: PipelineCosts, num_stages: int, tiles: int) -> PipelineRun:
    """The run of `tiles` tiles through `num_stages` stages. Raises InputError for a number below 1.

    Where loads of others slow each load, the interval is looked for at which that slowness gives that interval.
    """
    for field, value in (("num_stages", num_stages), ("tiles", tiles)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise InputError("not a positive integer", field=field, value=value, limit=1, fix="give 1 or more")
    if not costs.loaded:
        return _run(costs, num_stages, tiles)
    # A longer interval means faster loads and so a shorter one: the two meet once.
    low, high = costs.step_cycles, _run(costs.at_interval(costs.step_cycles), num_stages, tiles).cycles_per_tile
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if _run(costs.at_interval(middle), num_stages, tiles).cycles_per_tile > middle:
            low = middle
        else:
            high = middle
    return _run(costs.at_interval((low + high) / 2), num_stages, tiles)


def _run(costs: PipelineCosts, num_stages: int, tiles: int) -> PipelineRun:
    moments: dict[str, list[float]] = {name: [] for name in MOMENTS}
    bubbles: list[float] = []
    producer = consumer = 0.0  # when each comes to its next wait
    full = -math.inf
    for tile in range(tiles):
        may_fill = producer + costs.wait_cycles  # a stage that is empty already still costs a wait
        if tile >= num_stages:
            may_fill = max(may_fill, moments["read_end"][tile - num_stages] + costs.handoff_cycles)
        load = costs.load_cycles[tile * _STRIDE % len(costs.load_cycles)]
        full = max(may_fill + load, full + costs.gap_cycles)
        seen = max(full, consumer + costs.wait_cycles)
        read_end = seen + costs.work_cycles
        arrival_cycles = max(costs.handoff_cycles - costs.wake_cycles, 0.0)
        row = (
            may_fill, may_fill + costs.issue_cycles, consumer, seen, read_end, full - costs.wake_cycles,
            read_end + arrival_cycles,
        )  # fmt: skip
        for name, value in zip(MOMENTS, row, strict=True):
            moments[name].append(value)
        bubbles.append(seen - consumer - costs.wait_cycles)
        producer = may_fill + costs.turn_cycles - costs.wait_cycles
        consumer = read_end + costs.rest_cycles
    return PipelineRun(moments, consumer, bubbles)


def hiding_stages(costs: PipelineCosts) -> int:
    """The stages that hide the latency, by Little's law: round trip over step, rounded up.

    Raises InputError where no part takes time: then no number of stages is too small.
    """
    if costs.step_cycles <= 0:
        raise InputError("a step takes no time", field="costs", value=costs, limit=0, fix="give work_cycles above 0")
    return math.ceil(costs.round_trip_cycles / costs.step_cycles - 1e-9)


def _between(points: Sequence[tuple[float, float]], at: float) -> float:
    """The straight line between the two points around `at`; beyond the ends, the end."""
    ordered = sorted(points)
    before = ordered[0]
    for point in ordered:
        if point[0] >= at:
            share = (at - before[0]) / (point[0] - before[0]) if point[0] > before[0] else 0.0
            return before[1] + max(share, 0.0) * (point[1] - before[1])
        before = point
    return before[1]
