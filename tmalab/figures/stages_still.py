"""The still of "Loads that run ahead": one lane a buffer over the cycles of one block.

buffer 0   ├─ 0 ─┤■├─ 2 ─┤■
buffer 1    ├─ 1 ───┤■├─ 3 ─┤■
"""

from __future__ import annotations

from tmalab.figures import lanes
from tmalab.figures.stages_state import WAYS, StagesState
from tmalab.figures.still import Still

_MARGIN, _TOP, _WIDTH = 14, 36, 900


def draw(found: StagesState) -> str:
    """The SVG of one state."""
    drawn, units = found.lanes(), [("cycles", 1.0)]
    still = Still(_WIDTH, _TOP + (lanes.height(drawn, units) if drawn else 10) + 8, found.spec["title"])
    share = found.source if found.share is None else f"{found.share:.1%} of the driver's copy"
    still.head(_MARGIN, 20, f"{found.state['stages']} buffers, {WAYS[found.state['via']]}", share)
    if drawn:
        lanes.draw(still, _MARGIN, _TOP, _WIDTH - 2 * _MARGIN, drawn, start=0, end=found.end, units=units)
    return still.svg()
