"""One state of "One tile, many front ends", read out of its tables as front_ends.js reads it.

    shown       what each chunk of shared memory holds in this view; `unequal`: where hardware and model differ
    marks       per field of the descriptor: "own" where it is not what was asked, "wrong" where it is not the driver's

>>> from tmalab.figures.front_ends_tables import front_ends_spec
>>> spec, provenance = front_ends_spec(None, "One tile, many front ends")
>>> state = FrontEndsState(spec, provenance, {"view": "hardware", "way": "raw PTX", "cell": (2, 1)})
>>> state.verdict(state.way), state.sentence()[:67]
('not measured', 'Shared byte 272: row 98, columns 152 to 159 of the tensor. Chunk 3 ')
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tmalab.figures.tile_state import unpack
from tmalab.figures.tile_tables import CHANGED, CHUNK, UNTOUCHED

LINE_CHUNKS = 8
UNMEASURED = "Model, not measured: there is no recording of this way."
MODEL = "Model: no run."
HEAD = ("Front end", "Version", "Shared memory", "Descriptor beside the driver's own", "Not as asked", "Copy")


class FrontEndsState:
    """The figure in one state: `view`, `way`, and `cell` (line, chunk) of shared memory."""

    def __init__(self, spec: Mapping[str, Any], provenance: Mapping[str, Any], state: Mapping[str, Any]):
        self.spec, self.state = spec, state
        number = [way["name"] for way in spec["ways"]].index(state["way"])
        self.way: Mapping[str, Any] = spec["ways"][number]
        self.measured: list[Mapping[str, Any] | None] = list(provenance["ways"])
        self.one = self.measured[number]
        count = spec["lines"] * LINE_CHUNKS
        self.model = unpack(self.way["model"], count)
        self.loaded = self.way["hardware"] is not None
        self.hardware = unpack(self.way["hardware"], count) if self.loaded else self.model
        self.bytes = {one["chunk"]: one for one in self.way["changed"]}
        self.unequal = {at for at in range(count) if self.model[at] != self.hardware[at]}

    @property
    def source(self) -> str:
        """Where the chosen way was measured, or that it was not."""
        if self.state["view"] == "model":
            return MODEL
        return UNMEASURED if self.one is None else str(self.one["line"])

    @property
    def empty(self) -> bool:
        """Whether this view has no bytes to draw: the front end refused."""
        return bool(self.way["refused"]) and self.state["view"] != "model"

    @property
    def chunk(self) -> int:
        """The chunk of shared memory that is singled out."""
        line, slot = self.state["cell"]
        return int(line * LINE_CHUNKS + slot)

    @property
    def shown(self) -> list[int]:
        """The table that the view draws."""
        return self.model if self.state["view"] == "model" else self.hardware

    def labels(self, chunk: int) -> tuple[str, str]:
        """The two texts of a cell: the chunk's column in the box, and its row; or the byte that differs."""
        what = self.shown[chunk]
        if chunk in self.unequal and self.state["view"] != "model":
            one = self.bytes.get(chunk)
            return (
                (f"0x{one['is']}", f"≠ {one['not']}")
                if one
                else (self._short(what), f"≠ {self._short(self.model[chunk])}")
            )
        return str(what % LINE_CHUNKS), str(what // LINE_CHUNKS)

    @staticmethod
    def _short(what: int) -> str:
        return "–" if what < 0 else f"{what // LINE_CHUNKS}.{what % LINE_CHUNKS}"

    def name(self, what: int) -> str:
        """A chunk of the box in words, by its place in the tensor."""
        if what in (UNTOUCHED, CHANGED):
            return "untouched" if what == UNTOUCHED else "no chunk of the tile"
        row, col = self.spec["task"]["at"]
        first = col + what % LINE_CHUNKS * CHUNK // 2
        return f"row {row + what // LINE_CHUNKS}, columns {first} to {first + CHUNK // 2 - 1} of the tensor"

    def sentence(self) -> str:
        """What is to be said of the chosen chunk, or of a refusal."""
        refused = self.way["refused"]
        if refused and self.state["view"] != "model":
            return f"{self.way['name']} refused: {refused['type']}. Nothing was loaded."
        line, slot = divmod(self.chunk, LINE_CHUNKS)
        what = self.shown[self.chunk]
        place = f"Shared byte {self.chunk * CHUNK}: {self.name(what)}."
        if what >= 0:
            place += f" Chunk {what % LINE_CHUNKS} of the row, in place {slot} of line {line}."
        if self.state["view"] == "model":
            return place
        if not self.loaded:
            return f"{place} Not measured."
        said = "the same" if self.chunk not in self.unequal else self.name(self.model[self.chunk])
        return f"{place} The model says {said}; {self.way['differ']} of {len(self.model) * CHUNK} bytes differ in all."

    @staticmethod
    def verdict(way: Mapping[str, Any]) -> str:
        """What the tile is found to be: equal to the model's, or not."""
        if way["refused"]:
            return "refused"
        if way["differ"] is None:
            return "not measured"
        return "equal" if not way["differ"] else f"{way['differ']} bytes differ"

    def marks(self) -> list[str]:
        """For each field: "wrong" where the descriptor is not the driver's own, "own" where it is not as asked."""
        return [
            "wrong" if _differ(made, driver) else "own" if _differ(asked, made) else ""
            for _, asked, made, driver in self.way["fields"]
        ]

    def table(self) -> tuple[list[str], list[list[str]]]:
        """One row a way, as texts."""
        return list(HEAD), [self._row(way, one) for way, one in zip(self.spec["ways"], self.measured, strict=True)]

    def _row(self, way: Mapping[str, Any], one: Mapping[str, Any] | None) -> list[str]:
        unlike = way["unlike"]
        beside = "–" if unlike is None else "equal" if not unlike else f"differs in {', '.join(unlike)}"
        chosen = [f"{field} {made}" for field, asked, made, _ in way["fields"] if _differ(asked, made)]
        shared = f"refused: {way['refused']['type']}" if way["refused"] else self.verdict(way)
        version = (one or {}).get("version") or "–"
        return [way["name"], version, shared, beside, ", ".join(chosen) or "–", way["call"] or "–"]

    def data(self) -> dict[str, Any]:
        """The chosen way as plain JSON: its chunks, its descriptor's fields, what it raised."""
        plain = [None if what < 0 else [what // LINE_CHUNKS, what % LINE_CHUNKS] for what in self.hardware]
        return {
            "smem": plain if self.loaded else None,
            "model": [[what // LINE_CHUNKS, what % LINE_CHUNKS] for what in self.model],
            "bytes_differing": self.way["differ"], "unlike_the_driver": self.way["unlike"],
            "fields": [list(row) for row in self.way["fields"]], "refused": self.way["refused"],
            "ptx": list(self.one["ptx"]) if self.one else [], "coords": list(self.way["coords"]),
        }  # fmt: skip


def _differ(one: str, other: str) -> bool:
    """Whether two texts are both known and not the same."""
    return "–" not in (one, other) and one != other
