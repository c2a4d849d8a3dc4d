"""One state of *What does my access cost?*: its tile and access, what they cost, in the figure's own words.

    dtype, rows, row_bytes, swizzle, padding, base     the tile
    access, width, edit                                what a lane reads; `edit` is the reader's own expression
    wave, lane                                         the wavefront (0: all) and the lane that are looked at

>>> state = {"dtype": "float16", "width": "element", "access": "ldmatrix"}
>>> width_of(state), width_of({**state, "access": "row"}), width_of({**state, "access": "row", "width": "8"})
(16, 2, 8)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tmalab.checker.cost import cost_answer
from tmalab.errors import InputError
from tmalab.experiment.cost_cases import COST_DTYPES
from tmalab.figures.cost_tables import question_of, recorded_number
from tmalab.model.expression_tree import ExpressionError
from tmalab.model.tile_access import LANES, Tile
from tmalab.model.tile_cost import MATRIX_ACCESSES, MATRIX_BYTES, TileAccess

NOT_MEASURED = "Model, not measured: there is no recording of this state."
HEAD = ("Lane", "Row", "Byte of the row", "Shared byte", "Words", "Banks", "Wavefront")
_BANKS = 32


def width_of(state: Mapping[str, Any]) -> int:
    """Bytes that a lane moves."""
    if state["access"] in MATRIX_ACCESSES:
        return MATRIX_BYTES
    return COST_DTYPES[state["dtype"]] if state["width"] == "element" else int(state["width"])


class CostState:
    """The figure's `spec` and measurements in one state. `told` is Python's answer; `error` says why there is none."""

    def __init__(self, spec: Mapping[str, Any], provenance: Mapping[str, Any], state: Mapping[str, Any]):
        self.spec, self.state = spec, state
        self.width = width_of(state)
        self.access = TileAccess(
            state["access"], self.width, expression=state["edit"] if state["access"] == "expression" else ""
        )
        self.told: dict[str, Any] = {}
        self.error = ""
        self.verdict_of_error = "No warp can do this"
        self.seen: tuple[float, float, int] | None = None
        try:
            self.tile = Tile(state["rows"], state["row_bytes"], state["swizzle"], state["padding"], state["base"])
            self.told = cost_answer(question_of(self.tile, self.access))
        except InputError as error:
            self.error = str(error)
            if isinstance(error, ExpressionError):
                self.verdict_of_error = "This cannot be computed"
        else:
            self.seen = self._measured(provenance)

    def _measured(self, provenance: Mapping[str, Any]) -> tuple[float, float, int] | None:
        number = recorded_number(self.spec, self.access, self.told["addresses"])
        found: tuple[float, float, int] | None = None if number is None else provenance["measured"][number]
        return found

    @property
    def lanes(self) -> list[int]:
        """The lanes of the wavefront that is looked at."""
        wave = min(int(self.state["wave"]), len(self.told["waves"]))
        return list(self.told["waves"][wave - 1]["lanes"]) if wave else list(range(LANES))

    def words(self, lane: int) -> range:
        """The words that a lane reads."""
        first = self.told["addresses"][lane] // 4
        return range(first, first + max(1, self.width // 4))

    def wave_of(self, lane: int) -> int:
        """The number of the lane's wavefront, from 1."""
        return next(at for at, wave in enumerate(self.told["waves"], 1) if lane in wave["lanes"])

    # --- words --------------------------------------------------------------------------------------------------------

    def verdict(self) -> str:
        """The degree, in words."""
        if self.error:
            return self.verdict_of_error
        return "no conflict" if self.told["degree"] == 1 else f"{self.told['degree']}-way conflict"

    def paid(self) -> str:
        """The wavefronts, foretold and measured."""
        if self.error:
            return self.error
        foretold = f"{plural(self.told['count'], 'wavefront')} foretold"
        if self.state["view"] == "model":
            return foretold
        return f"{foretold}, {self.seen[2]} measured" if self.seen else f"{foretold}; model, not measured"

    def sentence(self) -> str:
        """What the figure's sentence says of the lane that is singled out."""
        if self.error:
            return self.error
        lane = int(self.state["lane"])
        row, byte = self.told["places"][lane]
        words = self.words(lane)
        who = f"Lane {lane} reads row"
        if self.access.access in MATRIX_ACCESSES:
            who = f"Lane {lane} names row {lane % 8} of matrix {lane // 8}: row"
        word, bank = ("word", "bank") if len(words) == 1 else ("words", "banks")
        return (
            f"{who} {row}, {'byte' if self.width == 1 else 'bytes'} {between(byte, self.width)} of the tile → shared "
            f"byte {self.told['addresses'][lane]}, {word} {between(words[0], len(words))} of {bank} "
            f"{between(words[0] % _BANKS, len(words))}. It comes in wavefront {self.wave_of(lane)} of "
            f"{len(self.told['waves'])}.{self._took()}"
        )

    def _took(self) -> str:
        if self.state["view"] == "model":
            return ""
        return f" The hardware took {plural(self.seen[2], 'wavefront')}." if self.seen else " Model, not measured."

    def table(self) -> tuple[tuple[str, ...], list[list[str]]]:
        """A row a lane: the head, and the rows as texts."""
        rows = []
        for lane in range(LANES if self.told else 0):
            words, (row, byte) = self.words(lane), self.told["places"][lane]
            spans = [(byte, self.width), (words[0], len(words)), (words[0] % _BANKS, len(words))]
            shown = [between(*span) for span in spans]
            rows.append(
                [str(lane), str(row), shown[0], str(self.told["addresses"][lane]), *shown[1:], str(self.wave_of(lane))]
            )
        return HEAD, rows


def plural(count: int, word: str) -> str:
    """*1 wavefront*, *2 wavefronts*."""
    return f"{count} {word}{'' if count == 1 else 's'}"


def between(first: int, count: int) -> str:
    """*4* or *4–7*."""
    return str(first) if count == 1 else f"{first}–{first + count - 1}"
