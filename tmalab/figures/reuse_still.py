"""The still of "When may I reuse the buffer?": the steps, a block of 128 lines a store, the lanes.

store 0 │ commit_group │ … │ wait_group.read 1 │ overwrite
┌ lines ┐ ┌ lines ┐ …          the darker, the more rounds in which a line was overwritten

It is laid out as in reuse.js.
"""

from __future__ import annotations

from itertools import groupby

from tmalab.figures.lanes import draw as draw_lanes
from tmalab.figures.lanes import height as lanes_height
from tmalab.figures.palette import RAMP
from tmalab.figures.reuse_state import ReuseState
from tmalab.figures.reuse_tables import MOST_STORES, STORE_LINES
from tmalab.figures.still import Still

_ACROSS, _CELL, _HIGH, _BETWEEN, _MARGIN, _TOP = 8, 26, 15, 24, 14, 124
_BLOCK = _ACROSS * _CELL
_WIDTH = 2 * _MARGIN + MOST_STORES * _BLOCK + (MOST_STORES - 1) * _BETWEEN


def shade(count: int, rounds: int) -> int:
    """Of a line: 0 for none, else 1 to 7 of the ramp."""
    return -(-7 * count // rounds)


def draw(found: ReuseState) -> str:
    """The SVG of one state."""
    lanes = found.lanes()
    below = _TOP + STORE_LINES // _ACROSS * _HIGH + 20
    units = [("cycles", 1.0), ("ns", 1 / found.run["cycles_per_ns"])] if found.run else []
    still = Still(_WIDTH, below + (lanes_height(lanes, units) if lanes else 0) + _MARGIN, found.spec["title"])
    still.head(_MARGIN, 18, " · ".join(found.program()))
    still.note(_MARGIN, 40, found.says())
    still.note(_MARGIN, 58, found.note())
    for store in range(found.stores):
        left = _MARGIN + store * (_BLOCK + _BETWEEN)
        still.head(left, _TOP - 42, f"store {store}", found.fate(store))
        still.note(left, _TOP - 22, found.hits(store))
        is_safe = found.letters[store] == "c"
        high = STORE_LINES // _ACROSS * _HIGH
        still.cell(left - 7, _TOP - 7, _BLOCK + 14, high + 14, line="hot" if is_safe else "box")
        _lines(still, found, store, left)
    if lanes and found.run:
        draw_lanes(
            still, _MARGIN, below, _WIDTH - 2 * _MARGIN, lanes, start=0, end=found.run["end"] * 1.02, units=units
        )  # fmt: skip
    return still.svg()


def _lines(still: Still, found: ReuseState, store: int, left: float) -> None:
    """Neighbours that are alike are one box, with their count where it is neither none nor all."""
    rounds = found.run["rounds"] if found.run else 0
    for row in range(STORE_LINES // _ACROSS):
        first = store * STORE_LINES + row * _ACROSS
        top, column = _TOP + row * _HIGH, 0
        for count, alike in groupby(_count(found, first + at) for at in range(_ACROSS)):
            many = len(list(alike))
            if count:
                wrong = found.letters[store] == "c"
                x, wide = left + column * _CELL, many * _CELL
                still.bar(x, top, wide, _HIGH, RAMP[shade(count, rounds)])
                if wrong:
                    still.cell(x, top, wide, _HIGH, line="wrong")
                still.text(x + wide / 2, top + _HIGH / 2, str(count), "small")
            column += many


def _count(found: ReuseState, cell: int) -> int:
    """In how many rounds a line is drawn as overwritten; the difference shows those alone that the model rules out."""
    if found.counts is None or found.state["view"] == "model":
        return 0
    return 0 if found.state["view"] == "difference" and cell not in found.unequal else found.counts[cell]
