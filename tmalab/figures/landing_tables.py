"""What "The tile landing" shows, as tables: when each piece of a tile's destination was first seen changed.

    times      of each piece, in the order of shared memory: the first look that found it changed in the run drawn, how
               long before the last look was that did not; over all runs the median of the first, 10 % and 90 %
    bins       the times in steps no finer than the resolution, each a shade: (first, width, how many)
    lanes      the issue, the pieces landing, the barrier, all runs, and the bytes that the barrier still awaited

>>> bins([361, 365, 411], 52), bins([560, 756, 1155], 46)
((300, 100, 2), (500, 100, 7))
>>> read_numbers(write_numbers([361, 361, 365]))
[361, 361, 365]

Every number is measured, so all of them stand with the provenance: another run has others. The model has no clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tmalab.errors import HardwareError
from tmalab.experiment.barrier_word import TX_STEP_BYTES, decode_state
from tmalab.experiment.observation import Observation
from tmalab.experiment.timeline_cases import LANDINGS, WARMTHS
from tmalab.figures.answers import Observe, answer_to
from tmalab.figures.cost_tables import read_numbers, write_numbers
from tmalab.figures.lanes import Lane, Mark
from tmalab.figures.tile_tables import source_line

SHOWN = ("one run", "median", "spread")
SHADES = 8
FRAMES = 12  # steps from "nothing has landed" to "all has"
ELEMENT_BYTES, LINE_BYTES = 2, 128

__all__ = ["FRAMES", "SHOWN", "TILES", "WARMTHS", "bins", "landing_spec", "read_numbers"]


def _name(box: Sequence[int], swizzle: str, piece_bytes: int) -> str:
    return f"{box[0]}x{box[1]}-{swizzle}" + ("" if piece_bytes == LINE_BYTES else f"-by-{piece_bytes}")


TILES = tuple(_name(*one) for one in LANDINGS)


def bins(times: Sequence[int], resolution: int) -> tuple[int, int, int]:
    """(first, width, how many) of at most SHADES bins of one round width, no finer than `resolution`."""
    low, high = min(times), max(times)
    for power in range(6):
        for factor in (1, 2, 5):
            width = factor * 10**power
            first = low // width * width
            many = (high - first) // width + 1
            if width >= resolution and many <= SHADES:
                return first, width, many
    raise HardwareError(f"times from {low} to {high} cycles do not fit the scale")


def landing_spec(observe: Observe | None, title: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Everything that the figure draws: (spec, provenance), plain JSON. All that was measured is in the provenance.

    `states[tile * 3 + warmth]` is None where nothing is recorded. Raises HardwareError for a run that failed.
    """
    tiles = [_tile(*one) for one in LANDINGS]
    lines: dict[str, int] = {}
    states: list[dict[str, Any] | None] = []
    for tile in tiles:
        for warmth in WARMTHS:
            seen = answer_to(observe, f"landing/{tile['name']}/{warmth}")
            counted = answer_to(observe, f"landing/{tile['name']}/{warmth}-counts")
            if seen is None:
                states.append(None)
                continue
            line = lines.setdefault(source_line(seen), len(lines))
            states.append({**_state(tile, seen, counted), "line": line})
    spec = {
        "schema": 1, "name": "landing", "title": title, "tiles": tiles, "frames": FRAMES,
        "choices": {"tile": list(TILES), "warmth": list(WARMTHS), "shown": list(SHOWN)},
        "most_pieces": max(tile["pieces"] for tile in tiles),
    }  # fmt: skip
    return spec, {"lines": list(lines), "states": states}


def _tile(box: Sequence[int], swizzle: str, piece_bytes: int) -> dict[str, Any]:
    row_bytes = ELEMENT_BYTES * box[0]
    total = row_bytes * box[1]
    pieces = total // piece_bytes
    cols = 16 if pieces > 128 else LINE_BYTES // piece_bytes if piece_bytes < LINE_BYTES else 8
    return {
        "name": _name(box, swizzle, piece_bytes), "box": list(box), "swizzle": swizzle, "piece_bytes": piece_bytes,
        "row_bytes": row_bytes, "bytes": total, "pieces": pieces, "cols": cols,
        "label": f"{box[0]} x {box[1]}, {swizzle}, by {piece_bytes}",
    }  # fmt: skip


def _quantiles(values: Any) -> list[int]:
    import numpy as np

    return [round(float(one)) for one in np.quantile(values, (0.1, 0.5, 0.9))]


def _state(tile: dict[str, Any], seen: Observation, counted: Observation | None) -> dict[str, Any]:
    run, before, median, low, high = (
        [int(one) for one in seen[f"landed{name}"]] for name in ("", "_before", "_median", "_low", "_high")
    )
    gaps = [first - last for first, last in zip(run, before, strict=True)]
    spread = [last - first for first, last in zip(low, high, strict=True)]
    resolution, drawn = int(seen["resolution_cycles"]), int(seen["drawn"])
    complete = [int(one) for one in seen["complete"]]
    issued = [int(one) for one in seen["issued"]]
    state = {
        "runs": len(complete), "resolution": resolution, "cycles_per_ns": round(float(seen["cycles_per_ns"]), 4),
        "issued": issued[drawn], "complete": complete[drawn], "completes": _quantiles(complete),
        "times": [write_numbers(one) for one in (run, gaps, median, low, high)],
        "bins": [list(bins(one, resolution)) for one in (run, median, spread)],
    }  # fmt: skip
    lanes = _lanes(tile, state, run, counted)
    end = max(mark.end or mark.start for lane in lanes for mark in lane.marks)
    return {**state, "lanes": [lane.to_dict() for lane in lanes], "end": round(end * 1.03)}


def _lanes(
    tile: dict[str, Any], state: dict[str, Any], times: Sequence[int], counted: Observation | None
) -> list[Lane]:
    per_ns = state["cycles_per_ns"]

    def at(cycles: int) -> str:
        return f"{cycles} cycles ({cycles / per_ns:.0f} ns)"

    first, last, pieces = min(times), max(times), f"{tile['pieces']} pieces of {tile['piece_bytes']} bytes"
    issue = Mark(
        "issue", 0, state["issued"], "", "solid", f"The load's instruction took its thread {at(state['issued'])}."
    )
    land = Mark(
        "land", first, last, f"{tile['pieces']} pieces", "outline",
        f"Run drawn: the first of {pieces} was seen changed after {at(first)}, the last after {at(last)}. Looks came "
        f"{state['resolution']} cycles apart (median).",
    )  # fmt: skip
    going = Mark(
        "open", state["issued"], state["complete"], "phase 0", "hatch",
        f"Run drawn: the barrier was found complete after {at(state['complete'])}.",
    )  # fmt: skip
    low, middle, high = state["completes"]
    band = Mark(
        "band",
        low,
        high,
        "",
        "soft",
        f"Of {state['runs']} runs, four in five completed between {low} and {high} cycles, half by {at(middle)}.",
    )
    median = Mark(
        "median", middle, None, "median", "solid", f"Half of {state['runs']} runs had completed by {at(middle)}."
    )
    lanes = [
        Lane("load", (issue,), "its instruction"),
        Lane("pieces", (land,), "first to last"),
        Lane("barrier", (going,), "is open"),
        Lane("all runs", (band, median), "barrier complete"),
    ]
    return lanes if counted is None else [*lanes, Lane("KB to come", tuple(_awaited(counted)), "read, in another run")]


def _awaited(counted: Observation) -> Iterable[Mark]:
    """The bytes that the barrier said to await, in the first counted run: a stretch from one look that saw them."""
    looks = [
        (int(cycles), decode_state(int(state)).most_tx_count)
        for cycles, state in zip(counted["state_cycles"][0], counted["states"][0], strict=True)
        if cycles >= 0
    ]
    for number, (cycles, awaited) in enumerate(looks):
        if number and looks[number - 1][1] == awaited:
            continue
        end = next((then for then, other in looks[number + 1 :] if other != awaited), None)
        words = f"{awaited} bytes" if awaited else "no byte"
        text = str(awaited // 1024)
        yield Mark(
            f"bytes-{number}", cycles, end, text, "outline" if awaited else "solid",
            f"In another run, the state that an arrive returned after {cycles} cycles says: {words} to come (in steps "
            f"of {TX_STEP_BYTES}).",
        )  # fmt: skip
