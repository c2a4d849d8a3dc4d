"""What "Many atoms in one copy" shows, as tables: each view of the slice, what the hardware left, what the model says.

    a chunk of the slice    16 row + chunk: 0 to 255, as it is numbered in every table
    tables                  shared memory chunk by chunk, packed as `tile_tables.pack` writes it, equal ones held once
    runs                    of each way to copy and each column: its table, its provenance, bytes that are no chunk's

>>> one = view_words("128B", 128)
>>> one["groups"], one["atoms"], one["lines"], one["phases"]
(2, 4, 32, [0, 1, 2, 3, 4, 5, 6, 7])

The hardware's table is its bytes alone; the model takes no part in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from tmalab import model
from tmalab.experiment.atoms_cases import (
    ATOM_COLS,
    ATOM_COLUMNS,
    ATOM_GROUPS,
    ATOM_MEMORY,
    ATOM_ROWS,
    ATOM_SLICE,
    ATOM_SWIZZLES,
    COPIES,
    atoms_case,
    fits,
    flat_cases,
    flat_map,
    grouped_map,
    refused_case,
)
from tmalab.experiment.case import Case
from tmalab.experiment.memory import make_bytes
from tmalab.experiment.observation import Observation
from tmalab.experiment.transfer_case import BACKGROUND
from tmalab.figures.answers import Observe, answer_of
from tmalab.figures.atoms_fields import FIELDS, fields_of, verdict
from tmalab.figures.tile_tables import CHUNK, LINE, VIEWS, changes, decode, gpu_name, pack, source_line
from tmalab.model.box_bytes import footprint_bytes, row_pitch_bytes
from tmalab.model.swizzle import span_bytes

SLICE_CHUNKS = 2 * ATOM_SLICE // CHUNK
CELLS = tuple(product(range(ATOM_ROWS), range(SLICE_CHUNKS)))  # (row, chunk) of the slice
CHOICES: dict[str, Sequence[Any]] = {
    "swizzle": ATOM_SWIZZLES, "group": ATOM_GROUPS, "col": ATOM_COLS, "copies": COPIES, "view": VIEWS,
}  # fmt: skip
_PATTERN_ROWS = 8  # a swizzle repeats after eight rows of its span: that is the atom


@lru_cache
def slice_bytes(col: int) -> Any:
    """The slice at column `col`, row after row without gaps: uint8[4096]."""
    matrix = make_bytes(ATOM_MEMORY).reshape(ATOM_ROWS, 2 * ATOM_COLUMNS)
    return matrix[:, 2 * col : 2 * (col + ATOM_SLICE)].reshape(-1)


def together(parts: Sequence[Any]) -> Any:
    """Shared memory after several copies into places of their own: of each byte, what a copy wrote there."""
    left = np.full_like(parts[0], BACKGROUND)
    for part in parts:
        written = part != BACKGROUND
        left[written] = part[written]
    return left


def view_words(swizzle: str, group: int) -> dict[str, Any]:
    """What the words about a legal view need, each number asked of the model.

    pitch, atom: bytes from a row of a group to the next, and of an atom (0: no swizzle, no atom)
    phases: what a chunk's place is XORed with in each line of shared memory, until they repeat
    linear: which chunk of the slice would stand at each place without the exchange of chunks, rows padded all the same
    """
    tm = grouped_map(swizzle, group)
    pitch, width = row_pitch_bytes(tm), group // CHUNK
    lines = footprint_bytes(tm) // LINE
    offsets = model.shared_offsets(tm)[:: CHUNK // tm.element.bytes].T.ravel() // CHUNK  # (group, row, chunk), flat
    places = pitch // CHUNK * np.arange(len(offsets) // width)[:, None] + np.arange(width)
    phases = np.zeros(lines, int)
    phases[places.ravel() // 8] = (offsets ^ places.ravel()) % 8
    period = next(one for one in (1, 2, 4, 8) if (phases[one:] == phases[:-one]).all())
    ids = np.arange(ATOM_ROWS * SLICE_CHUNKS).reshape(ATOM_ROWS, -1, width).transpose(1, 0, 2).reshape(places.shape)
    linear = np.full(lines * LINE // CHUNK, -1)
    linear[places] = ids
    atom = _PATTERN_ROWS * span_bytes(swizzle)
    return {
        "groups": ATOM_SLICE * 2 // group, "width": width, "pitch": pitch, "atom": atom,
        "atoms": footprint_bytes(tm) // atom if atom else 0, "lines": lines, "phases": phases[:period].tolist(),
        "linear": linear.tolist(),
    }  # fmt: skip


def _several(observe: Observe | None, cases: Sequence[Case]) -> list[Observation]:
    """The observations of all of `cases`; none where one is missing."""
    found = [one for case in cases if (one := answer_of(observe, case)) is not None]
    return found if len(found) == len(cases) else []


class _Tables:
    """The tables and provenance lines that were met so far, each held once."""

    def __init__(self) -> None:
        self.packed: dict[str, int] = {}
        self.lines: dict[str, int] = {}
        self.gpu = gpu_name(None)

    def table(self, chunks: Sequence[int]) -> int:
        return self.packed.setdefault(pack(chunks), len(self.packed))

    def source(self, seen: Sequence[Observation]) -> int:
        if not seen:
            return -1
        self.gpu = gpu_name(seen[0])
        return self.lines.setdefault("; ".join(dict.fromkeys(map(source_line, seen))), len(self.lines))


def atoms_spec(observe: Observe | None, title: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Everything that the figure draws, and where it was measured: (spec, provenance), both plain JSON.

    `spec["views"]` has an entry a swizzle and group, the group varying faster. A run's `table` and `line` are -1
    where nothing is recorded.
    """
    tables = _Tables()
    views = [
        _legal(observe, tables, swizzle, group) if fits(swizzle, group) else _refused(observe, tables, swizzle, group)
        for swizzle in ATOM_SWIZZLES
        for group in ATOM_GROUPS
    ]
    spec = {
        "schema": 1, "name": "atoms", "title": title,
        "matrix": {
            "rows": ATOM_ROWS, "chunks": 2 * ATOM_COLUMNS // CHUNK, "slice": SLICE_CHUNKS,
            "label": f"{ATOM_ROWS} × {ATOM_COLUMNS} fp16",
        },
        "background": f"{BACKGROUND:02x}", "choices": {name: list(values) for name, values in CHOICES.items()},
        "cells": [list(cell) for cell in CELLS], "views": views, "tables": list(tables.packed), "fields": list(FIELDS),
    }  # fmt: skip
    return spec, {"lines": list(tables.lines), "gpu": tables.gpu}


def _legal(observe: Observe | None, tables: _Tables, swizzle: str, group: int) -> dict[str, Any]:
    words = view_words(swizzle, group)
    runs: dict[str, list[dict[str, Any]]] = {copies: [] for copies in COPIES}
    fields, verdicts, predicted = [], [], 0
    for col in ATOM_COLS:
        case, tm, known = atoms_case(swizzle, group, col), grouped_map(swizzle, group), slice_bytes(col)
        coords, smem_bytes = case.params["coords"], case.params["smem_bytes"]
        says = model.load(tm, make_bytes(ATOM_MEMORY), coords, smem_bytes=smem_bytes).tobytes()
        predicted = tables.table(decode(says, known))
        left: list[Any] = []
        counted: list[list[int]] = []
        for copies, cases in zip(COPIES, ([case], flat_cases(swizzle, group, col)), strict=True):
            seen = _several(observe, cases)
            run: dict[str, Any] = {"table": -1, "line": tables.source(seen), "changed": []}
            if seen:
                smem = together([one["smem"] for one in seen])
                chunks = decode(smem.tobytes(), known)
                run |= {"table": tables.table(chunks), "changed": changes(smem.tobytes(), says, chunks)}
                left.append(smem)
            counted.append([one["delivered_bytes"] for one in seen])
            runs[copies].append(run)
        fields.append(fields_of(swizzle, group, col, counted))
        verdicts.append(verdict(left))
    return {
        **words, "linear": tables.table(words["linear"]), "model": predicted, "runs": runs, "fields": fields,
        "verdicts": verdicts, "refused": None,
    }  # fmt: skip


def _refused(observe: Observe | None, tables: _Tables, swizzle: str, group: int) -> dict[str, Any]:
    """A view whose group is wider than the swizzle's span: the rule that it breaks, and what the driver said to it."""
    refused = {}
    for copies, build in zip(COPIES, (grouped_map, flat_map), strict=True):
        seen = _several(observe, [refused_case(swizzle, group, copies)])
        refused[copies] = {
            "broken": [
                {**{name: getattr(one, name) for name in ("rule", "field", "message", "fix")},
                 "value": str(one.value), "limit": str(one.limit)}
                for one in build(swizzle, group).violations()
            ],
            "accepted": bool(seen[0]["accepted"]) if seen else None, "line": tables.source(seen),
        }  # fmt: skip
    # What no copy brings has no place and no bytes.
    fields = [[*fields_of(swizzle, group, col)[:-4], *[["–", "–"]] * 4] for col in ATOM_COLS]
    return {"groups": ATOM_SLICE * 2 // group, "width": group // CHUNK, "fields": fields, "refused": refused}
