"""At the edges: what the engine does where a box leaves the tensor, skips rows, or meets what was there.

    global memory, element by element ──box──▶ shared memory        a load
                                      ◀──box──                      a store, a reduction

`edges_geometry` names the experiments and places their elements, `edges_tables` makes the tables, static/edges.js and
`edges_still` draw them. Here are the traits that make up the figure's state.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tmalab.figures import edges_still
from tmalab.figures.answers import Observe
from tmalab.figures.base import Choice, Figure
from tmalab.figures.bundle import esm
from tmalab.figures.edges_geometry import EXPERIMENTS
from tmalab.figures.edges_state import EdgesState
from tmalab.figures.edges_tables import CELLS, VIEWS, edges_spec

_TITLE = "At the edges"


class EdgesFigure(Figure):
    """The figure, drawn from what `observe` answers: `tmalab.observe`, or any function from a Case to an Observation.

    `experiment` and `view` are its controls, `cell` the element of the box (row, column) that the sentence is about.
    With None, and for an experiment of which nothing is recorded, it shows the model and says so. Raises InputError
    for a state that it does not have.
    """

    name = "edges"
    state_names = ("experiment", "view", "cell")
    _esm = esm("edges")
    experiment = Choice(EXPERIMENTS)
    view = Choice(VIEWS)
    cell = Choice(CELLS)

    def __init__(
        self, observe: Observe | None, *, experiment: str = "zero", view: str = "hardware",
        cell: tuple[int, int] = (1, 6), title: str = _TITLE, page: str | None = "edges",
    ):  # fmt: skip
        spec, provenance = edges_spec(observe, title)
        super().__init__(spec=spec, provenance=provenance, experiment=experiment, view=view, cell=cell, page=page)

    @property
    def _found(self) -> EdgesState:
        return EdgesState(self.spec, self.state)

    def svg(self) -> str:
        """The still: the present state, drawn. It names no GPU: the same bytes give the same still everywhere."""
        return edges_still.draw(self._found)

    def sentence(self) -> str:
        """What becomes of the element that is singled out, and whether the hardware did so."""
        return self._found.sentence()

    def source(self) -> str:
        """Where the present state was measured, or that it was not."""
        line = self._found.one["line"]
        if line < 0:
            return "Model, not measured: there is no recording of this experiment."
        return str(self.provenance["lines"][line])

    def data(self) -> dict[str, Any]:
        """The present state: one entry an element of the box, and one for each other element that differs."""
        return {
            "schema": self.spec["schema"], "figure": self.name, "title": self.spec["title"],
            "state": {**self.state, "cell": list(self.cell)}, "provenance": self.source(), "table": self._found.data(),
        }  # fmt: skip

    def table(self) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
        """The same as texts."""
        return self._found.table()
