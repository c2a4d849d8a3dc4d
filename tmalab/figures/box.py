"""The box explorer: a tensor and a box of it, the map's fields on one side and the instruction's operands on the other.

    tensor map      encoded once: dtype, global_dim, global_strides, box_dim …      128 bytes
    instruction     every copy:   coordinates, shared address, barrier              the box moves, the map stays

`box_tables` makes the examples, each at the places where the H200 put its box; static/box.js and `box_still` draw
them. For anything else the figure asks `tmalab.checker.explore`: here in the kernel, in the book in a worker.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import traitlets

from tmalab.checker.explore import explore_json
from tmalab.errors import InputError
from tmalab.figures import box_still
from tmalab.figures.answers import Observe
from tmalab.figures.base import Choice, Figure
from tmalab.figures.box_state import NOT_MEASURED, BoxState, read_edit
from tmalab.figures.box_tables import EXAMPLES, VIEWS, box_spec
from tmalab.figures.bundle import esm
from tmalab.model.tensor_map_fields import integer

_TITLE = "One tensor map, any place"


class BoxFigure(Figure):
    """The box explorer, drawn from what `observe` answers (None: the model alone, and the figure says so).

    `example` and `view` are its controls; `coords` (innermost first; none: the example's first place) and `base` the
    copy's operands; `edit` the reader's own map, "" for the example's (see `box_state.read_edit`); `layer`, a 2-D slice
    of the box, and `cell` in it say which element the sentence is about. Raises InputError for a state that cannot be
    read.
    """

    name = "box"
    state_names = ("example", "view", "coords", "base", "edit", "layer", "cell")
    _esm = esm("box")
    example = Choice(tuple(example.name for example in EXAMPLES))
    view = Choice(VIEWS)
    coords = traitlets.List(traitlets.Int()).tag(sync=True)
    base = traitlets.Int(0).tag(sync=True)
    edit = traitlets.Unicode("").tag(sync=True)
    layer = traitlets.Int(0).tag(sync=True)
    cell = traitlets.Int(0).tag(sync=True)

    def __init__(
        self, observe: Observe | None, *, example: str = "plane", coords: Sequence[int] = (), base: int = 0,
        edit: str = "", view: str = "hardware", layer: int = 0, cell: int = 9, title: str = _TITLE,
        page: str | None = "box",
    ):  # fmt: skip
        spec, provenance = box_spec(observe, title)
        super().__init__(
            spec=spec, provenance=provenance, example=example, view=view,
            coords=[integer("coords", value) for value in coords], base=base, edit=edit, layer=layer,
            cell=cell, page=page,
        )  # fmt: skip
        self.on_msg(self._answer)

    @traitlets.validate("edit")
    def _readable(self, proposal: Any) -> str:
        if proposal["value"]:
            read_edit(proposal["value"])
        return str(proposal["value"])

    @traitlets.validate("base", "layer", "cell")
    def _not_negative(self, proposal: Any) -> int:
        if proposal["value"] < 0:
            raise InputError(
                "negative", field=proposal["trait"].name, value=proposal["value"], limit=0, fix="use 0 or more"
            )
        return int(proposal["value"])

    def _answer(self, _: Any, content: Any, __: Any) -> None:
        """Answer the page's question: the same function that a page without a kernel runs in its worker."""
        if isinstance(content, dict) and "question" in content:
            self.send({"number": content.get("number"), "answer": explore_json(content["question"])})

    @property
    def _found(self) -> BoxState:
        return BoxState(self.spec, self.state)

    def svg(self) -> str:
        """The still: the present state, drawn. It names no GPU: the same bytes give the same still everywhere."""
        return box_still.draw(self._found)

    def sentence(self) -> str:
        """Where the element that is singled out comes from and goes to, or what is wrong."""
        return self._found.sentence()

    def source(self) -> str:
        """Where the present state was measured, or that it was not."""
        found = self._found
        return str(self.provenance["lines"][found.told["line"]]) if found.measured else NOT_MEASURED

    def table(self) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
        """One row an element of the box."""
        return self._found.table()

    def data(self) -> dict[str, Any]:
        """The present state as plain JSON."""
        found = self._found
        head, rows = found.table()
        return {
            "schema": self.spec["schema"], "figure": self.name, "title": self.spec["title"],
            "state": {**self.state, "coords": found.coords}, "tensor_map": found.fields, "verdict": found.verdict(),
            "transaction_bytes": found.told["transaction_bytes"], "provenance": self.source(),
            "table": [dict(zip(head, row, strict=True)) for row in rows],
        }  # fmt: skip
