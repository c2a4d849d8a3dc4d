"""One state of "Many atoms in one copy", read out of its tables as atoms.js reads it: what is drawn is what is given.

    number      a chunk of the slice, 16 row + chunk; the one that is singled out
    place       a chunk of shared memory: byte 16 place, in line place / 8
    target      of each chunk of the slice, the place that the model gives it

A view that the driver refuses has no places; its sentence and its table tell the rule that it breaks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tmalab.figures.atoms_tables import ATOM_COLS, ATOM_GROUPS, ATOM_SWIZZLES, SLICE_CHUNKS
from tmalab.figures.tile_state import LINE_CHUNKS, unpack
from tmalab.figures.tile_tables import CHANGED, CHUNK, LINE, UNTOUCHED

CHUNK_ELEMENTS = 8


class AtomsState:
    """The figure's `spec` in one state: `swizzle`, `group`, `col`, `copies`, `view`, and `cell` (row, chunk)."""

    def __init__(self, spec: Mapping[str, Any], state: Mapping[str, Any]):
        self.spec, self.state = spec, state
        number = ATOM_SWIZZLES.index(state["swizzle"]) * len(ATOM_GROUPS) + ATOM_GROUPS.index(state["group"])
        column = ATOM_COLS.index(state["col"])
        self.one: Mapping[str, Any] = spec["views"][number]
        self.fields: list[list[str]] = self.one["fields"][column]
        self.refused: Mapping[str, Any] | None = self.one["refused"] and self.one["refused"][state["copies"]]
        self.number = int(state["cell"][0] * SLICE_CHUNKS + state["cell"][1])
        self.hardware: list[int] = []
        self.model: list[int] = []
        self.changed: Mapping[int, Mapping[str, Any]] = {}
        if self.refused is not None:
            self.measured, self.line = self.refused["accepted"] is not None, self.refused["line"]
        else:
            run = self.one["runs"][state["copies"]][column]
            self.measured, self.line = run["table"] >= 0, run["line"]
            # One line more than the box spans, to see that nothing is written there.
            count = (self.one["lines"] + 1) * LINE_CHUNKS
            self.model = unpack(spec["tables"][self.one["model"]], count)
            self.hardware = unpack(spec["tables"][run["table"]], count) if self.measured else self.model
            self.linear = unpack(spec["tables"][self.one["linear"]], count)
            self.changed = {one["chunk"]: one for one in run["changed"]}
        pairs = list(enumerate(zip(self.model, self.hardware, strict=True)))
        self.compared = [place for place, held in pairs if held != (UNTOUCHED, UNTOUCHED)]
        self.unequal = {place for place, (said, seen) in pairs if said != seen}
        self.target = {what: place for place, what in enumerate(self.model) if what >= 0}

    @property
    def shown(self) -> list[int]:
        """The table that the view draws."""
        return self.model if self.state["view"] == "model" else self.hardware

    def wrong(self, place: int) -> bool:
        """Whether that chunk of shared memory is drawn as one that differs."""
        return self.state["view"] != "model" and place in self.unequal

    def group_of(self, place: int) -> int:
        """The group in whose bytes a chunk of shared memory lies."""
        return int(place * CHUNK // (16 * self.one["pitch"]))

    def atom_of(self, place: int) -> str:
        """The atom in which a chunk of shared memory lies, and the row of it; without a swizzle the group's row."""
        pitch, atom = self.one["pitch"], self.one["atom"]
        if not atom:
            return f"row {place * CHUNK // pitch % 16}"
        return f"atom {place * CHUNK // atom}, row {place * CHUNK % atom // pitch}"

    def held(self, table: Sequence[int], place: int) -> str:
        """What a chunk of shared memory holds, in words."""
        what = table[place]
        if what == UNTOUCHED:
            return "untouched"
        return f"bytes {self.changed[place]['bytes']}" if what == CHANGED else self.name(what)

    def name(self, number: int) -> str:
        """A chunk of the slice in words: its row, and the first of its eight columns of the matrix."""
        row, chunk = divmod(number, SLICE_CHUNKS)
        return f"row {row}, column {self.state['col'] + CHUNK_ELEMENTS * chunk}"

    def count(self) -> str:
        """How many chunks differ, in words."""
        some = len(self.unequal)
        return f"{some} of {len(self.compared)} chunks {'differs' if some == 1 else 'differ'}"

    def sentence(self) -> str:
        """Where the chunk that is singled out lands and by which XOR, and whether it did; or why nothing is copied."""
        if self.refused is not None:
            said = {None: "Model, not measured.", True: "The driver took it all the same."}
            told = " ".join(f"{one['message']} {one['fix']}" for one in self.refused["broken"])
            return f"Refused: {told} {said.get(self.refused['accepted'], 'Measured: the driver refuses it.')}"
        return self._way() + self.verdict(self.target[self.number])

    def _way(self) -> str:
        place, number = self.target[self.number], self.number
        row, chunk = divmod(number, SLICE_CHUNKS)
        group, inside = divmod(chunk, self.one["width"])
        name = self.name(number)
        if self.state["copies"] == "3-D":
            first = self.state["col"] // CHUNK_ELEMENTS // self.one["width"]
            told = f"{{{CHUNK_ELEMENTS * inside}, {row}, {first + group}}}"
            where = f"{name[0].upper()}{name[1:]} = {told} → g{group}"
        else:
            where = f"{name[0].upper()}{name[1:]} → copy {group + 1} of {self.one['groups']}, g{group}"
        line, slot = divmod(self.linear.index(number), LINE_CHUNKS)
        phases = self.one["phases"]
        phase, to = phases[line % len(phases)], place % LINE_CHUNKS
        xor = "no swizzle"
        if self.one["atom"]:
            xor = f"place {slot} XOR {phase} = {to}, as line {line} mod {len(phases)} = {phase}"
        return f"{where}, {self.atom_of(place)} → {xor} → shared byte {place * CHUNK}."

    def verdict(self, place: int) -> str:
        """What the hardware left in a chunk of shared memory, beside what the model says, as a sentence."""
        if self.state["view"] == "model":
            return ""
        if not self.measured:
            return " Model, not measured."
        if place not in self.unequal:
            return " Measured: so it is."
        return f" Measured: {self.held(self.hardware, place)}, where the model says {self.held(self.model, place)}."

    def note(self) -> str:
        """What stands beside the heading of shared memory, where it names no GPU."""
        if self.refused is not None:
            return "no copy" if self.measured else "model, not measured"
        if self.state["view"] == "model":
            return "as the model predicts it"
        return self.count() if self.measured else "model, not measured"

    def table(self) -> tuple[list[str], list[list[str]]]:
        """The state as texts: a row a touched chunk of shared memory, or a row a rule that is broken."""
        if self.refused is not None:
            said = {None: "not measured", True: "accepted"}.get(self.refused["accepted"], "refused")
            names = ("rule", "field", "value", "limit", "fix")
            rows = [[*(str(one[name]) for name in names), said] for one in self.refused["broken"]]
            return ["Rule", "Field", "Value", "Limit", "Fix", "The driver"], rows
        head = ["Shared byte", "Group", "Atom and row", "Place", "The hardware left", "The model says", "Equal"]
        rows = []
        for place in self.compared:
            seen, equal = "not measured", "–"
            if self.measured:
                seen, equal = self.held(self.hardware, place), "differs" if place in self.unequal else "equal"
            behind = place * CHUNK >= self.one["lines"] * LINE
            where = ["–", "behind the box"] if behind else [f"g{self.group_of(place)}", self.atom_of(place)]
            slot = str(place % LINE_CHUNKS)
            rows.append([str(place * CHUNK), *where, slot, seen, self.held(self.model, place), equal])
        return head, rows

    def data(self) -> list[dict[str, str]]:
        """The table as plain JSON, one object a row."""
        head, rows = self.table()
        return [dict(zip(head, row, strict=True)) for row in rows]
