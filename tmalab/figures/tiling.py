"""Tiling and bank conflicts: one column of a grid of chunks, read from eight rows at once, in four layouts.

    16 x 16 chunks ──copy──▶ shared memory ──eight reads──▶ bank groups S0 … S7: the highest stack is what it costs

`tiling_tables` makes the tables, static/tiling.js and `tiling_still` draw them. Here are the traits that make up the
figure's state.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

from tmalab.experiment.tiling_cases import COLUMNS, FIRST_ROWS, TILING_DTYPES, TILING_ROWS, TILING_SWIZZLES, TILINGS
from tmalab.figures import tiling_still
from tmalab.figures.answers import Observe
from tmalab.figures.base import Choice, Figure
from tmalab.figures.bundle import esm
from tmalab.figures.tiling_state import TilingState
from tmalab.figures.tiling_tables import VIEWS, tiling_spec

_TITLE = "Tiling and bank conflicts"


class TilingFigure(Figure):
    """The figure, drawn from what `observe` answers: `tmalab.observe`, or any function from a Case to an Observation.

    `tiling` (are rows of 256 bytes split in two), `swizzle`, `column`, `first_row` (of the eight that are read),
    `dtype` and `view` are its controls, `cell` the chunk of the grid (row, column) that the sentence is about. With
    None, and for what is not recorded, it shows the model and says so. Raises InputError for a state that it does not
    have.
    """

    name = "tiling"
    draws_times = True  # of a sort: what the profiler counted is not there in every run
    state_names = ("tiling", "swizzle", "column", "first_row", "dtype", "view", "cell")
    _esm = esm("tiling")
    tiling = Choice(TILINGS)
    swizzle = Choice(TILING_SWIZZLES)
    column = Choice(COLUMNS)
    first_row = Choice(FIRST_ROWS)
    dtype = Choice(TILING_DTYPES)
    view = Choice(VIEWS)
    cell = Choice(tuple(product(range(TILING_ROWS), COLUMNS)))

    def __init__(
        self, observe: Observe | None, *, tiling: str = "yes", swizzle: str = "128B", column: int = 5,
        first_row: int = 0, dtype: str = "float16", view: str = "hardware", cell: tuple[int, int] = (3, 5),
        title: str = _TITLE, page: str | None = "tiling",
    ):  # fmt: skip
        spec, provenance = tiling_spec(observe, title)
        super().__init__(
            spec=spec, provenance=provenance, tiling=tiling, swizzle=swizzle, column=column, first_row=first_row,
            dtype=dtype, view=view, cell=cell, page=page,
        )  # fmt: skip

    @property
    def _found(self) -> TilingState:
        return TilingState(self.spec, self.state, self.provenance["counted"])

    def svg(self) -> str:
        """The still: the present state, drawn. It names no GPU: the same bytes give the same still everywhere."""
        return tiling_still.draw(self._found)

    def sentence(self) -> str:
        """Where the chunk that is singled out stands, and what its column costs."""
        found = self._found
        return f"{found.sentence()} {'; '.join(found.costs())}."

    def cycles(self) -> dict[str, float] | None:
        """What the eight reads took, if it was measured: `latency_cycles` to the data, `cycles` to the next read."""
        reads, number = self.provenance["reads"], self._found.number
        return None if reads is None else {name: reads[name][number] for name in ("latency_cycles", "cycles")}

    def source(self) -> str:
        """Where the bytes and the times of the present state were measured, or that they were not."""
        found = self._found
        of = self.provenance["of"][found.layout_number * len(TILING_DTYPES) + found.dtype]
        seen = self.provenance["lines"][of] if of >= 0 else "model, not measured"
        cycles = self.cycles()
        if cycles is None:
            return f"Bytes: {seen}. Cycles: not measured."
        times = f"data after {cycles['latency_cycles']:.1f}, one read every {cycles['cycles']:.1f}"
        return f"Bytes: {seen}. Cycles ({times}): {self.provenance['reads']['line']}."

    def data(self) -> dict[str, Any]:
        """The present state: where each chunk stands, and what the column costs."""
        return {
            "schema": self.spec["schema"], "figure": self.name, "title": self.spec["title"],
            "state": {**self.state, "cell": list(self.cell)}, "provenance": self.source(), "measured": self.cycles(),
            **self._found.data(),
        }  # fmt: skip

    def table(self) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
        """The eight reads as texts, and each other chunk that differs."""
        return self._found.table()
