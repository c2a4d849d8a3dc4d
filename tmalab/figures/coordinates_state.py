"""One state of "A coordinate tensor", read out of its tables as coordinates.js reads it.

cells      what stands in each tile's cell, and its shade; in the order of the matrix
calls      the calls of the tile that is chosen, and what they give
lanes      seven loads of its block, and those of a few others, over the time since the first load of all
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tmalab.figures.coordinates_tables import shade
from tmalab.figures.cost_tables import read_numbers
from tmalab.figures.lanes import Lane, Mark

UNMEASURED = "Model, not measured: there is no recording of this run."
MODEL = "Model: CuTe's algebra, no run."
HEAD = ("Block", "Rows", "SM", "First load issued, ns", "Tiles 0 to 6 seen complete, ns", "Elements that differ")
COMPANY = 4  # blocks that are drawn beside the chosen one


class CoordinatesState:
    """The figure in one state: `view`, `shown`, `block`, `column`."""

    def __init__(self, spec: Mapping[str, Any], provenance: Mapping[str, Any], state: Mapping[str, Any]):
        self.spec, self.state = spec, state
        self.one: Mapping[str, Any] | None = provenance["measured"]
        measured = UNMEASURED if self.one is None else str(provenance["line"])
        self.source = MODEL if state["view"] == "model" else measured
        self.tiles = int(spec["tiles"])
        numbers = {
            name: read_numbers(self.one[name]) if self.one else [] for name in ("issued", "taken", "differ", "sm")
        }
        self.issued, self.differ, self.sm = numbers["issued"], numbers["differ"], numbers["sm"]
        self.landed = [begin + took for begin, took in zip(self.issued, numbers["taken"], strict=True)]

    @property
    def chosen(self) -> int:
        """The number of the tile that is singled out."""
        return int(self.state["block"]) * self.tiles + int(self.state["column"])

    def start(self, tile: int) -> tuple[int, int]:
        """Row and column of a tile's first element."""
        return self.spec["down"][tile // self.tiles], self.spec["across"][tile % self.tiles]

    def cell(self, tile: int) -> tuple[str, int | None]:
        """What stands in a tile's cell, and its shade; None: none."""
        block, column = divmod(tile, self.tiles)
        if self.state["view"] == "model" or self.one is None:
            return f"{block},{column}", None
        if self.state["view"] == "difference":
            return str(self.differ[tile]), None
        if self.state["shown"] == "SM":
            return str(self.sm[block]), shade(self.sm[block], self.one["bins"]["SM"])
        return f"{self.landed[tile] / 1000:.1f}", shade(self.landed[tile], self.one["bins"]["landed"])

    @property
    def key(self) -> list[tuple[int, str]]:
        """The scale in words, where the cells are shaded."""
        if self.one is None or self.state["view"] != "hardware":
            return []
        first, width, many = scale = self.one["bins"][self.state["shown"]]
        lows = [first + number * width for number in range(many)]
        if self.state["shown"] == "SM":
            return [(shade(low, scale), f"{low} to {low + width - 1}") for low in lows]
        return [(shade(low, scale), f"{low / 1000:g} to {(low + width) / 1000:g}") for low in lows]

    def calls(self) -> list[tuple[str, str]]:
        """The calls for the chosen tile and what each gives."""
        row, col = self.start(self.chosen)
        index = f"({self.state['block']}, {self.state['column']})"
        said = {"{index}": index, "{at}": f"({col},{row})", "{coords}": f"{{{col}, {row}}}"}
        return [(_fill(call, said), _fill(gives, said)) for call, gives in self.spec["calls"]]

    def sentence(self, tile: int | None = None) -> str:
        """What is to be said of a tile (default: the chosen one) in this view."""
        tile = self.chosen if tile is None else tile
        block, column = divmod(tile, self.tiles)
        row, col = self.start(tile)
        rows, cols = self.spec["tile"]
        name = f"Tile ({block}, {column}), rows {row} to {row + rows - 1} and columns {col} to {col + cols - 1}"
        if self.state["view"] == "model" or self.one is None:
            unmeasured = " Not measured." if self.state["view"] != "model" else ""
            return (
                f"{name}: element ({row}, {col}), which the instruction is told as {{{col}, {row}}}, innermost "
                f"first.{unmeasured}"
            )
        if self.state["view"] == "difference":
            return (
                f"{name}: {self.differ[tile]} of {rows * cols} elements differ from the matrix, and {sum(self.differ)} "
                f"of {self.one['elements']} in all."
            )
        return (
            f"{name}: block {block} ran on SM {self.sm[block]}. The load was issued {self.issued[tile]} ns after the "
            f"first of all and seen complete {self.landed[tile] - self.issued[tile]} ns later, in steps of "
            f"{self.one['tick']} ns."
        )

    def company(self) -> list[int]:
        """The blocks that the chart draws: the chosen one and a few spread over the grid."""
        strips, block = int(self.spec["strips"]), int(self.state["block"])
        others = [round(number * (strips - 1) / COMPANY) for number in range(COMPANY + 1)]
        return [block, *[other for other in others if other != block][:COMPANY]]

    def lanes(self) -> list[Lane]:
        """The loads of those blocks over time, in ns."""
        if self.one is None or self.state["view"] == "model":
            return []
        return [
            Lane(
                f"block {block}",
                tuple(self._mark(block, column) for column in range(self.tiles)),
                f"SM {self.sm[block]}",
            )
            for block in self.company()
        ]

    def _mark(self, block: int, column: int) -> Mark:
        tile = block * self.tiles + column
        hot = block == int(self.state["block"])
        said = (
            f"Block {block}, tile {column}: issued {self.issued[tile]} ns after the first load of all, seen complete "
            f"at {self.landed[tile]} ns."
        )
        kind = "solid" if tile == self.chosen else "outline" if hot else "soft"
        return Mark(f"{tile}", self.issued[tile], self.landed[tile], str(column), kind, said)

    def table(self) -> tuple[list[str], list[list[str]]]:
        """One row a block, as texts."""
        rows = []
        for block, row in enumerate(self.spec["down"]):
            mine = slice(block * self.tiles, (block + 1) * self.tiles)
            seen = (
                [str(self.sm[block]), str(self.issued[mine][0]), " ".join(map(str, self.landed[mine])),
                 str(sum(self.differ[mine]))]
                if self.one else ["–"] * 4
            )  # fmt: skip
            rows.append([str(block), f"{row} to {row + self.spec['tile'][0] - 1}", *seen])
        return list(HEAD), rows

    def data(self) -> dict[str, Any]:
        """The measured numbers and the chosen tile's calls, as plain JSON."""
        row, col = self.start(self.chosen)
        return {
            "element": [row, col], "coords": [col, row], "calls": [list(pair) for pair in self.calls()],
            "measured": None if self.one is None else {
                "tick_ns": self.one["tick"], "issued_ns": self.issued, "landed_ns": self.landed, "differ": self.differ,
                "sm": self.sm, "elements": self.one["elements"], "version": self.one["version"],
            },
        }  # fmt: skip


def _fill(text: str, said: Mapping[str, str]) -> str:
    for place, word in said.items():
        text = text.replace(place, word)
    return text
