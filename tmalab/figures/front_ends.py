"""One tile, many front ends: what each left in shared memory, and the descriptor that it gave the engine.

    Triton device ─▶ 32 lines of 8 chunks, as an H200 left them ─▶ equal to the model's
                   ─▶ 128 bytes, decoded, beside the driver's own for the same map

`front_ends_tables` makes the tables, static/front_ends.js and `front_ends_still` draw them.
"""

from __future__ import annotations

from tmalab.figures import front_ends_still
from tmalab.figures.answers import Observe
from tmalab.figures.base import Choice, FoundFigure
from tmalab.figures.bundle import esm
from tmalab.figures.front_ends_state import LINE_CHUNKS, FrontEndsState
from tmalab.figures.front_ends_tables import LINES, RAW, VIEWS, front_ends_spec, ways

_TITLE = "One tile, many front ends"


class FrontEndsFigure(FoundFigure):
    """The figure, drawn from what `observe` answers: `tmalab.observe`, or any function from a Case to an Observation.

    `view` (hardware, model, difference), `way` (a front end, or a way through one), `cell` (line, chunk) of shared
    memory. Where nothing is recorded the model stands alone and says so. Raises InputError for a state that it does
    not have, HardwareError for a run that failed.
    """

    name = "front_ends"
    state_names = ("view", "way", "cell")
    _esm = esm("front_ends")
    view = Choice(VIEWS)
    way = Choice(ways())
    cell = Choice((line, chunk) for line in range(LINES) for chunk in range(LINE_CHUNKS))

    def __init__(
        self, observe: Observe | None, *, view: str = "hardware", way: str = RAW, cell: tuple[int, int] = (2, 1),
        title: str = _TITLE, page: str | None = "front_ends",
    ):  # fmt: skip
        spec, provenance = front_ends_spec(observe, title)
        super().__init__(spec=spec, provenance=provenance, view=view, way=way, cell=cell, page=page)

    @property
    def _found(self) -> FrontEndsState:
        return FrontEndsState(self.spec, self.provenance, self.state)

    def svg(self) -> str:
        """The still: the present state, drawn."""
        return front_ends_still.draw(self._found)
