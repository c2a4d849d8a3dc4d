"""The still of "The tile landing": the destination, a cell a piece, its key, and the lanes under it.

┌ Shared memory ─────────────┐   key: 500 to 599 cycles …
│ 560 │ 560 │ 756 │ 802 │ …  │
└────────────────────────────┘
load ▮   pieces ├────┤   barrier ├──────┤   all runs
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tmalab.figures import lanes
from tmalab.figures.landing_state import UNMEASURED, LandingState
from tmalab.figures.palette import RAMP
from tmalab.figures.still import Still

_MARGIN, _LABEL, _GAP, _TOP, _WIDTH = 14, 44, 2, 66, 900
_ACROSS = {8: 56, 4: 84, 16: 50}  # a cell's width, by how many stand in a row


def draw(found: LandingState) -> str:
    """The SVG of one state."""
    tile, one = found.tile, found.one
    rows = tile["pieces"] // tile["cols"]
    high = 22 if rows <= 16 else 16
    chart = _TOP + rows * (high + _GAP) + 34
    drawn = [] if one is None else [lanes.lane_of(lane) for lane in one["lanes"]]
    still = Still(_WIDTH, chart + lanes.height(drawn, _units(one)) + 8 if drawn else chart, found.spec["title"])
    still.head(_MARGIN, 20, f"Box {tile['label']} bytes", f"{found.state['warmth']}, {found.state['shown']}")
    still.note(
        _MARGIN,
        40,
        UNMEASURED
        if one is None
        else f"{found.landed()}. Looks came {one['resolution']} cycles apart (median). All is measured.",
    )
    _grid(still, found, high)
    if one is not None:
        _key(still, found)
        lanes.draw(
            still, _MARGIN, chart, _WIDTH - 2 * _MARGIN, drawn, start=0, end=one["end"], units=_units(one),
            cursor=max(found.now, 0),
        )  # fmt: skip
    return still.svg()


def _units(one: Mapping[str, Any] | None) -> Sequence[tuple[str, float]]:
    return [("cycles", 1.0)] if one is None else [("cycles", 1.0), ("ns", 1 / one["cycles_per_ns"])]


def _grid(still: Still, found: LandingState, high: int) -> None:
    tile = found.tile
    cols, wide = tile["cols"], _ACROSS[tile["cols"]]
    shades = [None] * tile["pieces"] if found.one is None else found.shades
    for row in range(tile["pieces"] // cols):
        y = _TOP + row * (high + _GAP)
        still.text(_MARGIN + _LABEL / 2 - 6, y + high / 2, str(row * cols * tile["piece_bytes"]), "soft")
        xs, texts = [], []
        for col in range(cols):
            piece, x = row * cols + col, _MARGIN + _LABEL + col * (wide + _GAP)
            shade = shades[piece]
            if shade is None:
                still.cell(x, y, wide, high, line="line")
                continue
            still.block(x, y, wide, high, RAMP[shade])
            xs.append(x + wide / 2)
            texts.append(str(found.values[piece]))
        if xs:
            still.texts(xs, y + high / 2, texts, "small")


def _key(still: Still, found: LandingState) -> None:
    cols = found.tile["cols"]
    left = _MARGIN + _LABEL + cols * (_ACROSS[cols] + _GAP) + 16
    if left > _WIDTH - 100:  # beside a wide grid there is no room: the numbers in the cells say it all
        return
    still.head(left, _TOP + 8, "cycles")
    for number, (shade, words) in enumerate(found.key):
        y = _TOP + 24 + number * 22
        still.block(left, y, 18, 18, RAMP[shade])
        still.note(left + 26, y + 9, words)
