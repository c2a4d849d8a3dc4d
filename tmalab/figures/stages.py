"""Loads that run ahead: one block's tiles through 1 to 4 buffers, as an H200 timed them, and what each is worth.

    one buffer      load ─ out ─ load ─ out              83 % of the driver's copy
    two and more    load ─ out ─ …                       the next tile comes while this one leaves
                       load ─ out ─ …

`stages_tables` makes the tables, static/stages.js and `stages_still` draw them.
"""

from __future__ import annotations

from tmalab.figures import stages_still
from tmalab.figures.answers import Observe
from tmalab.figures.base import Choice, FoundFigure
from tmalab.figures.bundle import esm
from tmalab.figures.stages_state import StagesState
from tmalab.figures.stages_tables import STAGES, VIAS, stages_spec

_TITLE = "Loads that run ahead"


class StagesFigure(FoundFigure):
    """The figure, drawn from what `observe` answers: `tmalab.observe`, or any function from a Case to an Observation.

    `via` (registers or tma: how a tile leaves shared memory) and `stages` (1 to 4 buffers). There is no model of it:
    where nothing is recorded it says so. Raises InputError for a state that it does not have.
    """

    name = "stages"
    draws_times = True
    state_names = ("via", "stages")
    _esm = esm("stages")
    via = Choice(VIAS)
    stages = Choice(STAGES)

    def __init__(
        self, observe: Observe | None, *, via: str = "registers", stages: int = 1, title: str = _TITLE,
        page: str | None = "stages",
    ):  # fmt: skip
        spec, provenance = stages_spec(observe, title)
        super().__init__(spec=spec, provenance=provenance, via=via, stages=stages, page=page)

    @property
    def _found(self) -> StagesState:
        return StagesState(self.spec, self.provenance, self.state)

    def svg(self) -> str:
        """The still: the present state, drawn."""
        return stages_still.draw(self._found)
