"""What "When may I reuse the buffer?" shows, as tables: a combination of stores, commits and a wait is one state.

    fates      of each store, 0 covered by the wait, 1 its group left pending, 2 in no group, 3 nothing waits
    lines      of each 128-byte line of each store, in how many rounds it reached global memory overwritten
    cycles     since the first issue: issued, waited (10 %, 50 %, 90 %), overwritten, all done

>>> pack_runs([0, 0, 0, 2, 40, 40]), unpack_runs("0*3 2 40*2")
('0*3 2 40*2', [0, 0, 0, 2, 40, 40])
>>> state_number(2, 0b11, 0) == 2 * len(WAITS) + 3 * len(WAITS)
True

The model's tables stand in the spec, the measured ones beside the provenance: another run has others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from tmalab.experiment.observation import Observation
from tmalab.experiment.store_programs import FATES, fates, groups_of, reuse_events
from tmalab.figures.answers import Observe, answer_to
from tmalab.figures.tile_tables import source_line
from tmalab.model.barrier_program import BarrierProgram

VIEWS = ("hardware", "model", "difference")
MOST_STORES, STORE_LINES = 4, 128
KINDS = {"none": "none", ".read": "read", "full": "group"}  # the figure's word: the case's
WAITS = (("none", 0), *((kind, n) for kind in ("read", "group") for n in range(MOST_STORES)))  # as in the cases
LETTERS = "cpon"  # of the fates, in the same order


def pack_runs(numbers: Sequence[int]) -> str:
    """Numbers as text, equal neighbours once with their count."""
    runs = [(value, len(list(equal))) for value, equal in groupby(numbers)]
    return " ".join(str(value) if many == 1 else f"{value}*{many}" for value, many in runs)


def unpack_runs(text: str) -> list[int]:
    """What `pack_runs` packed."""
    pairs = [run.partition("*") for run in text.split()]
    return [int(value) for value, _, many in pairs for _ in range(int(many or 1))]


def combinations() -> Iterator[tuple[int, int, str, int]]:
    """Every (stores, commits, wait, n), in the order of the states."""
    for stores in range(1, MOST_STORES + 1):
        for commits in range(1 << stores):
            for wait, n in WAITS:
                yield stores, commits, wait, n


def state_number(stores: int, commits: int, wait: int) -> int:
    """Where a combination stands among the states; commits after stores that there are not do not count."""
    return ((1 << stores) - 2 + (commits & ((1 << stores) - 1))) * len(WAITS) + wait


def reuse_spec(observe: Observe | None, title: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Everything that the figure draws: (spec, provenance), both plain JSON.

    `runs` has an entry a number of stores, None where nothing is recorded; `states` one a combination: the rounds that
    saw a byte overwritten, in all and by store, the lines, the cycles. Raises HardwareError for a run that failed.
    """
    lines: dict[str, int] = {}
    runs: list[dict[str, Any] | None] = []
    states: list[list[Any] | None] = []
    for stores in range(1, MOST_STORES + 1):
        seen = answer_to(observe, f"reuse/stores-{stores}")
        if seen is None:
            runs.append(None)
            states += [None] * ((1 << stores) * len(WAITS))
            continue
        mine = list(_states(seen, stores))
        states += mine
        runs.append({
            "line": lines.setdefault(source_line(seen), len(lines)), "rounds": int(seen["rounds"]),
            "cycles_per_ns": round(float(seen["cycles_per_ns"]), 4), "end": max(max(cycles) for *_, cycles in mine),
        })  # fmt: skip
    said: dict[tuple[str, str], int] = {}
    model = []
    for stores, commits, wait, n in combinations():
        outcome = BarrierProgram(reuse_events(stores, commits, wait, n)).run()
        numbers = "".join(str(FATES.index(fate)) for fate in fates(stores, commits, wait, n))
        model.append([numbers, said.setdefault((outcome.verdict, outcome.fix), len(said))])
    spec = {
        "schema": 1, "name": "reuse", "title": title, "lines": STORE_LINES, "waits": len(WAITS), "model": model,
        "said": [list(one) for one in said],
        "groups": [_groups(*one[:2]) for one in list(combinations())[:: len(WAITS)]],
        "choices": {
            "stores": list(range(1, MOST_STORES + 1)), "commits": list(range(1 << MOST_STORES)), "wait": list(KINDS),
            "n": list(range(MOST_STORES)), "view": list(VIEWS), "line": list(range(MOST_STORES * STORE_LINES)),
        },
    }  # fmt: skip
    return spec, {"lines": list(lines), "runs": runs, "states": states}


def _groups(stores: int, commits: int) -> list[int]:
    """The group that each store is in; -1 for none."""
    committed = groups_of(stores, commits).committed
    return [next((number for number, group in enumerate(committed) if store in group), -1) for store in range(stores)]


def _states(seen: Observation, stores: int) -> Iterator[list[Any]]:
    """One combination after the other, commits slower than waits; a round counts for a store if any line of it does."""
    masks, waits = list(seen["masks"]), [tuple(wait) for wait in seen["waits"]]
    for commits in range(1 << stores):
        for wait in WAITS:
            at = masks.index(commits), waits.index(wait)
            hit = seen["new_lines"][at] > 0
            issue, waited, overwritten, done = (seen[f"{name}_cycles"][(slice(None), *at)].tolist() for name in _TIMES)
            yield [
                int(hit.any(axis=1).sum()), hit.sum(axis=0).tolist(), pack_runs(seen["line_runs"][at].tolist()),
                [issue[1], *waited, overwritten[1], done[1]],
            ]  # fmt: skip


_TIMES = ("issue", "wait", "overwritten", "done")
