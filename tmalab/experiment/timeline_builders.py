"""`timeline_of`: the observation of two loads, or of a tile that lands, as one run's `Timeline`.

    steps, waits, lines | states ─▶ events ─▶ the barrier's counts, from event to event

What the barrier itself told (the case watched as `counted`) is taken from its states. Elsewhere the counts are replayed
from the events, and a note says so: between two events they cannot be read from a barrier at work.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from tmalab.errors import InputError
from tmalab.experiment.barrier_word import decode_state
from tmalab.experiment.observation import Observation
from tmalab.experiment.timeline import Counts, Event, Timeline

LOAD = (
    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
    "[dstMem], [tensorMap, {c0, c1}], [mbar];"
)
PTX = {
    "ARRIVE_EXPECT_TX": "mbarrier.arrive.expect_tx.shared::cta.b64 state, [addr], tx_count;",
    "EXPECT_TX": "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [addr], tx_count;",
    "ARRIVE": "mbarrier.arrive.shared::cta.b64 state, [addr];",
    "LOAD": LOAD,
    "DELAY": "",
}
TRY_WAIT = "mbarrier.try_wait.parity.shared::cta.b64 waitComplete, [addr], phaseParity;"
TEST_WAIT = "mbarrier.test_wait.parity.shared::cta.b64 waitComplete, [addr], phaseParity;"
TILE_BYTES = 2048
_A, _B = range(2)
PRODUCER, ENGINE, BARRIER, CONSUMER, ISSUER, SECOND = (
    "producer thread", "TMA engine", "barrier", "consumer", "issuing warp", "second warp"
)  # fmt: skip
BATCH_FMA = 64 * 32  # of a warp


def timeline_of(seen: Observation, run: int | None = None) -> Timeline:
    """One run of an observation: run number `run`, else the one whose wait took the median time.

    Of a pipeline a run is a ring, see `pipeline_timeline`. Raises InputError for a probe whose observations have no
    moments, or a run that was not kept.
    """
    if seen.case.probe == "pipeline":
        from tmalab.experiment.pipeline_timeline import pipeline_timeline  # late: it builds on this module

        return pipeline_timeline(seen, run)
    builders = {"two_loads": _two_loads, "landing": _landing}
    drawn = {"work", "landed"} & set(seen.arrays)  # of an order that is only counted neither was kept
    if seen.case.probe not in builders or not drawn:
        raise InputError(
            "this observation has no timeline", field="case", value=seen.case.name,
            fix="use one of timeline/two-loads/…, landing/… or pipeline/…",
        )  # fmt: skip
    lanes, events, notes = builders[seen.case.probe](seen, run)
    ordered = sorted(events, key=lambda event: (event.begin_cycles, event.end_cycles))
    return Timeline(
        seen.case.name, lanes, tuple(ordered), seen["cycles_per_ns"], seen["tick_ns"], seen.provenance.line(), notes
    )


def replayed(events: Sequence[Event], effects: dict[int, tuple[int, int]], arrivals: int) -> list[Event]:
    """The events with the counts before and after those that change them.

    `effects`: index of the event → (arrivals that it brings, change of the tx-count); an event counts at its end. A
    phase that completes awaits `arrivals` arrivals again. Source: PTX ISA, "mbarrier: Phase completion".
    """
    counts = Counts(0, arrivals, 0)
    changed = list(events)
    for index in sorted(effects, key=lambda at: events[at].end_cycles):
        arrived, tx_change = effects[index]
        after = Counts(counts.phase, counts.pending_count - arrived, counts.tx_count + tx_change)
        if after.pending_count == 0 and after.tx_count == 0:
            after = Counts(counts.phase + 1, arrivals, 0)
        changed[index] = replace(events[index], before=counts, after=after)
        counts = after
    return changed


# --- two loads --------------------------------------------------------------------------------------------------------

_Built = tuple[tuple[str, ...], list[Event], tuple[str, ...]]
_REPLAYED = "The barrier's counts are replayed from the events: at work it cannot be read."
_COUNTED = "The barrier's counts were read: an extra warp arrives again and again, and each arrive returns them."
_LINES = "A load's end is when its last 128-byte line was seen in shared memory, its completion on the barrier later."


def _two_loads(seen: Observation, run: int | None) -> _Built:
    watch, drawn = seen.case.params["watch"], seen["drawn"]
    index = drawn if run is None else run
    if not 0 <= index < len(seen["steps"]) or (watch == "arrives" and index != drawn):
        raise InputError("this run was not kept", field="run", value=run, limit=len(seen["steps"]) - 1, fix="use none")
    steps, marks = seen.case.params["steps"], seen["steps"][index].tolist()
    events: list[Event] = []
    effects: dict[int, tuple[int, int]] = {}
    issued: dict[int, int] = {}
    for at, (kind, operand) in enumerate(steps):
        if kind == "LOAD":
            issued[operand] = marks[at + 1]
        if kind != "LOAD" and kind != "DELAY":
            effects[len(events)] = (int("ARRIVE" in kind), operand if "EXPECT" in kind else 0)
        events.append(Event(_step_name(kind, operand), PRODUCER, marks[at], marks[at + 1], PTX[kind]))
    ends = _ends_of_loads(seen, index)
    for load, end in ends.items():
        name = "AB"[load]
        events.append(Event(f"{name} in flight", ENGINE, issued[load], end, latest=True))
        effects[len(events)] = (0, -TILE_BYTES)
        events.append(Event(f"{name}: complete_tx {TILE_BYTES}", BARRIER, end, end, latest=True))
    if seen.case.params.get("is_twin"):
        effects = {}  # two barriers: no one row of counts
    begin, end, tries = seen["waits"][index][0].tolist()
    ptx = TRY_WAIT if seen.case.params.get("sleeps", True) else TEST_WAIT
    events.append(Event("wait", CONSUMER, begin, end, ptx, detail={"tries": tries, "completed": end >= 0}))
    for lane, (first, last, batches) in zip((ISSUER, SECOND), seen["work"][index].tolist(), strict=True):
        detail = {"batches": batches, "fma": batches * BATCH_FMA}
        events.append(Event(f"{batches * BATCH_FMA} FMA", lane, first, last, detail=detail))
    notes = {"lines": (_REPLAYED, _LINES), "barrier": ("Each load has a barrier of its own in this run.",)}
    if watch == "arrives":
        return (
            (PRODUCER, ENGINE, BARRIER, CONSUMER, ISSUER, SECOND), [*events, *_readings(seen)], (_COUNTED,)
        )  # fmt: skip
    if watch == "lines":
        events += _lines(seen["lines"][index].tolist())
    counted = replayed(events, effects, seen.case.params.get("arrivals", 1)) if effects else events
    return (PRODUCER, ENGINE, BARRIER, CONSUMER, ISSUER, SECOND), counted, notes[watch]


def _step_name(kind: str, operand: int) -> str:
    names = {
        "ARRIVE_EXPECT_TX": f"arrive, expect {operand} bytes", "EXPECT_TX": f"expect {operand} bytes",
        "ARRIVE": "arrive", "LOAD": f"load {'AB'[operand % 2]}", "DELAY": "delay",
    }  # fmt: skip
    return names[kind]


def _ends_of_loads(seen: Observation, run: int) -> dict[int, int]:
    """Cycles at which each load was first seen to have ended."""
    watch = seen.case.params["watch"]
    if watch == "lines":
        lines = seen["lines"][run].tolist()
        return {_A: max(lines[: len(lines) // 2]), _B: max(lines[len(lines) // 2 :])}
    if watch == "barrier":
        return {_A: int(seen["waits"][run][1][1]), _B: int(seen["waits"][run][0][1])}
    falls = [at for at, _, before, after in _falls(seen) if after < before]
    return {_A: falls[0], _B: falls[-1]}  # by the order in which they came: the barrier does not say whose bytes


def _falls(seen: Observation) -> Iterator[tuple[int, int, int, int]]:
    """(cycles, index, bytes before, bytes after) where the bytes awaited changed from one state to the next."""
    before = 0
    for index, (state, cycles) in enumerate(zip(seen["states"].tolist(), seen["state_cycles"].tolist(), strict=True)):
        if cycles < 0:
            return
        after = decode_state(state).most_tx_count
        if after != before:
            yield cycles, index, before, after
        before = after


def _readings(seen: Observation) -> Iterator[Event]:
    """The counts as the states gave them, without the watcher's own arrivals."""
    own, states = len(seen["states"]), seen["states"].tolist()
    for cycles, index, before, after in _falls(seen):
        pending = decode_state(states[index]).pending_count - (own - index)
        read = Counts(decode_state(states[index]).phase_parity, pending, after)
        yield Event(
            "counts read", BARRIER, cycles, cycles, PTX["ARRIVE"], replace(read, tx_count=before), read, latest=True
        )


def _lines(lines: Sequence[int]) -> Iterator[Event]:
    half = len(lines) // 2
    for line, cycles in enumerate(lines):
        name = f"{'AB'[line // half]} line {line % half}"
        yield Event(name, ENGINE, cycles, cycles, latest=True)


# --- a tile that lands ------------------------------------------------------------------------------------------------


def _landing(seen: Observation, run: int | None) -> _Built:
    if run not in (None, seen["drawn"]):
        raise InputError("only one run's pieces were kept", field="run", value=run, fix="use none")
    drawn, params = seen["drawn"], seen.case.params
    tile_bytes = 2 * params["box_dim"][0] * params["box_dim"][1]
    issued, complete = int(seen["issued"][drawn]), int(seen["complete"][drawn])
    events = [Event("load", PRODUCER, 0, issued, LOAD), Event("in flight", ENGINE, issued, complete, latest=True)]
    effects = {len(events): (0, -tile_bytes)}
    events.append(Event(f"complete_tx {tile_bytes}", BARRIER, complete, complete, TEST_WAIT, latest=True))
    begins, ends = seen["landed_before"].tolist(), seen["landed"].tolist()
    for piece, (begin, end) in enumerate(zip(begins, ends, strict=True)):
        events.append(Event(f"piece {piece}", ENGINE, max(begin, 0), end, latest=True, detail={"piece": piece}))
    armed = [Event("armed", BARRIER, 0, 0, PTX["ARRIVE_EXPECT_TX"]), *events]
    shifted: dict[int, tuple[int, int]] = {0: (1, tile_bytes), **{at + 1: effect for at, effect in effects.items()}}
    return (PRODUCER, ENGINE, BARRIER), replayed(armed, shifted, 1), (_REPLAYED,)


def as_chrome_trace(seen: Observation, run: int | None = None) -> dict[str, Any]:
    """`timeline_of` in the Trace Event Format."""
    return timeline_of(seen, run).to_chrome_trace()
