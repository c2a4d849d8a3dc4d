"""What a reader gets: a recorded tile, read by someone who may count in another way than the engine that wrote it.

shared memory, as the GPU left it ──where the reader looks──▶ the tile that it gets, ✗ where it is not the tile

linear              place = chunk                     knows of no swizzle
row of the tile     place = chunk XOR row             right where the tile begins at a multiple of 1024 bytes
absolute address    place = chunk XOR line            as the engine does it
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

from tmalab import model
from tmalab.experiment.case import Case
from tmalab.experiment.catalogue import TILE_BASES, TILE_MEMORY, tile_figure_case, tile_figure_map
from tmalab.experiment.memory import make_bytes
from tmalab.experiment.observation import Observation
from tmalab.figures.answers import recorded_of
from tmalab.figures.base import Choice, Figure
from tmalab.figures.bundle import esm
from tmalab.figures.palette import tint
from tmalab.figures.still import Still
from tmalab.figures.tile_tables import CHUNK, SMEM_BYTES, TENSOR_CHUNKS, decode, gpu_name, source_line

_TITLE = "What the reader gets"
WRITERS = ("128B", "none")
READERS = ("nothing", "row", "line")  # what the reader XORs a chunk's number with
ROWS, COLS = 8, 8  # chunks of the box, and lines of shared memory that it fills
NOTHING = -1  # a place that holds no chunk of the box


def held_places(smem: bytes, base: int) -> list[int]:
    """For each of the 64 places from `base` on: which chunk of the box (8 * row + column) stands there, or NOTHING."""
    found = decode(smem, make_bytes(TILE_MEMORY))[base // CHUNK : base // CHUNK + ROWS * COLS]
    rows_cols = [divmod(chunk, TENSOR_CHUNKS) for chunk in found]
    return [COLS * row + col if 0 <= row < ROWS and col < COLS else NOTHING for row, col in rows_cols]


def read_places(reader: str, base: int) -> list[int]:
    """For each chunk of the box: the place, counted from `base` on, at which `reader` looks for it."""
    writer = "none" if reader == "nothing" else "128B"
    counted_from = base if reader == "line" else 0
    offsets = model.shared_offsets(tile_figure_map(writer), smem_base=counted_from)[::COLS].T
    return [int(offset) // CHUNK for offset in (offsets - counted_from).ravel()]


class ReaderFigure(Figure):
    """The tile of `writer` (a swizzle mode) at shared address `base`, as `reader` gets it; drawn from `observe`.

    `cell` is the chunk (row, column) that the sentence is about. Where nothing is recorded, the figure shows the
    model and says so. Raises InputError for a state that it does not have.
    """

    name = "reader"
    state_names = ("writer", "reader", "base", "cell")
    _esm = esm("reader")
    writer = Choice(WRITERS)
    reader = Choice(READERS)
    base = Choice(TILE_BASES)
    cell = Choice(tuple(product(range(ROWS), range(COLS))))

    def __init__(
        self, observe: Callable[[Case], Observation], *, writer: str = "128B", reader: str = "nothing", base: int = 0,
        cell: tuple[int, int] = (3, 5), title: str = _TITLE, page: str | None = "reader",
    ):  # fmt: skip
        spec, provenance = _tables(observe, title)
        super().__init__(
            spec=spec, provenance=provenance, writer=writer, reader=reader, base=base, cell=cell, page=page
        )

    # --- the present state --------------------------------------------------------------------------------------------

    @property
    def number(self) -> int:
        """Which of the recorded tiles this is."""
        return WRITERS.index(self.writer) * len(TILE_BASES) + TILE_BASES.index(self.base)

    @property
    def places(self) -> list[int]:
        """Where the reader looks for each chunk of the box."""
        return self.spec["places"][self.reader][TILE_BASES.index(self.base)]  # type: ignore[no-any-return]

    @property
    def got(self) -> list[int]:
        """What the reader gets for each chunk of the box."""
        held = self.spec["held"][self.number]
        return [held[place] for place in self.places]

    def wrong(self) -> list[int]:
        """The chunks of the box for which the reader gets something else."""
        return [chunk for chunk, got in enumerate(self.got) if got != chunk]

    def sentence(self) -> str:
        """Where the reader looks for the chunk that is singled out, what it finds, and how many are wrong."""
        chunk = COLS * self.cell[0] + self.cell[1]
        place, got = self.places[chunk], self.got[chunk]
        verdict = "the chunk it wants" if got == chunk else _chunk_name(got)
        return (
            f"{_chunk_name(chunk).capitalize()}: the reader looks at shared byte {self.base + place * CHUNK} and finds "
            f"{verdict}. {len(self.wrong())} of {ROWS * COLS} chunks are wrong."
        )

    def source(self) -> str:
        """Where the tile was measured, or that it was not."""
        line = self.provenance["of"][self.number]
        if line < 0:
            return "Model, not measured: there is no recording of this state."
        return str(self.provenance["lines"][line])

    def table(self) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
        """One row a chunk of the box."""
        rows = [
            [_chunk_name(chunk), str(self.base + place * CHUNK), _chunk_name(got), "wrong" if got != chunk else "right"]
            for chunk, (place, got) in enumerate(zip(self.places, self.got, strict=True))
        ]
        return ["The reader wants", "looks at shared byte", "finds", "which is"], rows

    def data(self) -> dict[str, Any]:
        """The table as plain JSON."""
        head, rows = self.table()
        return {
            "schema": self.spec["schema"], "figure": self.name, "title": self.spec["title"],
            "state": {**self.state, "cell": list(self.cell)}, "provenance": self.source(),
            "table": [dict(zip(head, row, strict=True)) for row in rows],
        }  # fmt: skip

    def svg(self) -> str:
        """The still: shared memory and what the reader makes of it."""
        held, got, wrong = self.spec["held"][self.number], self.got, set(self.wrong())
        cell, left, top = 38, 60, 44
        still = Still(2 * (left + COLS * cell) + 24, top + ROWS * 28 + 14, self.spec["title"])
        still.text(14, 16, "Shared memory", "head")
        still.text(
            left + COLS * cell + 38, 16, f"What the reader gets: {len(wrong)} of {ROWS * COLS} chunks wrong", "head"
        )
        singled = COLS * self.cell[0] + self.cell[1]
        for side, (table, x) in enumerate(((held, left), (got, 2 * left + COLS * cell + 14))):
            for at, chunk in enumerate(table):
                row, col = divmod(at, COLS)
                hot = at == (singled if side else self.places[singled])
                line = "wrong" if side and at in wrong else "hot" if hot else ""
                fill = "none" if chunk == NOTHING else tint(chunk % COLS)
                still.cell(x + col * cell, top + row * 28, cell - 2, 26, fill=fill, line=line)
                mark = "✗" if side and at in wrong else ""
                still.text(x + col * cell + 18, top + row * 28 + 13, f"{_label(chunk)}{mark}", "label")
            for row in range(ROWS):
                text = f"row {row}" if side else str(self.base + row * COLS * CHUNK)
                still.text(x - 24, top + row * 28 + 13, text, "soft")
        return still.svg()


def _label(chunk: int) -> str:
    return "?" if chunk == NOTHING else str(chunk % COLS)


def _chunk_name(chunk: int) -> str:
    return "no chunk of the tile" if chunk == NOTHING else f"row {chunk // COLS}, chunk {chunk % COLS}"


def _tables(observe: Callable[[Case], Observation], title: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the page is given: where each tile's chunks stand, where each reader looks, and the provenance of each."""
    held: list[list[int]] = []
    lines: dict[str, int] = {}  # each provenance line once, in order
    of: list[int] = []  # which of them each tile has, -1 for none
    gpu = gpu_name(None)
    for writer, base in product(WRITERS, TILE_BASES):
        seen = recorded_of(observe, tile_figure_case(writer, 0, 0, base))
        if seen is None:
            memory = make_bytes(TILE_MEMORY)
            smem = model.load(tile_figure_map(writer), memory, (0, 0), smem_bytes=SMEM_BYTES, smem_base=base)
            of.append(-1)
        else:
            smem, gpu = seen["smem"], gpu_name(seen)
            of.append(lines.setdefault(source_line(seen), len(lines)))
        held.append(held_places(smem.tobytes(), base))
    places = {reader: [read_places(reader, base) for base in TILE_BASES] for reader in READERS}
    choices = {"writer": WRITERS, "reader": READERS, "base": TILE_BASES}
    spec = {
        "schema": 1, "name": "reader", "title": title,
        "choices": {name: list(values) for name, values in choices.items()},
        "cells": [list(cell) for cell in product(range(ROWS), range(COLS))], "held": held, "places": places,
    }  # fmt: skip
    return spec, {"lines": list(lines), "of": of, "gpu": gpu}
