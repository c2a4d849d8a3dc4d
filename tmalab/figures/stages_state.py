"""One state of "Loads that run ahead", read out of its tables as stages.js reads it.

buffer 0   ├─ load 0 ─┤■ out ■├─ load 2 ─┤■ …        a lane a buffer; the load is open, the way out is filled
buffer 1     ├─ load 1 ─────┤■ out ■├─ load 3 …
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tmalab.figures.cost_tables import read_numbers
from tmalab.figures.lanes import Lane, Mark
from tmalab.figures.stages_tables import NEVER, STAMPS

UNMEASURED = "Not measured: there is no recording of this run, and the model has no clock."
HEAD = ("Tile", "Buffer", "Load issued", "Seen complete", "On its way out", "Buffer free")
WAYS = {"registers": "through registers", "tma": "by TMA store"}


class StagesState:
    """The figure in one state: `via` and `stages`."""

    def __init__(self, spec: Mapping[str, Any], provenance: Mapping[str, Any], state: Mapping[str, Any]):
        self.spec, self.state = spec, state
        number = spec["choices"]["via"].index(state["via"]) * len(spec["choices"]["stages"])
        one = provenance["states"][number + spec["choices"]["stages"].index(state["stages"])]
        self.source = UNMEASURED if one is None else str(provenance["line"])
        self.share: float | None = None if one is None else one["share"]
        flat = [] if one is None else read_numbers(one["cycles"])
        self.tiles = [flat[at : at + STAMPS] for at in range(0, len(flat), STAMPS)]
        self.end = int(provenance["end"])

    def sentence(self) -> str:
        """What this version is worth."""
        count = self.state["stages"]
        name = f"{count} buffer{'s' if count > 1 else ''}, tiles leave {WAYS[self.state['via']]}"
        if self.share is None:
            return f"{name}: not measured."
        return (
            f"{name}: {self.share:.1%} of the rate of the driver's copy. While a tile was on its way out, "
            f"{self.ahead():.1f} loads were in flight on average."
        )

    def ahead(self) -> float:
        """Loads in flight while a tile leaves, averaged over the time that tiles take to leave."""
        leaving = overlap = 0
        for _, complete, out, free in self.tiles:
            end = out if free == NEVER else free
            leaving += end - complete
            overlap += sum(max(0, min(end, landed) - max(complete, issued)) for issued, landed, _, _ in self.tiles)
        return overlap / leaving if leaving else 0.0

    def lanes(self) -> list[Lane]:
        """A lane a buffer, its tiles in order."""
        count = int(self.state["stages"])
        if not self.tiles:
            return []
        return [
            Lane(
                f"buffer {stage}",
                tuple(mark for tile in range(stage, len(self.tiles), count) for mark in self._marks(tile)),
                f"tiles {stage}, {stage + count} …",
            )
            for stage in range(count)
        ]

    def _marks(self, tile: int) -> list[Mark]:
        issued, complete, out, free = self.tiles[tile]
        load = Mark(
            f"load-{tile}", issued, complete, str(tile), "outline",
            f"Tile {tile}: its load was issued at {issued} cycles and seen complete at {complete}, {complete - issued} "
            "later.",
        )  # fmt: skip
        end = out if free == NEVER else free
        said = "no later tile wanted its buffer" if free == NEVER else f"its buffer was free at {free}"
        leave = Mark(
            f"out-{tile}", complete, max(end, complete), "", "solid",
            f"Tile {tile}: {WAYS[self.state['via']]} it was on its way out at {out} cycles; {said}.",
        )  # fmt: skip
        return [load, leave]

    def table(self) -> tuple[list[str], list[list[str]]]:
        """One row a tile, as texts."""
        rows = [
            [str(tile), str(tile % self.state["stages"]), *("–" if one == NEVER else str(one) for one in stamps)]
            for tile, stamps in enumerate(self.tiles)
        ]
        return list(HEAD), rows

    def data(self) -> dict[str, Any]:
        """The stamps in cycles since the block's first load, and the share, as plain JSON."""
        return {"cycles": self.tiles, "share_of_driver_copy": self.share}
