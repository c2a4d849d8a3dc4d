"""One state of "A pipeline", read out of its tables as pipeline_words.js reads it.

cell     the depth and the compute time that are looked at      run     its tiles: measured, or the model's
bubble   how long the consumers stand still a tile, in ns       law     how many stages hide that, by Little's law
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from tmalab.figures.cost_tables import read_numbers

MODEL_LINE = "Model: its costs were measured one by one, and not in this run."
UNMEASURED = "Not measured: there is no recording of this run, and the model's costs are measured ones."
WHERE = {"l2": "tiles in the L2", "hbm": "tiles in memory", "all": "tiles in memory, every SM at once"}
HEAD = (
    "Tile", "Stage", "Stage empty", "Load issued", "Tile there", "Wait begins", "Wait ends", "Read and computed",
    "Stage given back", "Bubble",
)  # fmt: skip
SWEEP = "Time a tile, by depth"
SWEEP_HEAD = (
    "Compute (ns)", "Stages", "Time a tile (ns)", "All runs (ns)", "Model (ns)", "Off by", "Bubble (ns)",
    "Bubble, model (ns)", "Stages by Little's law",
)  # fmt: skip
HIDDEN = 20  # a bubble of less than one part in so many is none
Run = dict[str, list[int]]


class PipelineState:
    """The figure's `spec` and `provenance` in one state: `tile`, `compute`, `stages` and `view`."""

    def __init__(self, spec: Mapping[str, Any], provenance: Mapping[str, Any], state: Mapping[str, Any]):
        self.spec, self.state, self.gpu = spec, state, provenance["gpu"]
        self.stages: int = state["stages"]
        choices = spec["choices"]
        self.number: int = choices["compute"].index(state["compute"])
        self.sweep: Mapping[str, Any] | None = provenance["sweeps"][choices["tile"].index(state["tile"])]
        self.cell = self.cell_of(self.stages, self.number)
        self.is_model = state["view"] == "model"
        if self.sweep is None:
            self.source = UNMEASURED
        else:
            line = str(provenance["lines"][self.sweep["line"]])
            self.source = f"{MODEL_LINE} {line}" if self.is_model else line
        self.run, self.told = (self._run(0), self._run(1)) if self.cell else ({}, {})

    def cell_of(self, stages: int, number: int) -> Mapping[str, Any] | None:
        """What is known of a depth and a compute time; None where the ring has no room, or nothing is recorded."""
        if self.sweep is None:
            return None
        cell: Mapping[str, Any] | None = self.sweep["cells"][(stages - 1) * len(self.sweep["work"]) + number]
        return cell

    def _run(self, which: int) -> Run:
        assert self.cell is not None
        assert self.sweep is not None
        run = {
            name: read_numbers(text) for name, text in zip(self.spec["moments"], self.cell["runs"][which], strict=True)
        }
        ends = zip(run["wait_begin"], run["full_seen"], strict=True)
        waits = [end - begin - self.sweep["pass"][self.number] for begin, end in ends]
        return {**run, "bubble": [wait if wait > self.spec["noise"] else 0 for wait in waits]}

    @property
    def shown(self) -> Run:
        """The run that is drawn: the model's, or the one that was measured."""
        return self.told if self.is_model else self.run

    def ns(self, cycles: float) -> int:
        """Cycles as whole ns."""
        assert self.sweep is not None
        return math.floor(cycles / float(self.sweep["cycles_per_ns"]) + 0.5)

    def span(self, begin: float, end: float) -> str:
        """A stretch of time in words."""
        return f"{self.ns(begin)} to {self.ns(end)} ns"

    @property
    def end(self) -> int:
        """The end of the window, in cycles."""
        return 0 if self.sweep is None else int(self.sweep["ends"][self.number])

    def parts(self, which: int | None = None) -> tuple[int, int, int]:
        """Of a tile, in ns: all of it, its bubble, its reading and computing."""
        assert self.cell is not None
        period, bubble, work = self.cell["parts"][int(self.is_model) if which is None else which]
        return self.ns(period), self.ns(bubble), self.ns(work)

    @property
    def compute_ns(self) -> int:
        """How long a tile is computed on, beyond its reading."""
        return self.compute_of(self.number)

    def compute_of(self, number: int) -> int:
        """The same of any compute time."""
        return 0 if self.sweep is None else self.ns(self.sweep["work"][number] - self.sweep["work"][0])

    def is_hidden(self) -> bool:
        """Whether the consumers stand still for less than 5% of the time."""
        period, bubble, _ = self.parts()
        return HIDDEN * bubble < period

    def heading(self) -> str:
        """The bubble in words."""
        if self.cell is None:
            return "not measured" if self.sweep is None else "no room"
        return f"{self.difference():+.1f}%" if self.state["view"] == "difference" else f"{self.parts()[1]} ns"

    def verdict(self) -> str:
        """What the heading means."""
        if self.sweep is None:
            return self.source
        if self.cell is None:
            need = self.stages * self.state["tile"] // 1024
            return (
                f"{self.stages} stages of {self.state['tile'] // 1024} KiB are {need} KiB, and an SM's block has 227."
            )
        if self.state["view"] == "difference":
            took, told = self.ns(self.cell["tile"][0]), self.ns(self.cell["told"])
            return f"the {self.gpu} took {took} ns a tile, the model says {told} ns"
        period, bubble, _ = self.parts()
        if self.is_hidden():
            return f"bubble a tile: {hides(self.stages)} the latency, and a tile is done every {period} ns"
        return f"bubble a tile: the consumers stand still for {100 * bubble // period}% of every {period} ns"

    def law(self) -> str:
        """Little's law for this compute time."""
        if self.sweep is None:
            return ""
        trip, step, stages = self.sweep["law"][self.number]
        shown = self.cell is not None and self.state["view"] != "difference"
        is_left = shown and self.stages >= stages and not self.is_hidden()
        return (
            f"Little's law: a stage's round trip of {self.ns(trip)} ns over the slowest step's {self.ns(step)} ns is "
            f"{tenths(trip / step):.1f}, so {hides(stages)} the mean latency."
            + (" What is left are loads that took longer than most." if is_left else "")
        )

    def sentence(self) -> str:
        """The state in words."""
        if self.cell is None:
            return self.verdict()
        took, told = self.ns(self.cell["tile"][0]), self.ns(self.cell["told"])
        share = self.difference()
        return (
            f"{count(self.stages)}, {self.state['tile']} bytes a tile, {WHERE[self.spec['place']]}, computed on for "
            f"{self.compute_ns} ns: {took} ns a tile over {self.spec['tiles']} tiles; the model says {told} "
            f"({share:+.1f}%). Without the stamps it took {self.ns(self.cell['plain'])} ns."
        )

    def difference(self, stages: int | None = None, number: int | None = None) -> float:
        """How much longer a tile took than the model says, in percent."""
        cell = self.cell if stages is None or number is None else self.cell_of(stages, number)
        assert cell is not None
        return tenths(100.0 * (cell["tile"][0] / cell["told"] - 1))

    def border(self, stages: int) -> float:
        """By Little's law: what takes less ns a tile than this has a bubble at that depth."""
        if self.sweep is None or stages == 1:
            return math.inf
        trip, step, _ = self.sweep["law"][0]
        return float((trip - step) / (stages - 1) / self.sweep["cycles_per_ns"])

    def points(self) -> list[dict[str, Any]]:
        """Every depth and compute time, as the chart of all draws it: `value` in ns, in the difference in percent."""
        choices, found = self.spec["choices"], []
        for stages in choices["stages"]:
            for number in range(len(choices["compute"])):
                cell = self.cell_of(stages, number)
                if cell is None or self.sweep is None:
                    continue
                period, bubble, _ = cell["parts"][int(self.is_model)]
                per_ns, foretold = float(self.sweep["cycles_per_ns"]), cell["told"]
                if self.state["view"] == "difference":
                    value = told = self.difference(stages, number)
                    spread = [100 * (one / foretold - 1) for one in cell["tile"][1:]]
                else:
                    told = foretold / per_ns
                    value = told if self.is_model else cell["tile"][0] / per_ns
                    spread = [told, told] if self.is_model else [one / per_ns for one in cell["tile"][1:]]
                bubbles = HIDDEN * bubble >= period
                found.append({
                    "stages": stages, "number": number, "value": value, "range": spread, "told": told,
                    "bubbles": bubbles,
                })  # fmt: skip
        return found

    def table(self) -> tuple[list[str], list[list[str]]]:
        """A row a tile, in ns since the start."""
        rows = [
            [str(tile), str(tile % self.stages), *(str(self.ns(self.shown[name][tile])) for name in self.shown)]
            for tile in range(len(self.shown.get("issued", ())))
        ]
        return [*HEAD[:2], *(f"{word} (ns)" for word in HEAD[2:])], rows

    def sweep_table(self) -> tuple[str, list[str], list[list[str]]]:
        """What the chart of all depths shows: a row a compute time and depth, whatever the view."""
        choices, rows = self.spec["choices"], []
        for number in range(len(choices["compute"])):
            for stages in choices["stages"]:
                cell = self.cell_of(stages, number)
                if cell is None or self.sweep is None:
                    continue
                middle, low, high = map(self.ns, cell["tile"])
                bubbles = [str(self.ns(parts[1])) for parts in cell["parts"]]
                rows.append([
                    str(self.compute_of(number)), str(stages), str(middle), f"{low} to {high}",
                    str(self.ns(cell["told"])), f"{self.difference(stages, number):+.1f}%", *bubbles,
                    str(self.sweep["law"][number][2]),
                ])  # fmt: skip
        return SWEEP, list(SWEEP_HEAD), rows

    def data(self) -> dict[str, Any]:
        """The run in cycles, and the sweep that it belongs to, as plain JSON."""
        return {
            "cycles_per_ns": None if self.sweep is None else self.sweep["cycles_per_ns"],
            "measured": self.run, "model": self.told,
            "sweep": [] if self.sweep is None else [
                {
                    "stages": stages, "compute": compute, "fits": cell is not None,
                    **({} if cell is None else {
                        "cycles_per_tile": cell["tile"], "plain": cell["plain"], "model": cell["told"],
                        "parts": cell["parts"],
                    }),
                }
                for stages in self.spec["choices"]["stages"]
                for number, compute in enumerate(self.spec["choices"]["compute"])
                for cell in [self.cell_of(stages, number)]
            ],
            "law": [] if self.sweep is None else self.sweep["law"],
        }  # fmt: skip


def tenths(value: float) -> float:
    """Rounded as the page rounds."""
    return math.floor(10 * value + 0.5) / 10


def count(stages: int) -> str:
    """Of stages, in words."""
    return f"{stages} stage{'s' if stages > 1 else ''}"


def hides(stages: int) -> str:
    """The same with its verb."""
    return f"{count(stages)} hide{'' if stages > 1 else 's'}"
