"""The still of "A coordinate tensor": the strips in four columns, the chosen tile framed, its calls, and the lanes.

block 0  [ ][ ][ ][ ][ ][ ][ ]    33 …    66 …    99 …      coordinate_view   (0,0) o (8448,1792):(1@1,1@0)
block 1  [ ][ ][■][ ][ ][ ][ ]                              local_tile        (512,64) o (64,256):(1@1,1@0)
"""

from __future__ import annotations

from tmalab.figures import lanes
from tmalab.figures.coordinates_state import CoordinatesState
from tmalab.figures.palette import RAMP
from tmalab.figures.still import Still

_MARGIN, _TOP, _HIGH, _WIDE, _BAND, _WIDTH = 14, 62, 9, 26, 216, 900
_LINE = 19


def draw(found: CoordinatesState) -> str:
    """The SVG of one state."""
    spec, drawn = found.spec, found.lanes()
    per_band = -(-spec["strips"] // spec["bands"])
    calls_top = _TOP + per_band * (_HIGH + 1) + 26
    chart = calls_top + _LINE * len(spec["calls"]) + 16
    units = [("ns", 1.0)]
    still = Still(_WIDTH, chart + (lanes.height(drawn, units) if drawn else 0) + 8, spec["title"])
    what = {"landed": "seen complete, µs since the first issue", "SM": "the SM of the block"}[found.state["shown"]]
    shown = what if found.key else found.state["view"]
    still.head(
        _MARGIN, 20, f"{spec['strips']} strips of {spec['tiles']} tiles, {spec['tile'][0]} x {spec['tile'][1]}", shown
    )
    for number, (tone, words) in enumerate(found.key):
        still.block(_MARGIN + number * 108, 34, 14, 12, RAMP[tone])
        still.note(_MARGIN + 18 + number * 108, 40, words)
    for tile in range(spec["strips"] * spec["tiles"]):
        block, column = divmod(tile, spec["tiles"])
        x = _MARGIN + 26 + block // per_band * _BAND + column * _WIDE
        y = _TOP + block % per_band * (_HIGH + 1)
        shade = found.cell(tile)[1]
        if shade is None:
            still.cell(x, y, _WIDE - 2, _HIGH, line="line")
        else:
            still.block(x, y, _WIDE - 2, _HIGH, RAMP[shade])
        if tile == found.chosen:
            still.cell(x - 1, y - 1, _WIDE, _HIGH + 2, line="hot")
        if column == 0 and block % 8 == 0:
            still.text(x - 14, y + _HIGH / 2, str(block), "soft")
    for number, (call, gives) in enumerate(found.calls()):
        y = calls_top + number * _LINE
        still.note(_MARGIN, y, call)
        still.note(_MARGIN + 420, y, gives)
    if drawn and found.one is not None:
        lanes.draw(still, _MARGIN, chart, _WIDTH - 2 * _MARGIN, drawn, start=0, end=found.one["end"], units=units)
    return still.svg()
