"""One measured run of "Two loads, one barrier" as lanes, and all runs in bands.

    Timeline's events ─▶ producer, engine, counts, phase, consumer, second warp     the run drawn
    the states of `counted` ─▶ bytes to come, as the barrier said them              another run
    lines, waits ─▶ 10 % to 90 %, the median                                        all runs

A barrier at work cannot be read, so the counts of the run drawn are replayed from its events, and its lanes say so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from tmalab.experiment.barrier_word import TX_STEP_BYTES, decode_state
from tmalab.experiment.observation import Observation
from tmalab.experiment.timeline import Counts, Event, Timeline
from tmalab.experiment.timeline_cases import TILE_BYTES
from tmalab.figures.lanes import Lane, Mark

BOTH = 2 * TILE_BYTES
AFTER = 1.08  # how far the lanes go on after the wait has returned


class Drawn(NamedTuple):
    """One run as lanes: which marks are its steps, in order of time, where the axis ends, what the head line says."""

    lanes: list[Lane]
    order: list[str]
    end: int
    head: str

    def to_dict(self) -> dict[str, Any]:
        """As loads.js takes it."""
        return {
            "lanes": [lane.to_dict() for lane in self.lanes], "order": self.order, "end": self.end, "head": self.head
        }  # fmt: skip


class _Clock:
    """Times in words: cycles of the SM's clock, and nanoseconds."""

    def __init__(self, cycles_per_ns: float):
        self.per_ns = cycles_per_ns

    def __call__(self, cycles: int) -> str:
        return f"{cycles} cycles ({cycles / self.per_ns:.0f} ns)"

    def span(self, begin: int, end: int) -> str:
        """From begin to end."""
        return f"{begin} to {end} cycles, {end - begin} long ({(end - begin) / self.per_ns:.0f} ns)"


class _Barrier:
    """The counts of the run drawn, as the timeline replays them: what they are from each moment on.

    A line is seen a look late, which may be after the wait has returned at `end`: by then the bytes were there.
    """

    def __init__(self, line: Timeline, end: int):
        found = sorted((event for event in line.events if event.after is not None), key=lambda event: event.end_cycles)
        assert found[0].before is not None
        self.end = end
        self._changes = [
            (0, found[0].before),
            *((min(event.end_cycles, end), event.after) for event in found if event.after),
        ]

    def at(self, cycles: int) -> Counts:
        """The counts at that moment; a change counts from its own moment on."""
        return [counts for begin, counts in self._changes if begin <= cycles][-1]

    def then(self, cycles: int) -> str:
        """The same in words."""
        return f" The barrier then: {said(self.at(cycles))}."

    def changes(self, name: str) -> list[tuple[int, int]]:
        """(from when, what then) of one count, where it changes."""
        found: list[tuple[int, int]] = []
        for begin, counts in self._changes:
            value = getattr(counts, name)
            if found and found[-1][0] == begin:
                found.pop()
            if not found or found[-1][1] != value:
                found.append((begin, value))
        return found


def measured(
    seen: Observation, line: Timeline, counted: Observation | None = None, twin: Observation | None = None
) -> Drawn:
    """The run that the recording singles out, the counts that another run read, and all runs in bands."""
    clock = _Clock(line.cycles_per_ns)
    events = {event.name: event for event in line.events}
    (wait,) = line.of_lane("consumer")
    arm, loads = next(event for event in line.events if event.before), [events["load A"], events["load B"]]
    landed = {name: _landing(line, name) for name in "AB"}
    end = wait.end_cycles
    barrier, stop = _Barrier(line, end), round(end * AFTER)
    issues = _issues(clock, arm, loads, barrier)
    flights = {name: _flight(clock, name, events[f"load {name}"], landed[name], barrier) for name in "AB"}
    lanes = [
        Lane("producer", (*issues, *_work(clock, line.of_lane("issuing warp"), end)), "warp 0"),
        *(Lane("TMA engine", tuple(flights[name]), f"tile {name}") for name in "AB"),
        Lane("pending arrivals", tuple(_stretches("arrivals", clock, barrier, stop)), "replayed"),
        Lane("bytes to come", tuple(_stretches("bytes", clock, barrier, stop)), "replayed from the lines"),
    ]
    if counted is not None:
        lanes.append(Lane("bytes to come", tuple(_read(clock, counted)), "read, in another run"))
    last = min(max(landed["A"][1], landed["B"][1]), end)
    phases = [
        Mark("phase-0", 0, last, "phase 0", "outline", "Phase 0 goes on: an arrival or a byte is still to come."),
        Mark(
            "phase-flip", last, end, "?", "hatch",
            f"The last line was seen at {clock(last)}; the first to see the phase complete was the consumer, at "
            f"{clock(end)}. In between, phase 0 completed and phase 1 began.",
        ),
        Mark("phase-1", end, stop, "1", "soft", f"Phase 1, seen at {clock(end)}.{barrier.then(end)}"),
    ]  # fmt: skip
    lanes += [
        Lane("phase", tuple(mark for mark in phases if mark.end != mark.start), "as its end was seen"),
        Lane("consumer", tuple(_waits(clock, wait, stop, barrier)), "warp 1"),
        Lane("second warp", tuple(_work(clock, line.of_lane("second warp"), end)), "issues nothing"),
    ]
    order = order_of(lanes)
    lanes += _jitter(clock, seen, twin)
    last = round(max(mark.end or mark.start for lane in lanes for mark in lane.marks))
    return Drawn(lanes, order, round(last * 1.02), _cost(line, arm, loads, end))


def _landing(line: Timeline, name: str) -> tuple[int, int, int]:
    """When the first and the last line of a tile were seen changed, and how many there are."""
    times = [event.end_cycles for event in line.events if event.name.startswith(f"{name} line ")]
    return min(times), max(times), len(times)


def _issues(clock: _Clock, arm: Event, loads: Sequence[Event], barrier: _Barrier) -> Iterator[Mark]:
    assert arm.before is not None
    assert arm.after is not None
    yield Mark(
        "arm", arm.begin_cycles, arm.end_cycles, "arm", "solid",
        f"{arm.ptx} One arrival, and {BOTH} bytes to come: {clock.span(arm.begin_cycles, arm.end_cycles)}. Before: "
        f"{said(arm.before)}; after: {said(arm.after)}.",
    )  # fmt: skip
    for name, load in zip("AB", loads, strict=True):
        yield Mark(
            f"issue-{name}", load.begin_cycles, load.end_cycles, name, "solid",
            f"{load.ptx} Tile {name}: it took its thread {clock.span(load.begin_cycles, load.end_cycles)}. It changes "
            f"no count; the engine does, when the bytes land.{barrier.then(load.end_cycles)}",
        )  # fmt: skip


def said(counts: Any) -> str:
    """A barrier's counts in words."""
    arrivals = f"{counts.pending_count} arrival{'s'[: counts.pending_count != 1]}"
    return f"{arrivals} and {counts.tx_count} bytes to come, phase {counts.phase}"


def _work(clock: _Clock, events: Sequence[Event], until: int) -> Iterator[Mark]:
    for event in events:
        begin, end = max(event.begin_cycles, 0), event.end_cycles
        yield Mark(
            f"work-{'issuer' if event.lane == 'issuing warp' else 'second'}", begin, end, f"{event.detail['fma']} FMA",
            "soft",
            f"{event.lane.capitalize()}: {event.detail['fma']} multiply-adds from {clock.span(begin, end)}, while the "
            f"tiles were on their way. The phase was seen complete at {until}.",
        )  # fmt: skip


def _flight(clock: _Clock, name: str, load: Event, landed: tuple[int, int, int], barrier: _Barrier) -> Iterator[Mark]:
    first, last, lines = landed
    there = min(last, barrier.end)
    yield Mark(
        f"flight-{name}", load.end_cycles, first, f"{name} in flight", "hatch",
        f"Tile {name} is on its way until a line of it is seen in shared memory: "
        f"{clock.span(load.end_cycles, first)}.{barrier.then(load.end_cycles)}",
    )  # fmt: skip
    yield Mark(
        f"land-{name}", first, last, f"{name} lands", "outline",
        f"The {lines} lines of tile {name}, 128 bytes each, were seen changed from {clock.span(first, last)}. Before "
        f"the last: {said(barrier.at(there - 1))}; after it: {said(barrier.at(there))}.",
    )  # fmt: skip


def _stretches(what: str, clock: _Clock, barrier: _Barrier, stop: int) -> Iterator[Mark]:
    """A count over time: one mark as long as it stays the same."""
    changes = barrier.changes("pending_count" if what == "arrivals" else "tx_count")
    for number, (begin, value) in enumerate(changes):
        until = changes[number + 1][0] if number + 1 < len(changes) else stop
        was = f", {changes[number - 1][1]} before" if number else ""
        meaning = f"pending arrival{'s'[: value != 1]}" if what == "arrivals" else "bytes to come"
        yield Mark(
            f"{what}-{number}", begin, until, str(value), "outline" if value else "soft",
            f"{value} {meaning}{was}, from {clock(begin)}. {_REPLAYED[what]}",
        )  # fmt: skip


_REPLAYED = {
    "arrivals": "Replayed from the instructions; a barrier at work cannot be read.",
    "bytes": f"Replayed: {TILE_BYTES} bytes less when all lines of a tile have been seen.",
}


def bytes_read(counted: Observation) -> list[tuple[int, int]]:
    """(cycles, bytes awaited at most) as each state says it that an arrive returned."""
    return [
        (int(cycles), decode_state(int(state)).most_tx_count)
        for cycles, state in zip(counted["state_cycles"], counted["states"], strict=True)
        if cycles >= 0
    ]


def _read(clock: _Clock, counted: Observation) -> Iterator[Mark]:
    """The bytes that states of another run said to be awaited: a stretch from the look that first found so many."""
    looks = bytes_read(counted)
    changes = [look for number, look in enumerate(looks) if not number or looks[number - 1][1] != look[1]]
    for number, (begin, value) in enumerate(changes):
        until = changes[number + 1][0] if number + 1 < len(changes) else round(begin * 1.06)
        yield Mark(
            f"read-{number}", begin, until, str(value), "outline" if value else "soft",
            f"Another run: a state that mbarrier.arrive returned at {clock(begin)} says "
            f"{'at most ' if value else ''}{value} bytes to come. States tell them in steps of {TX_STEP_BYTES}.",
        )  # fmt: skip


def _waits(clock: _Clock, wait: Event, stop: int, barrier: _Barrier) -> Iterator[Mark]:
    begin, end = wait.begin_cycles, wait.end_cycles
    tries = wait.detail["tries"]
    yield Mark(
        "wait", begin, end, "waits", "hatch",
        f"{wait.ptx} Parity 0: waits for phase 0. {clock.span(begin, end)}, in {tries} "
        f"{'try' if tries == 1 else 'tries'}. Before: {said(barrier.at(begin))}; when it returns: "
        f"{said(barrier.at(end))}.",
    )  # fmt: skip
    yield Mark("read", end, stop, "reads", "solid", f"From {clock(end)} on the consumer may read both tiles.")


_COUNTS = ("pending arrivals", "bytes to come")


def order_of(lanes: Sequence[Lane]) -> list[str]:
    """The keys of what happens, as time passes: a count's stretches are not steps of their own."""
    marks = [mark for lane in lanes if lane.name not in _COUNTS for mark in lane.marks if mark.key != "phase-0"]
    return [mark.key for mark in sorted(marks, key=lambda mark: (mark.start, mark.end or mark.start))]


def _jitter(clock: _Clock, seen: Observation, twin: Observation | None) -> Iterator[Lane]:
    """When each tile was whole and when the wait returned, in all runs: 10 to 90 %, the median, and the extremes."""
    half = seen["lines"].shape[1] // 2
    times = {
        "A whole": seen["lines"][:, :half].max(axis=1), "B whole": seen["lines"][:, half:].max(axis=1),
        "wait returns": seen["waits"][:, 0, 1],
    }  # fmt: skip
    for number, (name, values) in enumerate(times.items()):
        low, middle, high = quantiles(values)
        runs, key = len(values), name.split()[0].lower()
        own = ""
        if twin is not None and number < 2:  # in a twin run A's barrier has the watcher, B's the consumer
            median = quantiles(twin["waits"][:, 1 - number, 1])[1]
            own = f" With a barrier of its own, in another {runs} runs, half were seen complete by {clock(median)}."
        yield Lane(name, (
            Mark(
                f"band-{key}", low, high, "", "soft",
                f"{name}, {runs} runs: four in five between {low} and {high} cycles; all between {int(min(values))} "
                f"and {int(max(values))}.{own}",
            ),
            Mark(
                f"median-{key}", middle, None, str(middle), "solid",
                f"{name}, {runs} runs: half of them by {clock(middle)}.{own}",
            ),
        ), f"{runs} runs")  # fmt: skip


def quantiles(values: Any) -> list[int]:
    """10 %, 50 % and 90 % of the values, rounded."""
    import numpy as np

    return [round(float(one)) for one in np.quantile(values, (0.1, 0.5, 0.9))]


def _cost(line: Timeline, arm: Event, loads: Sequence[Event], end: int) -> str:
    """What the issue cost, and what was done meanwhile."""
    (issuer,), (second,) = line.of_lane("issuing warp"), line.of_lane("second warp")
    took = " and ".join(str(load.end_cycles - load.begin_cycles) for load in loads)
    return (
        f"Issuing cost one thread {arm.end_cycles - arm.begin_cycles} cycles to arm and {took} for the loads. The "
        f"wait returned {end - loads[1].end_cycles} cycles later. Meanwhile its warp did {issuer.detail['fma']} "
        f"multiply-adds, the second warp {second.detail['fma']}."
    )
