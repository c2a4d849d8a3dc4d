"""What does my access cost? A tile, a warp that reads it, and the price: banks, wavefronts, cycles, and what frees it.

    tile       dtype, rows, row bytes, swizzle or padding, base        32 banks as a chart, the words below them
    access     row, column, diagonal, ldmatrix, an expression of lane  wavefront after wavefront, foretold and measured

`cost_tables` says what was measured; static/cost.js and `cost_still` draw it. For anything else the figure asks
`tmalab.checker.cost`: here in the kernel, in the book in a worker. An expression is parsed, never run as code.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import traitlets

from tmalab.checker.cost import cost_json
from tmalab.errors import InputError
from tmalab.experiment.cost_cases import COST_DTYPES
from tmalab.figures import cost_still
from tmalab.figures.answers import Observe
from tmalab.figures.base import Choice, Figure
from tmalab.figures.bundle import esm
from tmalab.figures.cost_state import NOT_MEASURED, CostState
from tmalab.figures.cost_tables import VIEWS, WIDTHS, cost_spec
from tmalab.model.tile_access import LANES
from tmalab.model.tile_cost import SWIZZLES, TILE_ACCESSES

if TYPE_CHECKING:
    from matplotlib.figure import Figure as PrintedFigure

_TITLE = "What does my access cost?"
_LEAST = {"rows": 1, "row_bytes": 1, "padding": 0, "base": 0, "wave": 0, "lane": 0}


class CostFigure(Figure):
    """The price of one access of a warp, drawn from what `observe` answers (None: the model alone, and it says so).

    The tile is `rows` rows of `row_bytes` bytes of `dtype` from shared address `base` on, `swizzle`d or with `padding`
    bytes after each row. The warp reads it as `access` says, `width` bytes a lane ("element": one of `dtype`); for
    "expression" `edit` is the reader's own (see `tile_cost.TileAccess`). `wave` is the wavefront that is looked at,
    0 for all, `lane` whom the sentence is about. Raises InputError for a state that cannot be.
    """

    name = "cost"
    state_names = (
        "dtype", "rows", "row_bytes", "swizzle", "padding", "base", "access", "width", "edit", "view", "wave", "lane",
    )  # fmt: skip
    _esm = esm("cost")
    dtype = Choice(tuple(COST_DTYPES))
    rows = traitlets.Int(32).tag(sync=True)
    row_bytes = traitlets.Int(128).tag(sync=True)
    swizzle = Choice(SWIZZLES)
    padding = traitlets.Int(0).tag(sync=True)
    base = traitlets.Int(0).tag(sync=True)
    access = Choice((*TILE_ACCESSES, "expression"))
    width = Choice(WIDTHS)
    edit = traitlets.Unicode("").tag(sync=True)
    view = Choice(VIEWS)
    wave = traitlets.Int(0).tag(sync=True)
    lane = traitlets.Int(0).tag(sync=True)

    def __init__(
        self, observe: Observe | None, *, dtype: str = "float32", rows: int = 32, row_bytes: int = 128,
        swizzle: str = "none", padding: int = 0, base: int = 0, access: str = "column", width: str = "element",
        edit: str = "", view: str = "hardware", wave: int = 0, lane: int = 0, title: str = _TITLE,
        page: str | None = "cost",
    ):  # fmt: skip
        spec, provenance = cost_spec(observe, title)
        super().__init__(
            spec=spec, provenance=provenance, dtype=dtype, rows=rows, row_bytes=row_bytes, swizzle=swizzle,
            padding=padding, base=base, access=access, width=width, edit=edit, view=view, wave=wave, lane=lane,
            page=page,
        )  # fmt: skip
        self.on_msg(self._answer)

    @traitlets.validate(*_LEAST)
    def _possible(self, proposal: Any) -> int:
        name, value = proposal["trait"].name, int(proposal["value"])
        if value < _LEAST[name] or (name == "lane" and value >= LANES):
            limit = LANES - 1 if name == "lane" and value >= LANES else _LEAST[name]
            raise InputError(
                "not in the figure", field=name, value=value, limit=limit, fix=f"use {_LEAST[name]} or more"
            )
        return value

    def _answer(self, _: Any, content: Any, __: Any) -> None:
        """Answer the page's question: the same function that a page without a kernel runs in its worker."""
        if isinstance(content, dict) and "question" in content:
            self.send({"number": content.get("number"), "answer": cost_json(content["question"])})

    @property
    def _found(self) -> CostState:
        return CostState(self.spec, self.provenance, self.state)

    def svg(self) -> str:
        """The still: the present state, drawn. It names no GPU and no time: other runs give the same still."""
        return cost_still.draw(self._found)

    def sentence(self) -> str:
        """What the lane that is singled out reads, and when; or why no warp can."""
        return self._found.sentence()

    def source(self) -> str:
        """Where the present state was measured, or that it was not."""
        return str(self.provenance["line"]) if self._found.seen else NOT_MEASURED

    def table(self) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
        """One row a lane."""
        return self._found.table()

    def data(self) -> dict[str, Any]:
        """The present state as plain JSON."""
        found = self._found
        head, rows = found.table()
        told: dict[str, Any] = {"error": found.error}
        if found.told:
            told = {
                "degree": found.told["degree"], "wavefronts": [wave["lanes"] for wave in found.told["waves"]],
                "cycles": found.told["cycles"], "advice": found.told["advice"]["words"],
                "measured": found.seen and dict(zip(("cycles", "spread", "count"), found.seen, strict=True)),
            }  # fmt: skip
        return {
            "schema": self.spec["schema"], "figure": self.name, "title": self.spec["title"], "state": self.state,
            **told,
            "provenance": self.source(), "table": [dict(zip(head, row, strict=True)) for row in rows],
        }  # fmt: skip

    def matplotlib(self) -> PrintedFigure:
        """The bank chart and its words as a matplotlib figure, for print. Raises InputError without matplotlib."""
        from tmalab.figures.cost_print import printed

        return printed(self._found, self.source())
