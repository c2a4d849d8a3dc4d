"""One state of "At the edges", read out of its tables as edges.js reads it: what is drawn is what the page is given.

shown      what the written memory holds in this view       unequal    its cells where hardware and model differ
number     the element of the box that is singled out       target     the cell of each that is written, or would be
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class EdgesState:
    """The figure's `spec` in one state: `experiment`, `view`, and `cell` (row, column) of the box."""

    def __init__(self, spec: Mapping[str, Any], state: Mapping[str, Any]):
        self.spec, self.state = spec, state
        self.one: Mapping[str, Any] = spec["experiments"][spec["choices"]["experiment"].index(state["experiment"])]
        self.is_load = self.one["direction"] == "load"
        self.measured = self.one["hardware"] is not None
        self.hardware: list[str] = self.one["hardware"] if self.measured else self.one["model"]
        self.target: list[int] = self.one["shared_cells" if self.is_load else "memory_cells"]
        self.cells = [cell for cell, bits in enumerate(self.one["model"]) if bits]
        self.unequal = {cell for cell in self.cells if self.hardware[cell] != self.one["model"][cell]}

    @property
    def shown(self) -> list[str]:
        """The written memory, as the view has it."""
        return self.one["model"] if self.state["view"] == "model" else self.hardware

    @property
    def number(self) -> int:
        """The element that is singled out; a box too small for `cell` gives its nearest one."""
        across = self.across
        row, column = self.state["cell"]
        return int(min(row, len(self.target) // across - 1) * across + min(column, across - 1))

    @property
    def across(self) -> int:
        """How many elements a row of the box has."""
        rows: int = self.one["shared"][3]
        return len(self.target) // rows

    def row(self, number: int) -> int:
        """The row that an element of the box is coloured by: the tensor's of a load, the box's of a store."""
        return int(self.one["coords"][number][1]) if self.is_load else number // self.across

    def wrong(self, cell: int) -> bool:
        """Whether a cell of the written memory is drawn as one that differs."""
        return self.state["view"] != "model" and cell in self.unequal

    def said(self, bits: str) -> str:
        """An element in words."""
        return str(self.one["labels"][bits][2])

    def count(self) -> str:
        """How many elements differ, in words."""
        some, hidden = len(self.unequal), self.one["elsewhere"]
        more = f", and {hidden} {'byte that is' if hidden == 1 else 'bytes that are'} not drawn" if hidden else ""
        return f"{some} of {len(self.cells)} elements {'differs' if some == 1 else 'differ'}{more}"

    def verdict(self, cell: int) -> str:
        """What the hardware left in a cell of the written memory, beside what the model says, as a sentence."""
        if self.state["view"] == "model":
            return ""
        if not self.measured:
            return " Model, not measured."
        if cell not in self.unequal:
            return " Measured: so it is."
        hardware, model = self.said(self.hardware[cell]), self.said(self.one["model"][cell])
        return f" Measured: {hardware}, where the model says {model}."

    def sentence(self) -> str:
        """What becomes of the element that is singled out, and whether the hardware did so."""
        return str(self.one["words"][self.number]) + self.verdict(self.target[self.number])

    def deed(self, number: int) -> str:
        """What becomes of an element of the box, in a word or two."""
        kind = self.one["kinds"][number]
        if self.is_load:
            return "copied" if kind == "in" else "filled"
        done = "written" if self.one["direction"] == "store" else "combined"
        return {"in": done, "clip": f"{done}, past the tensor", "out": "not written"}[kind]

    def table(self) -> tuple[list[str], list[list[str]]]:
        """The state as texts: a row an element of the box, and one for each other element that differs."""
        head = ["Box row, column", "Tensor row, column", "What happens", "The hardware left", "The model says", "Equal"]
        rows = []
        for number, (column, row) in enumerate(self.one["coords"]):
            y, x = divmod(number, self.across)
            rows.append([f"{y}, {x}", f"{row}, {column}", self.deed(number), *self._compared(self.target[number])])
        others = sorted(self.unequal - set(self.target))
        return head, rows + [["–", self.place(cell), "–", *self._compared(cell)] for cell in others]

    def place(self, cell: int) -> str:
        """A cell of the written memory that is not the box's: its row and column, or its shared byte."""
        if self.is_load:
            return f"shared byte {self.one['shared'][0] + cell * self.one['bytes']}"
        left, top, width, _ = self.one["window"]
        return f"{top + cell // width}, {left + cell % width}"

    def _compared(self, cell: int) -> list[str]:
        model = self.said(self.one["model"][cell])
        if not self.measured:
            return ["not measured", model, "–"]
        return [self.said(self.hardware[cell]), model, "differs" if cell in self.unequal else "equal"]

    def data(self) -> list[dict[str, Any]]:
        """The table as plain JSON, with the bits."""
        head, rows = self.table()
        cells = [*self.target, *sorted(self.unequal - set(self.target))]
        return [
            {**dict(zip(head, row, strict=True)), "bits": self.hardware[cell] if self.measured else None,
             "model_bits": self.one["model"][cell]}
            for cell, row in zip(cells, rows, strict=True)
        ]  # fmt: skip
