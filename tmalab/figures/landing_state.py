"""One state of "The tile landing", read out of its tables as landing.js reads it: what is drawn is what the page gets.

values     what stands in the cells: cycles since the load was issued, or the spread of them over the runs
shades     the shade of each cell; None where the piece has not landed yet at the frame's time
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tmalab.figures.cost_tables import read_numbers
from tmalab.figures.landing_tables import FRAMES, SHADES, SHOWN, WARMTHS

UNMEASURED = "Not measured: there is no recording of this state, and the model has no clock."
HEAD = ("Piece", "Bytes of the tile", "Rows of the box", "Run drawn", "Median", "10 % of the runs by", "90 % by")


class LandingState:
    """The figure in one state: `tile`, `warmth`, `shown`, `frame` (0: nothing has landed, 12: all has), `piece`."""

    def __init__(self, spec: Mapping[str, Any], provenance: Mapping[str, Any], state: Mapping[str, Any]):
        self.spec, self.state = spec, state
        number = spec["choices"]["tile"].index(state["tile"])
        self.tile: Mapping[str, Any] = spec["tiles"][number]
        index = number * len(WARMTHS) + WARMTHS.index(state["warmth"])
        self.one: Mapping[str, Any] | None = provenance["states"][index]
        self.source = UNMEASURED if self.one is None else str(provenance["lines"][self.one["line"]])
        self.run, self.gaps, self.median, self.low, self.high = (
            [[]] * 5 if self.one is None else [read_numbers(text) for text in self.one["times"]]
        )

    @property
    def piece(self) -> int:
        """The piece that is singled out; a tile of fewer gives its last."""
        return min(int(self.state["piece"]), int(self.tile["pieces"]) - 1)

    @property
    def times(self) -> list[int]:
        """When each piece landed: in the run drawn, or in the median."""
        return self.run if self.state["shown"] == "one run" else self.median

    @property
    def values(self) -> list[int]:
        """What stands in the cells."""
        if self.state["shown"] != "spread":
            return self.times
        return [high - low for low, high in zip(self.low, self.high, strict=True)]

    @property
    def now(self) -> int:
        """The frame's time, in cycles."""
        first, last, frame = min(self.times), max(self.times), int(self.state["frame"])
        return first - 1 + round((last - first + 1) * frame / FRAMES)

    @property
    def bins(self) -> tuple[int, int, int]:
        """The scale: its first value, the width of a bin, how many."""
        assert self.one is not None
        first, width, many = self.one["bins"][SHOWN.index(self.state["shown"])]
        return first, width, many

    @property
    def shades(self) -> list[int | None]:
        """The shade of each piece, None where it has not landed yet."""
        first, width, many = self.bins
        now = self.now
        return [
            _shade((value - first) // width, many) if time <= now else None
            for value, time in zip(self.values, self.times, strict=True)
        ]

    @property
    def key(self) -> list[tuple[int, str]]:
        """The scale in words: (shade, "500 to 599")."""
        first, width, many = self.bins
        return [
            (_shade(number, many), f"{first + number * width} to {first + (number + 1) * width - 1}")
            for number in range(many)
        ]

    def landed(self) -> str:
        """How many pieces have landed by the frame's time."""
        if self.one is None:
            return ""
        some = sum(time <= self.now for time in self.times)
        return f"{some} of {self.tile['pieces']} landed by {self.now} cycles ({self.ns(self.now)} ns)"

    def ns(self, cycles: float) -> int:
        """Nanoseconds of that many cycles of the SM's clock, rounded."""
        assert self.one is not None
        return round(cycles / float(self.one["cycles_per_ns"]))

    def place(self, piece: int) -> tuple[str, str]:
        """The bytes of the tile that a piece is, and the rows of the box whose bytes they are."""
        size, row_bytes = self.tile["piece_bytes"], self.tile["row_bytes"]
        first, last = piece * size, piece * size + size - 1
        top, bottom = first // row_bytes, last // row_bytes
        return f"{first} to {last}", str(top) if top == bottom else f"{top} to {bottom}"

    def sentence(self) -> str:
        """When the piece that is singled out landed, and how sure that is."""
        piece = self.piece
        held, rows = self.place(piece)
        name = f"Piece {piece}, bytes {held} of the tile (row{'s' if ' ' in rows else ''} {rows} of the box)"
        if self.one is None:
            return f"{name}: not measured."
        run, one = self.run[piece], self.one
        return (
            f"{name}: seen changed {run} cycles ({self.ns(run)} ns) after the load was issued, in the run drawn; the "
            f"look at {run - self.gaps[piece]} had still found the old word. Median of {one['runs']} runs: "
            f"{self.median[piece]}; four in five between {self.low[piece]} and {self.high[piece]}."
        )

    def table(self) -> tuple[list[str], list[list[str]]]:
        """One row a piece, as texts."""
        rows = []
        for piece in range(self.tile["pieces"]):
            measured = [f"{one[piece]}" if one else "–" for one in (self.run, self.median, self.low, self.high)]
            rows.append([str(piece), *self.place(piece), *measured])
        return list(HEAD), rows

    def data(self) -> dict[str, Any]:
        """The measured numbers of this state as plain JSON."""
        if self.one is None:
            return {"measured": None}
        kept = {
            name: self.one[name] for name in ("runs", "resolution", "cycles_per_ns", "issued", "complete", "completes")
        }
        return {
            "measured": kept, "box_dim": self.tile["box"], "swizzle": self.tile["swizzle"],
            "piece_bytes": self.tile["piece_bytes"], "landed_cycles": self.run, "median_cycles": self.median,
            "low_cycles": self.low, "high_cycles": self.high,
        }  # fmt: skip


def _shade(number: int, many: int) -> int:
    """The shade of bin `number` of `many`: the lightest is first, the darkest last."""
    return 0 if many == 1 else round(number * (SHADES - 1) / (many - 1) + 1e-9)
