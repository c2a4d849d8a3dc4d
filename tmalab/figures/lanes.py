"""Lanes over one time axis: what static/lanes.js draws in a page, as plain data and as a still.

    producer   ▮issue A ▮issue B ▮arm
    engine          ├── A in flight ──┤
    consumer                 ├ waits ─┤

>>> mark = Mark("a", 0, 40, "A", "outline", "A in flight, 0 to 40 cycles")
>>> Lane("engine", (mark,)).to_dict()["marks"][0]["to"]
40
>>> ticks(0, 700, 4)
[0, 200, 400, 600]

A lane of several `rows` holds thin marks, each in its `row`, so that those may overlap in time. `bands` are stretches
of time that stand out behind all lanes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tmalab.figures.palette import RAMP, tint
from tmalab.figures.still import Still

HATCH = "#8b949e"  # a stretch that is only waited through, in light and dark
KINDS = ("solid", "outline", "hatch", "soft", "wrong", "bubble", "shade", *(f"tint-{number}" for number in range(8)))
ROW, NAME, AXIS = 38, 166, 20  # px of a still: a lane's height, its name's width, an axis' height
BUBBLE, BAND = "#ee8866", "#ee886640"  # somebody stands still; the same moment in the other lanes


@dataclass(frozen=True)
class Mark:
    """A stretch of time, or a moment (`end` None), in the chart's unit; `say` is its whole sentence, `text` inside."""

    key: str
    start: float
    end: float | None
    text: str
    kind: str
    say: str
    row: int = 0

    def to_dict(self) -> dict[str, Any]:
        """As lanes.js takes it."""
        found = {"key": self.key, "from": self.start, "text": self.text, "kind": self.kind, "say": self.say}
        found = found if self.end is None else {**found, "to": self.end}
        return {**found, "row": self.row} if self.row else found


@dataclass(frozen=True)
class Lane:
    """What one agent does, in order of time."""

    name: str
    marks: tuple[Mark, ...]
    note: str = ""
    rows: int = 1

    def to_dict(self) -> dict[str, Any]:
        """As lanes.js takes it."""
        found = {"name": self.name, "marks": [mark.to_dict() for mark in self.marks], "note": self.note}
        return {**found, "rows": self.rows} if self.rows > 1 else found

    @property
    def thin(self) -> int:
        """The height of a mark, in px: as lanes.css has it."""
        return ROW - 12 if self.rows == 1 else 14 if self.rows == 2 else 11

    @property
    def height(self) -> int:
        """Its own, in px."""
        return max(ROW, self.rows * (self.thin + 2) + 6)


def lane_of(given: Mapping[str, Any]) -> Lane:
    """The lane that `Lane.to_dict` wrote."""
    marks = (
        Mark(mark["key"], mark["from"], mark.get("to"), mark["text"], mark["kind"], mark["say"], mark.get("row", 0))
        for mark in given["marks"]
    )
    return Lane(given["name"], tuple(marks), given["note"], given.get("rows", 1))


def ticks(start: float, end: float, wanted: int) -> list[float]:
    """Round steps for an axis: at most `wanted` of them (as `ticks` of lanes.js)."""
    rough = (end - start) / max(wanted, 1)
    if rough <= 0:
        return [start]
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * (1 - 1e-9))
    first = math.ceil(start / step - 1e-9)
    found = [number * step for number in range(first, math.floor(end / step + 1e-9) + 1)]
    return [int(one) if one == int(one) else one for one in found]


def height(lanes: Sequence[Lane], units: Sequence[tuple[str, float]]) -> float:
    """What `draw` needs, in px."""
    return sum(lane.height for lane in lanes) + AXIS * len(units)


def draw(
    still: Still, x: float, y: float, width: float, lanes: Sequence[Lane], *, start: float, end: float,
    units: Sequence[tuple[str, float]], cursor: float | None = None, hot: str | None = None,
    bands: Sequence[tuple[float, float]] = (),
) -> None:  # fmt: skip
    """Draw the chart into a still: its first axis above the lanes, the others below. `hot` is the key singled out."""
    left, across = x + NAME, width - NAME

    def place(time: float) -> float:
        return left + across * (time - start) / (end - start)

    top = y + AXIS
    high = sum(lane.height for lane in lanes)
    for first, last in bands:
        still.bar(place(first), top, place(last) - place(first), high, BAND)
    for number, (name, factor) in enumerate(units):
        middle = y + AXIS / 2 if number == 0 else top + high + AXIS * (number - 0.5)
        for index, at in enumerate(ticks(start * factor, end * factor, 6)):
            still.text(place(at / factor), middle, f"{at:g}" if index else f"{at:g} {name}", "soft")
    row = top
    for lane in lanes:
        still.cell(x, row, width, lane.height, line="line")
        middle = row + lane.height / 2
        still.head(x + 8, middle - (7 if lane.note else 0), lane.name)
        if lane.note:
            still.note(x + 8, middle + 9, lane.note)
        for mark in lane.marks:
            at = row + (6 if lane.rows == 1 else 4 + mark.row * (lane.thin + 2))
            _mark(still, mark, place, at, lane.thin, hot == mark.key)
        row += lane.height
    if cursor is not None:
        still.cell(place(cursor) - 1, top, 2, high, line="box")


def _mark(still: Still, mark: Mark, place: Any, top: float, high: float, hot: bool) -> None:
    first = place(mark.start)
    wide = 3.0 if mark.end is None else max(place(mark.end) - first, 2.0)
    fill = _FILLS.get(mark.kind, "none") if not mark.kind.startswith("tint-") else tint(int(mark.kind[5:]))
    line = "hot" if hot else _LINES.get(mark.kind, "")
    if mark.end is None:
        still.bar(first - 1, top, 3, high, fill)
        still.note(first + 6, top + high / 2, mark.text)
        return
    still.cell(first, top, max(wide, 7), high, fill=fill, line=line)
    if mark.kind == "hatch":
        for step in range(1, int(wide // 9)):
            still.bar(first + 9 * step, top + high - 5, 4, 2, HATCH)
    if wide > 6.2 * len(mark.text) + 6:
        kind = {"solid": "over", "tint": "small", "bubble": "label", "shade": "small"}.get(
            mark.kind.partition("-")[0], "soft"
        )
        still.text(first + wide / 2, top + high / 2, mark.text, kind)


_FILLS = {"solid": "ink", "bubble": BUBBLE, "shade": RAMP[3]}
_LINES = {"wrong": "wrong", "outline": "edge", "hatch": "line", "soft": "line", "bubble": "edge"}
