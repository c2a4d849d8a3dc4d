"""What *What does my access cost?* shows without computing: every tile and access that its controls reach, in a table.

    costs["32.128.128B.0"][read]   the number of a pattern, or -1 - the number of the words why a warp cannot run it
    patterns[number]               addresses, number of the waves, degree, fewest wavefronts, cycles
    measured[number]               cycles, their spread, wavefronts (with the provenance: another run has others)
    advice["32.128"][read]         the number of an advice

>>> write_numbers([0, 132, 264, 71]), read_numbers("0 3o*2 -5d")
('0 3o*2 -5d', [0, 132, 264, 71])

The place in the tile that a lane reads is its address in the plain layout, so that none of it is written twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from tmalab.checker.cost import cost_answer
from tmalab.errors import InputError
from tmalab.experiment.bank_patterns import Pattern, patterns_of
from tmalab.experiment.cost_cases import (
    COST_DTYPES,
    COST_PADDINGS,
    COST_ROW_BYTES,
    COST_ROWS,
    cost_accesses,
    cost_case,
    cost_tiles,
)
from tmalab.experiment.observation import Observation
from tmalab.figures.answers import Observe, recorded_of
from tmalab.figures.tile_tables import gpu_name, source_line
from tmalab.model.lane_expression import NAMES
from tmalab.model.tile_access import LANES, Tile
from tmalab.model.tile_cost import (
    EXPRESSIONS,
    FREE,
    MATRIX_ACCESSES,
    SWIZZLES,
    TILE_ACCESSES,
    TileAccess,
    least_free_padding,
    remedy,
)

VIEWS = ("hardware", "model", "difference")
WIDTHS = ("element", "4", "8", "16")
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def question_of(tile: Tile, access: TileAccess) -> dict[str, Any]:
    """The question that the page's Python is asked about them."""
    fields = {name: getattr(tile, name) for name in ("rows", "row_bytes", "swizzle", "padding_bytes", "base")}
    return {"tile": fields, "access": access._asdict()}


def cost_spec(observe: Observe | None, title: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Everything that the figure shows without computing, and where it was measured: (spec, provenance), plain JSON."""
    measured, seen = measurements(observe)
    reads = list(cost_accesses())
    patterns: dict[tuple[Any, ...], int] = {}
    packed: list[list[Any]] = []
    seen_of: list[tuple[float, float, int] | None] = []
    refused, advised, noted, waves = _Numbered(), _Numbered(), _Numbered(), _Numbered()
    costs: dict[str, list[int]] = {}
    advice: dict[str, list[int]] = {}
    notes: dict[str, int] = {}
    for tile in cost_tiles():
        row = costs.setdefault(layout_key(tile), [])
        for access in reads:
            try:
                answer = cost_answer(question_of(tile, access))
            except InputError as error:
                row.append(-1 - refused.number(str(error)))
                continue
            pattern = pattern_of(access, answer["addresses"])
            if pattern not in patterns:
                patterns[pattern] = len(packed)
                served = waves.number(write_waves([wave["lanes"] for wave in answer["waves"]]))
                packed.append(
                    [
                        write_numbers(answer["addresses"]),
                        served,
                        *(answer[name] for name in ("degree", "min_count", "cycles")),
                    ]
                )
                seen_of.append(_rounded(measured.get(pattern)))
            row.append(patterns[pattern])
            notes[layout_key(tile)] = noted.number(answer["notes"])
            if (tile.swizzle, tile.padding_bytes) == ("none", 0):
                least = least_free_padding(tile, access)
                told = {**remedy(tile, access, least)._asdict(), "least_padding": least}
                advice.setdefault(f"{tile.rows}.{tile.row_bytes}", []).append(advised.number(told))
    spec = {
        "schema": 1, "name": "cost", "title": title,
        "choices": {
            "dtype": list(COST_DTYPES), "swizzle": list(SWIZZLES), "access": [*TILE_ACCESSES, "expression"],
            "width": list(WIDTHS), "view": list(VIEWS),
        },
        "rows": list(COST_ROWS), "row_bytes": list(COST_ROW_BYTES), "paddings": list(COST_PADDINGS),
        "element_bytes": COST_DTYPES, "matrix": list(MATRIX_ACCESSES), "expressions": EXPRESSIONS,
        "names": list(NAMES),
        "reads": [f"{access.access}.{access.width_bytes}" for access in reads],
        "costs": costs, "patterns": packed, "waves": waves.listed,
        "refused": refused.listed, "advice": advice, "remedies": advised.listed,
        "notes": notes, "noted": noted.listed, "free": FREE._asdict(),
    }  # fmt: skip
    line = "" if seen is None else source_line(seen)
    return spec, {"line": line, "gpu": gpu_name(seen), "measured": seen_of}


def layout_key(tile: Tile) -> str:
    """A tile's key among the costs: rows, row bytes, swizzle, padding."""
    return f"{tile.rows}.{tile.row_bytes}.{tile.swizzle}.{tile.padding_bytes}"


def pattern_of(access: TileAccess, addresses: Sequence[int]) -> Pattern:
    """What the probe ran for that access."""
    return Pattern(tuple(addresses), access.width_bytes, _operation(access.access, access.op))


def recorded_number(spec: Mapping[str, Any], access: TileAccess, addresses: Sequence[int]) -> int | None:
    """The number of the pattern that these are, however the access is written; None where the tables hold none."""
    reads = [(name, int(width)) for name, _, width in (read.partition(".") for read in spec["reads"])]
    wanted = write_numbers(addresses)
    for row in spec["costs"].values():
        for (name, width), number in zip(reads, row, strict=True):
            alike = width == access.width_bytes and _operation(name) == _operation(access.access, access.op)
            if alike and number >= 0 and spec["patterns"][number][0] == wanted:
                return int(number)
    return None


def _operation(access: str, op: str = "load") -> str:
    return MATRIX_ACCESSES.get(access, op)


def measurements(observe: Observe | None) -> tuple[Mapping[Pattern, tuple[float, float, int]], Observation | None]:
    """Of each pattern that was measured: cycles an access, their spread, wavefronts; and the observation."""
    seen = recorded_of(observe, cost_case())
    if seen is None:
        return {}, None
    arrays = (seen[name].tolist() for name in ("cycles", "spread", "wavefronts"))
    return dict(zip(patterns_of(seen.case.params), zip(*arrays, strict=True), strict=True)), seen


def _rounded(measured: tuple[float, float, int] | None) -> tuple[float, float, int] | None:
    """As the figure writes them."""
    return None if measured is None else (round(measured[0], 2), round(measured[1], 2), int(measured[2]))


def write_waves(waves: Sequence[Sequence[int]]) -> str:
    """A sign a lane: the number of its wavefront in base 36; "." of a lane that takes no part."""
    number = {lane: _base36(at) for at, lanes in enumerate(waves) for lane in lanes}
    return "".join(number.get(lane, ".") for lane in range(LANES))


def write_numbers(numbers: Sequence[int]) -> str:
    """Numbers in base 36, each the difference to the one before it, and how often that comes."""
    steps = (now - before for before, now in zip([0, *numbers], numbers, strict=False))
    runs = [(_base36(step), len(list(run))) for step, run in groupby(steps)]
    return " ".join(step if count == 1 else f"{step}*{count}" for step, count in runs)


def read_numbers(text: str) -> list[int]:
    """The same the other way round."""
    numbers: list[int] = []
    for step, _, count in (word.partition("*") for word in text.split()):
        for _ in range(int(count or 1)):
            numbers.append(int(step, 36) + (numbers[-1] if numbers else 0))
    return numbers


def _base36(number: int) -> str:
    digits, rest = "", abs(number)
    while rest or not digits:
        rest, digit = divmod(rest, 36)
        digits = _DIGITS[digit] + digits
    return f"-{digits}" if number < 0 else digits


class _Numbered:
    """Things that occur often, each once, and their numbers."""

    def __init__(self) -> None:
        self.listed: list[Any] = []

    def number(self, thing: Any) -> int:
        if thing not in self.listed:
            self.listed.append(thing)
        return self.listed.index(thing)
