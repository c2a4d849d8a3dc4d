"""One state of the figure "wgmma", read out of its tables as the page reads it: what is drawn is what it is given.

read       of each chunk of the tile, the one that was read in its place          right      whether it is itself
place      of each chunk, where it stands in shared memory, in chunks             unequal    hardware and model differ
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tmalab.figures.wgmma_tables import BAND, CHUNKS, NO_CHUNK, unpack

ACROSS = 8  # chunks in a row of the tile


class WgmmaState:
    """The figure's `spec` in one state: `tile`, `descriptor`, `rows` (the first drawn large), `view` and `cell`."""

    def __init__(self, spec: Mapping[str, Any], state: Mapping[str, Any]):
        self.spec, self.state = spec, state
        tile, descriptor = (spec["choices"][name].index(state[name]) for name in ("tile", "descriptor"))
        self.tile, self.descriptor = spec["tiles"][tile], spec["descriptors"][descriptor]
        self.one = spec["states"][tile * len(spec["descriptors"]) + descriptor]
        self.measured = self.one["hardware"] is not None
        self.model, self.hardware = _both(self.one)
        self.places_model, self.places_hardware = _both(self.tile)
        self.unequal = {chunk for chunk in range(CHUNKS) if self.model[chunk] != self.hardware[chunk]}
        self.moved = sum(a != b for a, b in zip(self.places_model, self.places_hardware, strict=True))

    @property
    def side(self) -> str:
        """Whose numbers are shown: the hardware's, where there are any."""
        return "model" if self.state["view"] == "model" or not self.measured else "hardware"

    @property
    def read(self) -> list[int]:
        """The table that the view draws."""
        return self.model if self.side == "model" else self.hardware

    @property
    def places(self) -> list[int]:
        """What stands at each 16 bytes of shared memory, as the view has it."""
        return self.places_model if self.side == "model" else self.places_hardware

    @property
    def band(self) -> list[int]:
        """The chunks of the rows that are drawn large."""
        first = self.state["rows"] * ACROSS
        return list(range(first, first + BAND * ACROSS))

    @property
    def chunk(self) -> int:
        """The chunk that is singled out."""
        row, column = self.state["cell"]
        return int((self.state["rows"] + row) * ACROSS + column)

    def wrong(self, chunk: int) -> bool:
        """Whether a chunk is drawn as one in which hardware and model differ."""
        return self.state["view"] != "model" and chunk in self.unequal

    def byte(self, chunk: int) -> int | None:
        """Where a chunk of the tile stands in shared memory; None for what is no chunk of it."""
        return 16 * self.places.index(chunk) if chunk in self.places else None

    def result(self) -> str:
        """How many elements are not the ones that were asked for."""
        wrong = 8 * CHUNKS - self.one["right"][self.side]
        if not wrong:
            return "Every element is the one that was asked for."
        return f"{wrong} of {8 * CHUNKS} elements are not the ones that were asked for."

    def about(self) -> str:
        """The two layouts, and whether they are one."""
        return f"{self.tile['about']} {self.descriptor['about']} {self.result()}"

    def product(self) -> str:
        """What became of an ordinary product."""
        wrong, off = self.one["product"][self.side]
        return f"{wrong} of 512 wrong" + (f", by up to {off:g}" if wrong else "")

    def count(self) -> str:
        """How many chunks differ between hardware and model, in words."""
        some = len(self.unequal)
        more = f", and {self.moved} of shared memory" if self.moved else ""
        return f"{some} of {CHUNKS} chunks {'differs' if some == 1 else 'differ'}{more}"

    def note(self, gpu: str = "GPU") -> str:
        """What stands beside the heading."""
        if self.state["view"] == "model":
            return "as the model predicts it"
        if not self.measured:
            return "model, not measured"
        differs = self.state["view"] == "difference" or self.unequal or self.moved
        return self.count() if differs else f"as the {gpu} read it"

    def sentence(self) -> str:
        """What was read in place of the chunk that is singled out, and whether the hardware did so."""
        return say(self, self.chunk)

    def table(self) -> tuple[list[str], list[list[str]]]:
        """The large rows as texts, a row a chunk."""
        head = ["Row, columns asked for", "Shared byte", "The hardware read", "The model says", "Right", "Equal"]
        rows = []
        for chunk in self.band:
            hardware, equal = "not measured", "–"
            if self.measured:
                hardware, equal = short(self.hardware[chunk]), "differs" if chunk in self.unequal else "equal"
            right = "right" if self.read[chunk] == chunk else "wrong"
            byte = self.byte(chunk)
            place = "–" if byte is None else str(byte)
            rows.append([short(chunk), place, hardware, short(self.model[chunk]), right, equal])
        return head, rows

    def data(self) -> list[dict[str, Any]]:
        """Every chunk of the tile as plain JSON: [row, first column] of what was asked for and of what was read."""
        return [
            {
                "asked": pair(chunk), "shared_byte": self.byte(chunk), "model": pair(self.model[chunk]),
                "hardware": pair(self.hardware[chunk]) if self.measured else "not measured",
                "right": self.read[chunk] == chunk,
            }
            for chunk in range(CHUNKS)
        ]  # fmt: skip


def _both(one: Mapping[str, Any]) -> tuple[list[int], list[int]]:
    predicted = unpack(one["model"])
    return predicted, predicted if one["hardware"] in (None, "=") else unpack(one["hardware"])


def pair(chunk: int) -> list[int] | None:
    """A chunk's row and first column; None for none."""
    return None if chunk == NO_CHUNK else [chunk // ACROSS, chunk % ACROSS * 8]


def short(chunk: int) -> str:
    """A chunk as a row and its columns: 3, 8–15."""
    if chunk == NO_CHUNK:
        return "no chunk"
    return f"{chunk // ACROSS}, {chunk % ACROSS * 8}–{chunk % ACROSS * 8 + 7}"


def name(chunk: int) -> str:
    """A chunk in words."""
    return "no chunk of the tile" if chunk == NO_CHUNK else "row " + short(chunk).replace(", ", ", columns ")


def say(found: WgmmaState, chunk: int) -> str:
    """What was read in place of a chunk."""
    read, byte, there = found.read[chunk], found.byte(found.read[chunk]), found.byte(chunk)
    asked = name(chunk)
    if read == chunk:
        told = f"R{asked[1:]}: read from shared byte {there}, where it stands."
    else:
        at = "" if byte is None else f"shared byte {byte}: "
        stands = "" if there is None else f", which stands at shared byte {there}"
        told = f"Asked for {asked}{stands}, wgmma read {at}{name(read)}."
    if found.state["view"] == "model":
        return told
    if not found.measured:
        return told + " Model, not measured."
    if chunk not in found.unequal:
        return told + " Measured: so it is."
    return told + f" Measured, where the model says {name(found.model[chunk])}."
