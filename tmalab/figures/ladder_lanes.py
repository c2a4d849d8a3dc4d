"""The stalls of one block as lanes: who waited for what, and what was done between.

    producer     ░ empty ░▮issues                       ▮ the loads of one step
    consumer 0   ▒ full ▒┌ products ┐▒┌ products ┐███    █ the tile on its way out

ladder_words.js makes the same lanes of the same stamps.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tmalab.figures.cost_tables import read_numbers
from tmalab.figures.lanes import Lane, Mark

NAMES = ("producer", "consumer 0", "consumer 1")
NOTES = ("fills stages", "rows 0 to 63", "rows 64 to 127")


def lanes_of(rung: Mapping[str, Any], part: Mapping[str, Any]) -> list[Lane]:
    """The lanes of one stretch of block 0's life; what began before it begins with it."""
    alone = part["roles"][0] is None  # nobody only fills stages
    lanes = []
    for role, one in enumerate(part["roles"]):
        if one is None:
            continue
        name, note = NAMES[role], NOTES[role]
        if alone:
            name, note = "whole block", "loads and multiplies"
        elif role and part["turns"]:
            note = "a tile of its own"
        elif role and part["roles"][2] is None:
            name, note = "consumer", "all 128 rows"
        flat = read_numbers(one["cycles"])
        stamps = {one["first"] + at // 2: (flat[at], flat[at + 1]) for at in range(0, len(flat), 2)}
        outs = [(begin, end) for consumer, begin, end in part["outs"] if consumer == role - 1]
        lanes.append(Lane(name, tuple(_marks(rung, part, role, stamps, outs)), note))
    return lanes


def _marks(
    rung: Mapping[str, Any], part: Mapping[str, Any], role: int, stamps: Mapping[int, tuple[int, int]],
    outs: list[tuple[int, int]],
) -> list[Mark]:  # fmt: skip
    last = part["end"]

    def mark(key: str, begin: int, end: int, text: str, kind: str, say: str) -> Mark:
        span = f"{say}, from {begin} to {end} cycles, {end - begin} long."
        return Mark(f"{key}-{role}-{begin}", max(begin, 0), min(end, last), text, kind, span)

    found = []
    for step, (begin, end) in stamps.items():
        stage = step % rung["stages"]
        if role == 0:
            found.append(mark("wait", begin, end, "", "hatch", f"Step {step}: waits until stage {stage} is empty"))
        elif rung["carries"]:
            found.append(mark("wait", begin, end, "", "hatch", f"Step {step}: carries both tiles to shared memory"))
        else:
            found.append(mark("wait", begin, end, "", "bubble", f"Step {step}: waits until stage {stage} is full"))
        next_begin = stamps[step + 1][0] if step + 1 in stamps else last
        until = min([next_begin, *(out for out, _ in outs if out >= end)])
        if until <= end:
            continue
        if role == 0:
            found.append(mark("work", end, until, str(step), "solid", f"Step {step}: asks for both tiles"))
        else:
            does = "issues its products, waits for those of the step before" if rung["stages"] > 1 else "multiplies"
            needs = f"the tensor cores need {rung['step_cycles']:.0f} cycles for the whole tile"
            found.append(mark("work", end, until, str(step), "outline", f"Step {step}: {does}; {needs}"))
    found += [mark("out", begin, end, "out", "solid", "The tile on its way out") for begin, end in outs]
    return sorted((one for one in found if one.end is not None and one.end > one.start), key=lambda one: one.start)
