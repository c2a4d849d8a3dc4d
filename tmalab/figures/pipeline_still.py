"""The still of "A pipeline": the bubble, the lanes of one run, and what a tile takes at every depth.

412 ns    bubble a tile
producer  ▮▒▒▒▮▒▒▒▮                2000 ┃●  .  .
consumers    ▮ 537 ns ▮               0 ┃1  2  3
"""

from __future__ import annotations

from tmalab.figures import lanes
from tmalab.figures.palette import RAMP
from tmalab.figures.pipeline_lanes import bands, lanes_of
from tmalab.figures.pipeline_state import PipelineState
from tmalab.figures.still import Still

_MARGIN, _TOP, _WIDTH, _CHART, _PLOT = 14, 60, 960, 216, 150
_LEFT, _RIGHT = _MARGIN + lanes.NAME, _WIDTH - 70
_PERCENT = 15  # the difference's axis goes from - to + this


def draw(found: PipelineState) -> str:
    """The SVG of one state."""
    drawn = lanes_of(found)
    units = [] if found.sweep is None else [("ns", 1 / found.sweep["cycles_per_ns"])]
    below = _TOP + (lanes.height(drawn, units) if drawn else 0)
    still = Still(_WIDTH, below + (_CHART if found.sweep else 10), found.spec["title"])
    still.head(_MARGIN, 20, found.heading(), found.verdict())
    still.note(_MARGIN, 42, found.law())
    if drawn:
        lanes.draw(
            still, _MARGIN, _TOP, _WIDTH - 2 * _MARGIN, drawn, start=0, end=found.end, units=units, bands=bands(found)
        )
    if found.sweep is not None:
        _depths(still, found, below + 26)
    return still.svg()


def _depths(still: Still, found: PipelineState, top: float) -> None:
    """The sweep: dots measured, dashes modelled; in the field, says Little's law, the consumers stand still."""
    is_difference = found.state["view"] == "difference"
    depths, points = found.spec["choices"]["stages"], found.points()
    deepest = max(point["stages"] for point in points)
    most = max(max(point["value"], point["told"]) for point in points)
    low, high = (-_PERCENT, _PERCENT) if is_difference else (0.0, 1.06 * most)
    foot, across = top + 14 + _PLOT, (_RIGHT - _LEFT) / len(depths)

    def place(value: float) -> float:
        return foot - _PLOT * (value - low) / (high - low)

    still.head(_MARGIN, top, "H200 − model, in percent" if is_difference else "ns a tile, by depth")
    for stages in depths:
        bottom, upper = (-10.0, 10.0) if is_difference else (0.0, min(found.border(stages), high))
        fill = RAMP[0] if is_difference else lanes.BAND
        left = _LEFT + (stages - 1) * across
        still.bar(left, place(upper), across, place(bottom) - place(upper), fill)
        if not is_difference and upper < high:
            still.bar(left, place(upper) - 1, across, 2, lanes.HATCH)
        still.text(left + across / 2, foot + 14, f"{stages}" if stages > 1 else "1 stage", "soft")
    for value in lanes.ticks(low, high, 4):
        still.text(_LEFT - 26, place(value), f"{value:g}{' %' if is_difference else ''}", "soft")
    if not is_difference:
        for point in points:
            middle = _LEFT + (point["stages"] - 0.5) * across
            still.bar(middle - 11, place(point["told"]) - 1, 22, 2, lanes.HATCH)
    for point in points:
        from_, to = (min(max(one, low), high) for one in point["range"])
        still.bar(
            _LEFT + (point["stages"] - 0.5) * across - 0.75, place(to), 1.5, max(place(from_) - place(to), 0.5), "ink"
        )
        mine, middle = point["number"] == found.number, _LEFT + (point["stages"] - 0.5) * across
        here, size = mine and point["stages"] == found.stages, 10 if mine else 8
        fill = lanes.BUBBLE if point["bubbles"] else "ink" if mine else "none"
        still.cell(
            middle - size / 2, place(point["value"]) - size / 2, size, size, fill=fill, line="hot" if here else "edge"
        )
        if point["stages"] == deepest and (mine or not is_difference):
            still.note(_RIGHT + 6, place(point["value"]), f"{found.compute_of(point['number'])} ns")
