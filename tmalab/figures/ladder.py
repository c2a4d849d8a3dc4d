"""The ladder: matrix products from plain loads to a kernel that keeps up with cuBLAS, each rung one idea.

    plain loads ▇▇      TMA ▇▇▇      wgmma ▇▇▇▇▇▇    …    store ▇▇▇▇▇▇▇▇▇▇▇│cuBLAS
    and of the rung that is chosen: what it bought, what ncu counted, and who waited for what in one block

`ladder_tables` makes the tables, static/ladder.js, `ladder_still` and, for print, `ladder_print` draw them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tmalab.figures import ladder_still
from tmalab.figures.answers import Observe
from tmalab.figures.base import Choice, FoundFigure
from tmalab.figures.bundle import esm
from tmalab.figures.ladder_stalls import PARTS
from tmalab.figures.ladder_state import LadderState
from tmalab.figures.ladder_tables import FIRST_SIZE, VIEWS, best_at, ladder_spec, rungs, sizes

if TYPE_CHECKING:
    from matplotlib.figure import Figure as PrintedFigure

_TITLE = "The ladder"


class LadderFigure(FoundFigure):
    """The figure, drawn from what `observe` answers: `tmalab.observe`, or any function from a Case to an Observation.

    `size` (m x n x k), `rung`, `part` (which stretch of a block's life the lanes show) and `view`: the rates measured,
    the roof that whole waves of tiles allow, or what lies between. No `rung` is the highest at that size. With None,
    and for what is not recorded, it says so. Raises InputError for a state that it does not have.
    """

    name = "ladder"
    draws_times = True
    state_names = ("size", "rung", "part", "view")
    _esm = esm("ladder")
    size = Choice(sizes())
    rung = Choice(rungs())
    part = Choice(PARTS)
    view = Choice(VIEWS)

    def __init__(
        self, observe: Observe | None, *, size: str = FIRST_SIZE, rung: str | None = None, part: str = "middle",
        view: str = "hardware", title: str = _TITLE, page: str | None = "ladder",
    ):  # fmt: skip
        spec, provenance = ladder_spec(observe, title)
        super().__init__(
            spec=spec, provenance=provenance, size=size, rung=rung or best_at(size), part=part, view=view, page=page
        )  # fmt: skip

    @property
    def _found(self) -> LadderState:
        return LadderState(self.spec, self.provenance, self.state)

    def svg(self) -> str:
        """The still: the present state, drawn."""
        return ladder_still.draw(self._found)

    def matplotlib(self) -> PrintedFigure:
        """The ladder as a matplotlib figure, for print. Raises InputError without matplotlib."""
        from tmalab.figures.ladder_print import printed

        return printed(self._found, self.source())
