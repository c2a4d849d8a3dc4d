"""Figure 1, "One tile through the TMA engine": a box of a tensor on its way into swizzled shared memory.

    tensor 16 × 128 fp16 ──box──▶ TMA engine ──XOR of the line's number──▶ shared memory, 128 bytes a line

`tile_tables` makes the tables, static/tile.js and `tile_still` draw them. Here are the traits that make up the
figure's state.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

from tmalab.figures import tile_still
from tmalab.figures.answers import Observe
from tmalab.figures.base import Choice, Figure
from tmalab.figures.bundle import esm
from tmalab.figures.tile_state import TileState
from tmalab.figures.tile_tables import STATES, VIEWS, tile_spec

_TITLE = "One tile through the TMA engine"
_CELLS = tuple(product(range(8), range(8)))


class TileFigure(Figure):
    """Figure 1, drawn from what `observe` answers: `tmalab.observe`, or any function from a Case to an Observation.

    `swizzle`, `row`, `col` (elements), `base` (bytes) and `view` are its controls, `cell` the chunk of the box (row,
    chunk) that the sentence is about. With None, and in a state of which nothing is recorded, the figure shows the
    model and says so. Raises InputError for a state that it does not have.
    """

    name = "tile"
    state_names = (*STATES, "view", "cell")
    _esm = esm("tile")
    swizzle = Choice(STATES["swizzle"])
    row = Choice(STATES["row"])
    col = Choice(STATES["col"])
    base = Choice(STATES["base"])
    view = Choice(VIEWS)
    cell = Choice(_CELLS)

    def __init__(
        self, observe: Observe | None, *, swizzle: str = "128B", row: int = 0, col: int = 0, base: int = 0,
        view: str = "hardware", cell: tuple[int, int] = (3, 5), title: str = _TITLE, page: str | None = "tile",
    ):  # fmt: skip
        spec, provenance = tile_spec(observe, title)
        super().__init__(
            spec={**spec, "cells": [list(one) for one in _CELLS]}, provenance=provenance, swizzle=swizzle, row=row,
            col=col, base=base, view=view, cell=cell, page=page,
        )  # fmt: skip

    @property
    def _found(self) -> TileState:
        return TileState(self.spec, self.state)

    def svg(self) -> str:
        """The still: the present state, drawn. It names no GPU: the same bytes give the same still everywhere."""
        return tile_still.draw(self._found)

    def sentence(self) -> str:
        """Where the chunk that is singled out stands, and how many differ from the model."""
        return self._found.sentence()

    def source(self) -> str:
        """Where the present state was measured, or that it was not."""
        found = self._found
        if not found.measured:
            return "Model, not measured: there is no recording of this state."
        lines, of = self.provenance["lines"], self.provenance.get("of")
        return str(lines[of[found.number] if of else 0])

    def data(self) -> dict[str, Any]:
        """The present state: one entry a chunk of shared memory that the hardware or the model touched."""
        return {
            "schema": self.spec["schema"], "figure": self.name, "title": self.spec["title"],
            "state": {**self.state, "cell": list(self.cell)}, "provenance": self.source(), "table": self._found.data(),
        }  # fmt: skip

    def table(self) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
        """The same as texts."""
        return self._found.table()
