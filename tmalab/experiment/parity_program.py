"""One barrier over seven tiles as an event list, and what each wait may do by the model of the mbarrier.

    phase     │ 0 │ 1 │ 2 │ 3 │ 4 │ 5 │ 6 │      a wait of parity p passes while the last complete phase has parity p;
    parity    │ 0 │ 1 │ 0 │ 1 │ 0 │ 1 │ 0 │      before phase 0 it counts as 1

>>> [parity_given("loop index", tile) for tile in range(4)], [parity_given("inverted", tile) for tile in range(4)]
([0, 1, 2, 3], [1, 0, 1, 0])
>>> outlooks("right", "in flight")[3]
Outlook(early=False, rightly=True, never=False)
>>> outlooks("inverted", "in flight")[3], outlooks("inverted", "landed")[3]
(Outlook(early=True, rightly=False, never=True), Outlook(early=False, rightly=False, never=True))
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tmalab.model.mbarrier import MBarrier

TILES, TILE_BYTES = 7, 2048
RULES = ("right", "always 0", "always 1", "loop index", "inverted")
# All meet around every tile, and the consumer waits while the load is in flight, or after it has landed; or a second
# barrier tells the producer that the buffer is free, and nobody meets. The words of the cases: early, late, free.
PACES = {"in flight": "early", "landed": "late", "pipeline": "free"}


class Outlook(NamedTuple):
    """What a wait may do: return before its tile is in, return because it is in, never return."""

    early: bool
    rightly: bool
    never: bool


def case_name(rule: str, pace: str) -> str:
    """The case of the catalogue in which this was run."""
    return f"parity/{PACES[pace]}/{rule.replace(' ', '-')}"


def parity_given(rule: str, tile: int) -> int:
    """The operand that the consumer's wait for `tile` is given."""
    return {"right": tile & 1, "always 0": 0, "always 1": 1, "loop index": tile, "inverted": tile & 1 ^ 1}[rule]


def barrier_after(phases: int) -> MBarrier:
    """The tiles' barrier when so many phases are complete and the next is not armed yet."""
    barrier = MBarrier.init(1)
    for _ in range(phases):
        barrier = barrier.arrive_expect_tx(TILE_BYTES).complete_tx(TILE_BYTES)
    return barrier


def outlooks(rule: str, pace: str) -> list[Outlook]:
    """Of each tile's wait, what it may do.

    When the consumer begins to wait for tile i, at most i + 1 phases are complete: the producer issues no further load
    before the consumer has read. At least i are where all meet, and i + 1 where the load has landed; in a pipeline as
    many as the consumer's own waits have made sure of.
    """
    found = []
    sure = 0
    for tile in range(TILES):
        least = {"in flight": tile, "landed": tile + 1, "pipeline": sure}[pace]
        given = parity_given(rule, tile)
        passing = [phases for phases in range(least, tile + 2) if barrier_after(phases).test_wait(given)]
        found.append(Outlook(min(passing, default=TILES) <= tile, tile + 1 in passing, tile + 1 not in passing))
        sure = min(passing, default=tile + 1)
    return found


def parity_events(rule: str, pace: str) -> list[dict[str, Any]]:
    """The event list: agents `producer` and `consumer`, barriers `full` and, in a pipeline, `empty`."""
    pipeline = pace == "pipeline"
    names = ("full", "empty") if pipeline else ("full",)
    events: list[dict[str, Any]] = [{"t": "init", "op": "init", "bar": name, "count": 1} for name in names]
    meet = {"t": "all", "op": "cta_sync"}
    for tile in range(TILES):
        late = {"t": "producer", "op": "wait", "bar": "full", "parity": tile & 1}
        events += [
            *([{"t": "producer", "op": "wait", "bar": "empty", "parity": tile & 1 ^ 1}] if pipeline else []),
            {"t": "producer", "op": "arrive_expect_tx", "bar": "full", "bytes": TILE_BYTES},
            {"t": "producer", "op": "tma_load", "bar": "full", "bytes": TILE_BYTES, "buf": "tile"},
            *([] if pipeline else [late, meet] if pace == "landed" else [meet]),
            {"t": "consumer", "op": "wait", "bar": "full", "parity": parity_given(rule, tile)},
            {"t": "consumer", "op": "ld_shared", "buf": "tile"},
            *([late] if pace == "in flight" else []),
            {"t": "consumer", "op": "arrive", "bar": "empty"} if pipeline else meet,
        ]
    return events
