"""The same tile, read with the right and the wrong descriptor: what `wgmma` took from shared memory for each element.

    shared memory, as TMA left it ──descriptor──▶ the operand, as the tensor core read it

`wgmma_tables` makes the tables, static/wgmma.js and `wgmma_still` draw them. Here are the traits that make up the
figure's state.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tmalab.experiment.wgmma_cases import DESCRIPTORS, TILES
from tmalab.figures import wgmma_still
from tmalab.figures.answers import Observe
from tmalab.figures.base import Choice, Figure
from tmalab.figures.bundle import esm
from tmalab.figures.wgmma_state import WgmmaState
from tmalab.figures.wgmma_tables import CELLS, FIRST_ROWS, VIEWS, wgmma_spec

_TITLE = "The same tile, read with the right and the wrong descriptor"


class WgmmaFigure(Figure):
    """The figure, drawn from what `observe` answers: `tmalab.observe`, or any function from a Case to an Observation.

    `tile` is how the tile stands in shared memory, `descriptor` how it is read; `rows` is the first of the eight rows
    that are drawn large, and `cell` (row of the eight, chunk) what the sentence is about. With None, and for a tile of
    which nothing is recorded, it shows the model and says so. Raises InputError for a state that it does not have.
    """

    name = "wgmma"
    state_names = ("tile", "descriptor", "rows", "view", "cell")
    _esm = esm("wgmma")
    tile = Choice(TILES)
    descriptor = Choice(DESCRIPTORS)
    rows = Choice(FIRST_ROWS)
    view = Choice(VIEWS)
    cell = Choice(CELLS)

    def __init__(
        self, observe: Observe | None, *, tile: str = "128B", descriptor: str = "none", rows: int = 0,
        view: str = "hardware", cell: tuple[int, int] = (3, 1), title: str = _TITLE, page: str | None = "wgmma",
    ):  # fmt: skip
        spec, provenance = wgmma_spec(observe, title)
        super().__init__(
            spec=spec, provenance=provenance, tile=tile, descriptor=descriptor, rows=rows, view=view, cell=cell,
            page=page,
        )  # fmt: skip

    @property
    def _found(self) -> WgmmaState:
        return WgmmaState(self.spec, self.state)

    def svg(self) -> str:
        """The still: the present state, drawn. It names no GPU: the same bytes give the same still everywhere."""
        return wgmma_still.draw(self._found)

    def sentence(self) -> str:
        """What was read in place of the chunk that is singled out, and whether the hardware did so."""
        return self._found.sentence()

    def source(self) -> str:
        """Where the present state was measured, or that it was not."""
        line = self._found.tile["line"]
        if line < 0:
            return "Model, not measured: there is no recording of this tile."
        return str(self.provenance["lines"][line])

    def data(self) -> dict[str, Any]:
        """The present state: one entry a chunk of the whole tile."""
        return {
            "schema": self.spec["schema"], "figure": self.name, "title": self.spec["title"],
            "state": {**self.state, "cell": list(self.cell)}, "provenance": self.source(), "table": self._found.data(),
        }  # fmt: skip

    def table(self) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
        """The eight large rows as texts."""
        return self._found.table()
