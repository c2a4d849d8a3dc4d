"""Block 0's stamps as "The ladder" takes them: what share of a tile each role waited, and three stretches of its life.

    waits       role 0 fills stages, 1 and 2 read them     begin and end of each wait, step after step
    epilogues   of each consumer                           begin and end of each tile's way out

>>> part_steps(8192, (128, 256, 64), "middle")[:3]
[59, 60, 61]
"""

from __future__ import annotations

from typing import Any

from tmalab.experiment.observation import Observation
from tmalab.figures.cost_tables import write_numbers

PARTS = ("first steps", "middle", "way out")
SHOWN_STEPS = 10
NEVER = -1  # a stamp that was not made


def part_steps(k: int, tile: tuple[int, int, int], part: str) -> list[int]:
    """The steps of K, counted over the block's life, that a part of the picture shows."""
    steps = -(-k // tile[2])
    first = {"first steps": 0, "middle": steps // 2 - SHOWN_STEPS // 2, "way out": steps - SHOWN_STEPS // 2}[part]
    return list(range(max(first, 0), max(first, 0) + SHOWN_STEPS))


def stalls(seen: Observation, steps: int) -> dict[str, Any]:
    """Of the time of block 0's first tile, `steps` long: the share that each role waited, and that its way out took.

    Only steps that were stamped count; `whole` says whether those are all. `way_out` is None where it was not stamped.
    """
    if "waits" not in seen.arrays:
        return {"waits": [None] * 3, "way_out": None, "step": 0, "whole": False}
    waits = seen["waits"][:, :steps].astype(int)
    shares: list[float | None] = []
    for role in waits:
        known = role[role[:, 1] != NEVER]
        time = int(known[-1, 1] - known[0, 0]) if len(known) else 0
        shares.append(round(float((known[:, 1] - known[:, 0]).sum()) / time, 3) if time else None)
    begin, end = map(int, seen["epilogues"][0, 0])
    out = None if end == NEVER else round((end - begin) / (end - int(waits[1, 0, 0])), 3)
    return {"waits": shares, "way_out": out, "step": step_cycles(waits[1]), "whole": steps <= seen["waits"].shape[1]}


def step_cycles(consumer: Any) -> int:
    """Cycles from one step's end of waiting to the next one's, in the median."""
    import numpy as np

    ends = consumer[consumer[:, 1] != NEVER][:, 1]
    return round(float(np.median(np.diff(ends)))) if len(ends) > 1 else 0


def stretch(seen: Observation, steps: list[int]) -> dict[str, Any] | None:
    """What each role did while consumer 0 was at `steps`, and the ways out then; None where none of them was stamped.

    `roles` has of each its first step and its stamps, in cycles since `begin`, itself in cycles of the block's life;
    `turns` says that the second consumer has a tile of its own.
    """
    if "waits" not in seen.arrays:
        return None
    waits, epilogues = seen["waits"].astype(int), seen["epilogues"].astype(int)
    mine = waits[1, [step for step in steps if step < waits.shape[1]]]
    mine = mine[mine[:, 1] != NEVER]
    if not len(mine):
        return None
    begin, end = int(mine[0, 0]), int(mine[-1, 1])
    soon = end + 3 * step_cycles(waits[1])  # the last products still run when the last wait has ended
    outs = [
        [consumer, int(first), int(last)]
        for consumer, tiles in enumerate(epilogues) for first, last in tiles
        if last != NEVER and last > begin and first < soon
    ]  # fmt: skip
    end = max([end, *(last for _, _, last in outs)])
    roles = []
    for role in waits:
        among = [step for step, (first, last) in enumerate(role) if last >= begin and first <= end and last != NEVER]
        if among and among[0] > 0 and role[among[0] - 1, 1] != NEVER:
            among.insert(0, among[0] - 1)  # what it was at when the stretch began
        cycles = write_numbers((role[among].ravel() - begin).tolist())
        roles.append({"first": among[0], "cycles": cycles} if among else None)
    outs = [[consumer, first - begin, last - begin] for consumer, first, last in outs]
    turns = bool((waits[2, :, 1] != NEVER).any() and waits[2, 0, 1] == NEVER)
    return {"begin": begin, "end": end - begin, "roles": roles, "outs": outs, "turns": turns}
