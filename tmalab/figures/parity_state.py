"""One state of "Parity", read out of its tables as parity.js reads it: what is drawn is what the page is given.

cell       (main text, small text, kind) of a row and a tile, as the hardware or the model has it
differs    whether the two cannot both be: an answer that is another, a wait that returns where it may not
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tmalab.figures.parity_tables import WHOSE

Cell = tuple[str, str, str]

RULES = {
    "right": "Tile i's wait is given i mod 2, the parity of its phase.",
    "always 0": "Every wait is given 0.",
    "always 1": "Every wait is given 1.",
    "loop index": "Tile i's wait is given i itself: 0, 1, 2, 3 …",
    "inverted": "Tile i's wait is given the other parity than its phase has.",
}
LABELS = (
    ("before arming", "parity 0"), ("", "parity 1"), ("in flight", "parity 0"), ("", "parity 1"),
    ("landed", "parity 0"), ("", "parity 1"), ("in flight", "the wait"), ("", "words read"), ("landed", "the wait"),
    ("pipeline", "the wait"), ("", "words read"),
)  # fmt: skip
MOMENTS = ("before it is armed", "while its load is in flight", "after its load has landed")
WHEN = ("while the load is in flight", "after the load has landed", "in a pipeline")
PHRASES = ("in flight", "when landed", "in a pipeline")
WORDS = {"own": "its own words", "stale": "older words", "half": "half a tile", "later": "a later tile's words"}
# By (early, rightly, never): what stands in the cell, and the sentence.
OUTLOOKS = {
    (0, 1, 0): (("in time", "", "in-time"), "It returns when the tile has landed."),
    (1, 0, 1): (("early", "or never", "early"), "It returns at once, before the tile has landed, or never."),
    (1, 1, 0): (("early", "or in time", "early"), "It returns at once, or when the tile has landed."),
    (0, 0, 1): (("never", "", "never"), "It never returns."),
}


class ParityState:
    """The figure's `spec` and `provenance` in one state: `rule`, `view`, `tile` and `row`."""

    def __init__(self, spec: Mapping[str, Any], provenance: Mapping[str, Any], state: Mapping[str, Any]):
        self.spec, self.state = spec, state
        number = spec["choices"]["rule"].index(state["rule"])
        self.model: Mapping[str, Any] = spec["model"][number]
        self.seen: list[Mapping[str, Any] | None] = provenance["states"][number]
        lines = dict.fromkeys(provenance["lines"][one["line"]] for one in self.seen if one)
        self.source = "; ".join(lines) or "Model, not measured: there is no recording of this rule."
        self.cells = [(row, tile) for row in range(len(spec["rows"])) for tile in range(spec["tiles"])]
        self.unequal = [cell for cell in self.cells if self.differs(*cell)]

    def measured(self, row: int) -> Mapping[str, Any] | None:
        """What was measured of that row's pace, all tiles; None where nothing was."""
        what, number = self.spec["rows"][row]
        return self.seen[0 if what == "asked" else number]

    def hardware(self, row: int, tile: int) -> Cell | None:
        """What was measured, as the cell has it."""
        (what, number), seen = self.spec["rows"][row], self.measured(row)
        if seen is None:
            return None
        runs = seen["runs"]
        if what == "asked":
            return _answer(seen["asked"][number][tile], runs)
        returned, cycles = seen["waits"][tile]
        if what == "waits":
            some = "" if returned == runs else f"{returned} of {runs}"
            return ("never", "", "never") if not returned else (str(cycles), some or "cycles", "returned")
        if not returned:
            return "–", "", "none"
        counts = seen["words"][tile]
        most = max(counts)
        # It looks like what went wrong, if only in one run.
        look = "own" if counts[0] == runs else WHOSE[1 + counts[1:].index(max(counts[1:]))]
        return WHOSE[counts.index(most)], "" if most == runs else f"{most} of {runs}", look

    def predicted(self, row: int, tile: int) -> Cell:
        """What the model says, as the cell has it."""
        what, number = self.spec["rows"][row]
        if what == "asked":
            return _answer(self.spec["asked"][number][tile], 1)
        early, rightly, _ = outlook = tuple(self.model["outlooks"][number][tile])
        if what == "waits":
            return OUTLOOKS[outlook][0]
        return ("any", "", "any") if early else ("own", "", "own") if rightly else ("–", "", "none")

    def differs(self, row: int, tile: int) -> bool:
        """Whether hardware and model cannot both be right."""
        (what, number), seen = self.spec["rows"][row], self.measured(row)
        if seen is None:
            return False
        runs = seen["runs"]
        if what == "asked":
            return bool(seen["asked"][number][tile] != runs * self.spec["asked"][number][tile])
        early, rightly, never = self.model["outlooks"][number][tile]
        returned = seen["waits"][tile][0]
        if what == "waits":
            return bool((returned and not early and not rightly) or (returned < runs and not never))
        return bool(returned and not early and seen["words"][tile][0] < runs)

    def shown(self, row: int, tile: int) -> Cell:
        """The cell as the view has it; the model's where nothing was measured."""
        hardware = None if self.state["view"] == "model" else self.hardware(row, tile)
        return hardware or self.predicted(row, tile)

    def used(self, row: int, tile: int) -> bool:
        """Whether the row asks for the parity that the rule's wait is given."""
        return row < 6 and self.model["given"][tile] % 2 == row % 2

    def rule(self) -> tuple[str, str]:
        """The rule, and what the event machine says of it."""
        verdicts = [outcomes[0] for outcomes in self.model["outcomes"]]
        said = [verdicts[0]] if len(set(verdicts)) == 1 else map(" ".join, zip(verdicts, PHRASES, strict=True))
        return RULES[self.state["rule"]], f"BarrierProgram says: {', '.join(said)}."

    def note(self) -> str:
        """Whose the picture is, or how many cells differ."""
        if self.state["view"] == "model":
            return "as the model predicts it"
        if not any(self.seen):
            return "model, not measured"
        some = len(self.unequal)
        return f"{some} of {len(self.cells)} cells {'differs' if some == 1 else 'differ'} from the model"

    def sentence(self, row: int | None = None, tile: int | None = None) -> str:
        """What the cell says, in words; the one that is singled out by default."""
        row, tile = self.state["row"] if row is None else row, self.state["tile"] if tile is None else tile
        what, number = self.spec["rows"][row]
        seen = None if self.state["view"] == "model" else self.measured(row)
        tail = "" if self.state["view"] == "model" else " Model, not measured." if seen is None else ""
        return {"asked": self._asked, "waits": self._wait, "words": self._words}[what](number, tile, row, seen) + tail

    def _asked(self, number: int, tile: int, row: int, seen: Mapping[str, Any] | None) -> str:
        phases, parity = tile + (number >= 4), number % 2
        last = f"The last complete phase is {phases - 1}, of parity {(phases - 1) % 2}" if phases else (
            "No phase is complete yet, which counts as parity 1"
        )  # fmt: skip
        answer = "yes" if self.spec["asked"][number][tile] else "no"
        head = f"Tile {tile}, {MOMENTS[number // 2]}: test_wait with parity {parity}"
        if seen is None:
            return f"{head} answers {answer}. {last}."
        count, runs = seen["asked"][number][tile], seen["runs"]
        told = f"{head} answered yes in {count} of {runs} runs, no in {runs - count}. {last}."
        return told + (f" The model says {answer}." if self.differs(row, tile) else "")

    def _wait(self, number: int, tile: int, row: int, seen: Mapping[str, Any] | None) -> str:
        given = self.model["given"][tile]
        bits = f"; only bit 0 counts, {given % 2}" if given > 1 else ""
        mine = "the parity of its phase" if given % 2 == tile % 2 else "not the parity of its phase"
        head = f"Tile {tile}, {WHEN[number]}: the wait is given {given}{bits}, {mine}."
        outlook = OUTLOOKS[tuple(self.model["outlooks"][number][tile])][1]
        if seen is None:
            return f"{head} {outlook}"
        (returned, cycles), runs = seen["waits"][tile], seen["runs"]
        told = (
            f"It returned after {cycles} cycles (median of {runs} runs)." if returned == runs else
            f"It had not returned after {cycles} cycles, in {runs} of {runs} runs." if not returned else
            f"It returned in {returned} of {runs} runs, after {cycles} cycles."
        )  # fmt: skip
        return f"{head} {told}" + (f" The model says: {outlook}" if self.differs(row, tile) else "")

    def _words(self, number: int, tile: int, row: int, seen: Mapping[str, Any] | None) -> str:
        head = f"Tile {tile}, {WHEN[number]}: after its wait the consumer"
        expected = {"own": "its own words", "any": "whatever lies there", "none": "nothing"}[
            self.predicted(row, tile)[2]
        ]
        if seen is None:
            return f"{head} reads {expected}."
        if not seen["waits"][tile][0]:
            return f"{head} read nothing: the wait did not return."
        counts = [f"{WORDS[kind]} in {count}" for kind, count in zip(WHOSE, seen["words"][tile], strict=True) if count]
        told = f"{head} read {', '.join(counts)} of {seen['runs']} runs."
        return told + (f" The model says {expected}." if self.differs(row, tile) else "")

    def table(self) -> tuple[list[str], list[list[str]]]:
        """The state as texts: a row a tile and a row of the figure."""
        rows = []
        for row, tile in self.cells:
            hardware, model = self.hardware(row, tile), self.predicted(row, tile)
            equal = "–" if hardware is None else "differs" if self.differs(row, tile) else "equal"
            seen = "not measured" if hardware is None else _plain(hardware)
            rows.append(
                [str(tile), str(self.model["given"][tile]), ", ".join(self.label(row)), seen, _plain(model), equal]
            )
        return ["Tile", "The wait is given", "What", "The hardware", "The model", "Equal"], rows

    def label(self, row: int) -> tuple[str, str]:
        """The row's name in its two parts, the first of them never empty."""
        moment = next(LABELS[above][0] for above in range(row, -1, -1) if LABELS[above][0])
        return moment, LABELS[row][1]

    def data(self) -> list[dict[str, str]]:
        """The table as plain JSON."""
        head, rows = self.table()
        return [dict(zip(head, row, strict=True)) for row in rows]


def _answer(count: int, runs: int) -> Cell:
    if 0 < count < runs:
        return f"{count}", f"of {runs}", "mixed"
    return ("yes", "", "yes") if count else ("no", "", "no")


def _plain(cell: Cell) -> str:
    return f"{cell[0]} {cell[1]}".strip()
