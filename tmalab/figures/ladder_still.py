"""The still of "The ladder": a bar a rung with cuBLAS's rate as a tick, and the chosen rung's lanes.

plain loads  ▇▇▏              110.2 · 0.144 of cuBLAS
TMA          ▇▇▇     │cuBLAS  149.4 · 0.195 of cuBLAS
producer     ░ empty ░▮        consumer ░ full ░┌ 3 ┐
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tmalab.figures import lanes
from tmalab.figures.ladder_state import LadderState
from tmalab.figures.lanes import HATCH
from tmalab.figures.palette import INKS
from tmalab.figures.still import Still

_MARGIN, _TOP, _WIDTH, _ROW, _NAME, _WORDS = 14, 42, 960, 24, 200, 300
_ACCENT = INKS["accent"][0]


def draw(found: LadderState) -> str:
    """The SVG of one state."""
    spec, drawn = found.spec, found.lanes()
    many = len(found.shown)
    chart = _TOP + many * _ROW + 34
    units = (
        [("cycles", 1.0)]
        if found.one is None or not found.one["cycles_per_ns"]
        else [("cycles", 1.0), ("ns", 1 / found.one["cycles_per_ns"])]
    )
    still = Still(_WIDTH, chart + (lanes.height(drawn, units) + 10 if drawn else 0), spec["title"])
    peak = spec["peak_tflops"]
    still.head(
        _MARGIN, 20, f"{found.label}, bf16",
        f"TFLOP/s; a bar's whole track is the data sheet's {peak}, the thin mark cuBLAS in the same run",
    )  # fmt: skip
    for at, rung in enumerate(found.shown):
        _row(still, found, rung, _TOP + at * _ROW)
    if drawn and found.part is not None:
        still.head(
            _MARGIN, chart - 16, f"Block 0, {found.state['part']}", f"from cycle {found.part['begin']} of its life on"
        )
        lanes.draw(
            still, _MARGIN, chart, _WIDTH - 2 * _MARGIN, drawn, start=0, end=found.part["end"],
            units=units,
        )  # fmt: skip
    return still.svg()


def _row(still: Still, found: LadderState, rung: Mapping[str, Any], y: float) -> None:
    name = str(rung["name"])
    across, peak = _WIDTH - 2 * _MARGIN - _NAME - _WORDS, found.spec["peak_tflops"]
    left, middle = _MARGIN + _NAME, y + _ROW / 2
    if name == found.state["rung"]:
        still.cell(_MARGIN - 6, y, _WIDTH - 2 * _MARGIN + 12, _ROW, line="edge")
    still.note(_MARGIN, middle, str(rung["idea"]))
    one, roof = found.seen(name), found.roof(name)
    still.cell(left, y + 5, across, _ROW - 10, line="line")
    ours = one["ours"][0] if one else 0.0
    if roof is not None and found.state["view"] != "hardware":
        still.cell(left, y + 5, across * roof / peak, _ROW - 10, line="box")
    if one is not None and not found.is_model:
        still.bar(left, y + 5, across * ours / peak, _ROW - 10, _ACCENT if name == found.state["rung"] else HATCH)
        still.bar(left + across * one["cublas"][0] / peak - 1, y + 2, 2, _ROW - 4, "ink")
    still.note(left + across + 12, middle, found.bar(name))
