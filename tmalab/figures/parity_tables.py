"""What "Parity" shows, as tables: what test_wait answered, when the wait returned, and whose words were read.

    asked    before arming, in flight, landed, each for parity 0 and 1: in how many runs test_wait answered "yes"
    waits    in flight, landed, in a pipeline: [runs in which the wait returned, the median of its cycles]
    words    what was read then: in how many runs [its own, older ones, half a tile, a later tile's]

The model's tables stand in the spec, the measured ones beside the provenance: another run has others.

>>> whose(3, lowest=4, highest=4), whose(3, lowest=3, highest=4), whose(0, lowest=0, highest=0)
('own', 'half', 'stale')
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any

from tmalab.experiment.observation import Observation
from tmalab.experiment.parity_program import PACES, RULES, TILES, barrier_after, case_name, outlooks, parity_events
from tmalab.experiment.parity_program import parity_given as given_by
from tmalab.figures.answers import Observe, answer_to
from tmalab.figures.tile_tables import source_line
from tmalab.model.barrier_program import BarrierProgram

VIEWS = ("hardware", "model", "difference")
WHOSE = ("own", "stale", "half", "later")
# A row of the figure: what it shows, and which parity (of an answer) or which pace (of a wait).
ROWS = (
    *(("asked", row) for row in range(6)),
    ("waits", 0), ("words", 0), ("waits", 1), ("waits", 2), ("words", 2),
)  # fmt: skip
_ASKED = ("unarmed_0", "unarmed_1", "flight_0", "flight_1", "after_0", "after_1")


def whose(tile: int, *, lowest: int, highest: int) -> str:
    """Whose words a consumer of `tile` read; tile i's own word is i + 1, and 0 lay there before the first."""
    own = tile + 1
    if highest > own:
        return "later"
    return "stale" if highest < own else "own" if lowest == own else "half"


def parity_spec(observe: Observe | None, title: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Everything that the figure draws: (spec, provenance), both plain JSON.

    `states` has an entry a rule; a pace of which nothing is recorded is None there. Raises HardwareError for a run that
    failed.
    """
    lines: dict[str, int] = {}
    states = []
    for rule in RULES:
        paces: list[dict[str, Any] | None] = []
        for pace in PACES:
            seen = answer_to(observe, case_name(rule, pace))
            if seen is not None:
                line = lines.setdefault(source_line(seen), len(lines))
                paces.append({**_measured(seen, asked=pace == "in flight"), "line": line})
            else:
                paces.append(None)
        states.append(paces)
    spec = {
        "schema": 1, "name": "parity", "title": title, "tiles": TILES, "rows": [list(row) for row in ROWS],
        "paces": list(PACES),
        "choices": {
            "rule": list(RULES), "view": list(VIEWS), "tile": list(range(TILES)), "row": list(range(len(ROWS))),
        },
        "asked": [[int(barrier_after(phases).test_wait(row % 2)) for phases in _phases(row)] for row in range(6)],
        "model": [_model(rule) for rule in RULES],
    }  # fmt: skip
    return spec, {"lines": list(lines), "states": states}


def _phases(row: int) -> range:
    """How many phases are complete, tile by tile, at the moment of that row."""
    return range(1, TILES + 1) if row >= 4 else range(TILES)


def _model(rule: str) -> dict[str, Any]:
    """The operand of each wait, the outlook of each wait in both paces, and what the whole program may do."""
    return {
        "given": [given_by(rule, tile) for tile in range(TILES)],
        "outlooks": [[[int(one) for one in outlook] for outlook in outlooks(rule, pace)] for pace in PACES],
        "outcomes": [list(BarrierProgram(parity_events(rule, pace)).run().outcomes) for pace in PACES],
    }


def _measured(seen: Observation, *, asked: bool) -> dict[str, Any]:
    """Counts over all runs, tile by tile."""
    by_run, names = seen.arrays["answers"].tolist(), seen.values["answers"]
    columns = {name: [[run[tile][at] for run in by_run] for tile in range(TILES)] for at, name in enumerate(names)}
    runs = len(columns["parity"][0])
    return {
        "runs": runs, "asked": [[sum(of_tile) for of_tile in columns[name]] for name in _ASKED] if asked else None,
        "waits": [_wait(columns["completed"][tile], columns["waited_cycles"][tile]) for tile in range(TILES)],
        "words": [_words(tile, columns["lowest"][tile], columns["highest"][tile]) for tile in range(TILES)],
    }  # fmt: skip


def _wait(completed: Sequence[int], cycles: Sequence[int]) -> list[int]:
    """[runs in which the wait returned, the median of its cycles there]; if it never did, the cycles it was given."""
    returned = [waited for done, waited in zip(completed, cycles, strict=True) if done]
    return [len(returned), round(median(returned or cycles))]


def _words(tile: int, lowest: Sequence[int], highest: Sequence[int]) -> list[int]:
    found = [whose(tile, lowest=low, highest=high) for low, high in zip(lowest, highest, strict=True)]
    return [found.count(one) for one in WHOSE]
