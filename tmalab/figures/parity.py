"""Parity: one barrier over seven tiles, the parity that each wait is given, and what came of it.

    tile           0      1      2      3   …
    in flight  0   no     yes    no     yes        test_wait answers yes for the parity of the last complete phase
               1   yes    no     yes    no
    the wait       in time · early · never         by the parity that it is given, and when it is asked

`parity_tables` makes the tables, static/parity.js and `parity_still` draw them. Here are the traits that make up the
figure's state.
"""

from __future__ import annotations

from typing import Any

from tmalab.experiment.parity_program import RULES, TILES
from tmalab.figures import parity_still
from tmalab.figures.answers import Observe
from tmalab.figures.base import Choice, FoundFigure
from tmalab.figures.bundle import esm
from tmalab.figures.parity_state import ParityState
from tmalab.figures.parity_tables import ROWS, VIEWS, parity_spec

_TITLE = "Parity"


class ParityFigure(FoundFigure):
    """The figure, drawn from what `observe` answers: `tmalab.observe`, or any function from a Case to an Observation.

    `rule` (which parity a wait is given) and `view` are its controls, `tile` and `row` the cell that the sentence is
    about. With None, and where nothing is recorded, it shows the model and says so. Raises InputError for a state that
    it does not have.
    """

    name = "parity"
    draws_times = True
    state_names = ("rule", "view", "tile", "row")
    _esm = esm("parity")
    rule = Choice(RULES)
    view = Choice(VIEWS)
    tile = Choice(range(TILES))
    row = Choice(range(len(ROWS)))

    def __init__(
        self, observe: Observe | None, *, rule: str = "right", view: str = "hardware", tile: int = 1, row: int = 6,
        title: str = _TITLE, page: str | None = "parity",
    ):  # fmt: skip
        spec, provenance = parity_spec(observe, title)
        super().__init__(spec=spec, provenance=provenance, rule=rule, view=view, tile=tile, row=row, page=page)

    @property
    def _found(self) -> ParityState:
        return ParityState(self.spec, self.provenance, self.state)

    def svg(self) -> str:
        """The still: the present state, drawn."""
        return parity_still.draw(self._found)

    def data(self) -> dict[str, Any]:
        """The present state: one entry a cell."""
        return {
            "schema": self.spec["schema"], "figure": self.name, "title": self.spec["title"], "state": self.state,
            "provenance": self.source(), "table": self._found.data(),
        }  # fmt: skip
