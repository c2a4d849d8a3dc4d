"""The still of "Two loads, one barrier": what the issue cost, and the lanes of one run.

producer   ▮▮▮├ works ┤
engine        ├ A in flight ├ A lands ┤
consumer   ├ waits ──────────────────┤ reads
"""

from __future__ import annotations

import textwrap

from tmalab.figures import lanes
from tmalab.figures.loads_state import LoadsState
from tmalab.figures.still import Still

_MARGIN, _WIDTH, _TOP = 14, 960, 34


def draw(found: LoadsState) -> str:
    """The SVG of one state."""
    words = textwrap.wrap(found.head, 150)
    drawn = [lanes.lane_of(lane) for lane in found.lanes]
    top = _TOP + 16 * len(words)
    still = Still(_WIDTH, top + lanes.height(drawn, found.units) + 10, found.spec["title"])
    still.head(_MARGIN, 18, "The model's run" if found.is_model else "One run on the H200", found.state["warmth"])
    for number, line in enumerate(words):
        still.note(_MARGIN, _TOP + 4 + 16 * number, line)
    lanes.draw(
        still, _MARGIN, top, _WIDTH - 2 * _MARGIN, drawn, start=0, end=found.one["end"], units=found.units,
        cursor=found.mark["from"], hot=found.key,
    )  # fmt: skip
    return still.svg()
