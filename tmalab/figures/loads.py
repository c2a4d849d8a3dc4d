"""Two loads, one barrier: A and B of 2048 bytes each, one arrival, 4096 bytes to come, on a measured axis of time.

    producer   ▮arm ▮A ▮B ├ works ──┤
    engine            ├ A ──┤ ├ B ──┤
    barrier    bytes  4096   2048   0     phase 0 │ phase 1
    consumer   ├ waits ─────────────┤ reads

`loads_run` and `loads_model` make the lanes, `loads_tables` puts them together, static/loads.js and `loads_still` draw
them. Here are the traits that make up the figure's state.
"""

from __future__ import annotations

from typing import Any

from tmalab.experiment.timeline_cases import WARMTHS
from tmalab.figures import loads_still
from tmalab.figures.answers import Observe
from tmalab.figures.base import Choice, FoundFigure
from tmalab.figures.bundle import esm
from tmalab.figures.loads_state import LoadsState
from tmalab.figures.loads_tables import MOST_STEPS, VIEWS, loads_spec

_TITLE = "Two loads, one barrier"


class LoadsFigure(FoundFigure):
    """The figure, drawn from what `observe` answers: `tmalab.observe`, or any function from a Case to an Observation.

    `warmth` (what the caches held) and `view` are its controls, `step` the one that is singled out, as time passes.
    With None, and for what is not recorded, it shows the model and says so. Raises InputError for a state that it does
    not have.
    """

    name = "loads"
    draws_times = True
    state_names = ("warmth", "view", "step")
    _esm = esm("loads")
    warmth = Choice(WARMTHS)
    view = Choice(VIEWS)
    step = Choice(range(MOST_STEPS))

    def __init__(
        self, observe: Observe | None, *, warmth: str = "warm", view: str = "hardware", step: int = 2,
        title: str = _TITLE, page: str | None = "loads",
    ):  # fmt: skip
        spec, provenance = loads_spec(observe, title)
        super().__init__(spec=spec, provenance=provenance, warmth=warmth, view=view, step=step, page=page)

    @property
    def _found(self) -> LoadsState:
        return LoadsState(self.spec, self.provenance, self.state)

    def svg(self) -> str:
        """The still: the present state, drawn."""
        return loads_still.draw(self._found)

    def data(self) -> dict[str, Any]:
        """The present state: every mark of every lane."""
        return {
            "schema": self.spec["schema"], "figure": self.name, "title": self.spec["title"], "state": self.state,
            "provenance": self.source(), "head": self._found.head, "marks": self._found.data(),
        }  # fmt: skip
