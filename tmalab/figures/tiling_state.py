"""One state of "Tiling and bank conflicts", read out of its tables as tiling.js reads it.

hardware, model   what each chunk of shared memory holds: a chunk of the grid, UNTOUCHED or CHANGED
reads             the eight chunks of the grid that eight lanes read, one a row
stacks            for each bank group S0 … S7 the reads that want it: the highest stack is the degree
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from tmalab.figures.tile_state import unpack
from tmalab.figures.tile_tables import CHANGED, UNTOUCHED
from tmalab.figures.tiling_tables import CHUNKS, LAYOUTS, LINE_CHUNKS, filled
from tmalab.model.swizzle import CHUNK_BYTES


class TilingState:
    """The figure's `spec` in one state: its six choices, and `cell` (row, column) of the grid.

    `counted` has the wavefronts that the GPU counted, a digit a state, or is None.
    """

    def __init__(self, spec: Mapping[str, Any], state: Mapping[str, Any], counted: str | None = None):
        self.spec, self.state = spec, state
        names = ("tiling", "swizzle", "column", "first_row")
        states = product(*(spec["choices"][name] for name in names))
        self.number = list(states).index(tuple(state[name] for name in names))
        self.layout_number = LAYOUTS.index((state["tiling"], state["swizzle"]))
        self.layout: Mapping[str, Any] = spec["layouts"][self.layout_number]
        self.dtype: int = spec["choices"]["dtype"].index(state["dtype"])
        seen = self.layout["hardware"][self.dtype]
        self.measured = seen >= 0
        self.model = unpack(spec["tables"][self.layout["model"][self.dtype]], CHUNKS)
        self.hardware = unpack(spec["tables"][seen], CHUNKS) if self.measured else self.model
        self.bytes = {one["chunk"]: one for one in self.layout["changed"].get(str(self.dtype), [])}
        self.unequal = {chunk for chunk in range(CHUNKS) if self.hardware[chunk] != self.model[chunk]}
        self.columns: int = spec["grid"]["columns"]
        rows = range(state["first_row"], state["first_row"] + spec["grid"]["reads"])
        self.reads = [row * self.columns + state["column"] for row in rows]
        self.predicted = int(spec["predicted"][self.number])
        self.counted = None if counted is None else int(counted[self.number])

    # --- where things are ---------------------------------------------------------------------------------------------

    @property
    def shown(self) -> list[int]:
        """The table that the view draws."""
        return self.model if self.state["view"] == "model" else self.hardware

    @property
    def chosen(self) -> int:
        """The chunk of the grid that is singled out."""
        row, column = self.state["cell"]
        return int(row * self.columns + column)

    def at(self, table: Sequence[int], chunk: int) -> list[int]:
        """Where in shared memory a chunk of the grid stands."""
        return [place for place, held in enumerate(table) if held == chunk]

    def groups(self, chunk: int) -> list[int]:
        """The bank groups in which a chunk of the grid stands, in this view."""
        return sorted({place % LINE_CHUNKS for place in self.at(self.shown, chunk)})

    @property
    def stacks(self) -> list[list[int]]:
        """For each bank group the reads that want it."""
        return [[chunk for chunk in self.reads if group in self.groups(chunk)] for group in range(LINE_CHUNKS)]

    def wrong(self, place: int) -> bool:
        """Whether a chunk of shared memory is drawn as one that differs."""
        return self.state["view"] != "model" and place in self.unequal

    def lost(self, chunk: int) -> bool:
        """Whether a chunk of the grid is not where the model says, in this view."""
        return self.at(self.shown, chunk) != self.at(self.model, chunk)

    # --- in words -----------------------------------------------------------------------------------------------------

    def name(self, chunk: int) -> str:
        """A chunk of the grid in words."""
        return f"row {chunk // self.columns}, column {chunk % self.columns}"

    def held(self, table: Sequence[int], place: int) -> str:
        """What a chunk of shared memory holds, in words."""
        what = table[place]
        if what == UNTOUCHED:
            return "untouched"
        return f"bytes {self.bytes[place]['bytes']}" if what == CHANGED else self.name(what)

    def place(self, place: int) -> str:
        """A chunk of shared memory in words."""
        group = place % LINE_CHUNKS
        return f"S{group}, banks {self.spec['banks'][group]}, shared byte {place * CHUNK_BYTES}"

    def sentence(self) -> str:
        """Where the chunk that is singled out stands, who else wants its banks, and what the hardware left there."""
        chunk = self.chosen
        (place,) = self.at(self.model, chunk)
        name = self.name(chunk)
        arithmetic = filled(self.layout["filled"], chunk, place % LINE_CHUNKS)
        told = f"{name[0].upper()}{name[1:]} → {arithmetic} → {self.place(place)}."
        return told + self.rivals(chunk) + self.verdict(place)

    def rivals(self, chunk: int) -> str:
        """Of one of the eight reads: the others that want its bank group, as a sentence."""
        if chunk not in self.reads:
            return ""
        mine = set(self.groups(chunk))
        others = [str(one // self.columns) for one in self.reads if one != chunk and mine & set(self.groups(one))]
        if not others:
            return " No other of the eight reads wants its banks."
        rows = f"row {others[0]} wants" if len(others) == 1 else f"rows {', '.join(others)} want"
        return f" Of the eight reads {rows} its banks too."

    def verdict(self, place: int) -> str:
        """What the hardware left at a chunk of shared memory, beside what the model says, as a sentence."""
        if self.state["view"] == "model":
            return ""
        if not self.measured:
            return " Model, not measured."
        if place not in self.unequal:
            return " Measured: so it is."
        return f" Measured: it holds {self.held(self.hardware, place)}."

    def count(self) -> str:
        """How many chunks differ, in words."""
        some = len(self.unequal)
        return f"{some} of {CHUNKS} chunks {'differs' if some == 1 else 'differ'}"

    def results(self) -> str:
        """The bank groups of the eight reads, in the order of their rows, and how many are distinct."""
        groups = [self.groups(chunk) for chunk in self.reads]
        distinct = len({group for found in groups for group in found})
        told = " ".join("/".join(map(str, found)) or "–" for found in groups)
        return f"{told}: {distinct} distinct"

    def costs(self) -> list[str]:
        """Predicted and measured, in words; what is measured in cycles changes from run to run, and is not here."""
        told = [f"predicted: {waves(self.predicted)}{conflict(self.predicted)}"]
        if self.state["view"] == "model":
            return told
        if self.counted is None:
            return [*told, "not counted on a GPU"]
        told.append(f"measured: {waves(self.counted)}")
        if self.state["view"] == "difference":
            told.append("they agree" if self.counted == self.predicted else "they differ")
        return told

    def pace(self) -> str:
        """What these wavefronts do to the wait for the data and to the rate, by the model."""
        return str(self.spec["paces"][str(self.predicted)])

    def table(self) -> tuple[list[str], list[list[str]]]:
        """The state as texts: a row a read, and one for each other chunk of shared memory that differs."""
        head = ["Lane", "Row, column", "Bank group", "Banks", "Shared byte", "The hardware left there", "Equal"]
        rows = []
        for lane, chunk in enumerate(self.reads):
            (place,) = self.at(self.model, chunk)
            row, column = divmod(chunk, self.columns)
            rows.append([str(lane), f"{row}, {column}", *self._compared(place)])
        read = {place for chunk in self.reads for place in self.at(self.model, chunk)}
        return head, rows + [["–", "–", *self._compared(place)] for place in sorted(self.unequal - read)]

    def _compared(self, place: int) -> list[str]:
        group = place % LINE_CHUNKS
        where = [f"S{group}", self.spec["banks"][group], str(place * CHUNK_BYTES)]
        if not self.measured:
            return [*where, "not measured", "–"]
        return [*where, self.held(self.hardware, place), "differs" if place in self.unequal else "equal"]

    def data(self) -> dict[str, Any]:
        """The state as plain JSON: its cost, and where each chunk of the grid stands, row by row, in bytes."""

        def bytes_of(table: Sequence[int]) -> list[list[int]]:
            return [[place * CHUNK_BYTES for place in self.at(table, chunk)] for chunk in range(CHUNKS)]

        return {
            "predicted_wavefronts": self.predicted, "measured_wavefronts": self.counted,
            "bank_groups": [self.groups(chunk) for chunk in self.reads],
            "model_shared_bytes": bytes_of(self.model),
            "hardware_shared_bytes": bytes_of(self.hardware) if self.measured else None,
        }  # fmt: skip


def waves(count: int) -> str:
    """1 wavefront, 2 wavefronts."""
    return f"{count} wavefront{'' if count == 1 else 's'}"


def conflict(count: int) -> str:
    """The same as kernel writers say it."""
    return " (no conflict)" if count == 1 else f" ({count}-way conflict)"


def refusal(refused: Mapping[str, Any]) -> str:
    """What became of a map that the model refuses."""
    if refused["accepted"] is None:
        return "refused, says the model"
    return "accepted by the driver" if refused["accepted"] else "refused by the driver"
