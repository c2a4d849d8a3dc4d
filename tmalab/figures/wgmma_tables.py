"""What the figure "wgmma" shows, as tables: each tile through each descriptor, chunk by chunk, seen and predicted.

    a chunk   eight elements of a row, 16 bytes, numbered row by row: chunk 8 r + c is row r, columns 8 c to 8 c + 7
    tiles     of each layout, the chunk that stands at each 16 bytes of shared memory
    states    of each tile and descriptor, the chunk that was read in place of each

>>> pack([0, 35, -1, 511]), unpack("000z--e7")
('000z--e7', [0, 35, -1, 511])

The hardware's tables are its bytes and its products alone; the model takes no part in them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from tmalab import model
from tmalab.experiment.observation import Observation
from tmalab.experiment.wgmma_cases import (
    COLUMNS,
    DESCRIPTORS,
    ROWS,
    TILES,
    product_operand,
    reading,
    tile_values,
    wgmma_case,
    wgmma_tile_map,
)
from tmalab.figures.answers import Observe, answer_of
from tmalab.figures.tile_tables import gpu_name, source_line
from tmalab.model.swizzle import pattern

if TYPE_CHECKING:
    import numpy.typing as npt

    Ints = npt.NDArray[np.int64]


VIEWS = ("hardware", "model", "difference")
BAND = 8  # rows that are drawn large at a time
FIRST_ROWS = tuple(range(0, ROWS, BAND))
CELLS = tuple(product(range(BAND), range(COLUMNS // 8)))
CHUNKS = ROWS * COLUMNS // 8
NO_CHUNK = -1
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_EVERY = np.arange(ROWS * COLUMNS).reshape(ROWS, COLUMNS)


def pack(chunks: Sequence[int]) -> str:
    """Chunk numbers as text, two digits of base 36 each; "--" where there is none."""
    return "".join("--" if one < 0 else _DIGITS[one // 36] + _DIGITS[one % 36] for one in chunks)


def unpack(text: str) -> list[int]:
    """The numbers that `pack` wrote."""
    pairs = (text[at : at + 2] for at in range(0, len(text), 2))
    return [NO_CHUNK if pair == "--" else int(pair, 36) for pair in pairs]


def chunks_of(elements: Any) -> list[int]:
    """Element numbers, eight for each chunk in order, as chunk numbers; NO_CHUNK where eight are not one chunk."""
    eights = np.asarray(elements, np.int64).reshape(-1, 8)
    whole = (eights == eights[:, :1] + np.arange(8)).all(axis=1) & (eights[:, 0] % 8 == 0) & (eights[:, 0] >= 0)
    return [int(one) for one in np.where(whole, eights[:, 0] // 8, NO_CHUNK)]


def wgmma_spec(observe: Observe | None, title: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Everything that the figure draws, and where it was measured: (spec, provenance), both plain JSON.

    `hardware` is null where nothing is recorded and "=" where it is the model's table; `line` is then -1.
    """
    seen = {tile: answer_of(observe, wgmma_case(tile)) for tile in TILES}
    lines: dict[str, int] = {}
    line = {
        tile: -1 if one is None else lines.setdefault(source_line(one), len(lines)) for tile, one in seen.items()
    }  # fmt: skip
    states = [_state(tile, number, seen[tile]) for tile in TILES for number in range(len(DESCRIPTORS))]
    spec = {
        "schema": 1, "name": "wgmma", "title": title,
        "choices": {
            "tile": list(TILES), "descriptor": list(DESCRIPTORS), "rows": list(FIRST_ROWS), "view": list(VIEWS),
        },
        "cells": [list(cell) for cell in CELLS],
        "tiles": [{**_tile(tile, seen[tile]), "line": line[tile]} for tile in TILES],
        "descriptors": [_descriptor(descriptor) for descriptor in DESCRIPTORS], "states": states,
    }  # fmt: skip
    gpu = gpu_name(next((one for one in seen.values() if one), None))
    return spec, {"lines": list(lines), "gpu": gpu}


def _table(predicted: list[int], found: list[int] | None) -> dict[str, Any]:
    hardware = None if found is None else "=" if found == predicted else pack(found)
    return {"model": pack(predicted), "hardware": hardware}


def _state(tile: str, number: int, seen: Observation | None) -> dict[str, Any]:
    """One tile through one descriptor: the chunks, how many elements are right, what became of a product."""
    predicted = model.elements_read(wgmma_tile_map(tile), reading(DESCRIPTORS[number]))
    found = None if seen is None else seen["read"][number]
    products = {"model": _product(predicted)} | ({} if seen is None else {"hardware": seen["product"][number]})
    return {
        **_table(chunks_of(predicted), None if found is None else chunks_of(found)),
        "right": {
            name: int((read == _EVERY).sum()) for name, read in (("model", predicted), ("hardware", found))
            if read is not None
        },
        "product": {name: _wrong(values) for name, values in products.items()},
    }  # fmt: skip


def _product(elements: Ints) -> Any:
    """What the tile, read so, makes with the columns of `product_operand`: float64[64, 8]."""
    values = np.append(tile_values().astype(np.float64).ravel(), 0.0)  # -1, where nothing of the tile is, reads zeros
    return values[elements] @ product_operand().astype(np.float64).T


def _wrong(values: Any) -> list[float]:
    """How many numbers of a product are not the float64 product's, and how far the farthest is off."""
    off = np.abs(np.asarray(values, np.float64) - _product(_EVERY))
    return [int((off > 0).sum()), round(float(off.max()), 1)]


def _tile(tile: str, seen: Observation | None) -> dict[str, Any]:
    """Where the tile's chunks stand, and its layout in a sentence."""
    tm = wgmma_tile_map(tile)
    first = model.shared_offsets(tm)[::8].T.reshape(-1, tm.box_dim[0] // 8) // 16  # groups and rows, chunks of a row
    places = np.empty(CHUNKS, np.int64)
    number = np.arange(CHUNKS).reshape(ROWS, -1, first.shape[1]).transpose(1, 0, 2).reshape(first.shape)
    places[first] = number
    found = None
    if seen is not None:
        known = {chunk.tobytes(): at for at, chunk in enumerate(tile_values().reshape(CHUNKS, 8))}
        smem = seen["smem"].tobytes()
        found = [known.get(smem[at : at + 16], NO_CHUNK) for at in range(0, 16 * CHUNKS, 16)]
    return {**_table(places.tolist(), found), "about": _about_tile(tile)}


def _about_tile(tile: str) -> str:
    columns, groups = wgmma_tile_map(tile).box_dim[0], COLUMNS // wgmma_tile_map(tile).box_dim[0]
    boxed = "one box of 64 columns" if groups == 1 else f"{groups} groups of {columns} columns"
    swizzle = "without swizzle" if tile in ("none", "rows") else f"swizzled {tile}"
    return f"The tile stands as {boxed}: rows of {2 * columns} bytes, {swizzle}."


def _descriptor(descriptor: str) -> dict[str, Any]:
    """What a descriptor expects, in a sentence, and its fields as the drawing lists them."""
    steps = reading(descriptor)
    row_bytes = pattern(descriptor).span_bytes or 16
    swizzle = "without swizzle" if descriptor == "none" else f"swizzled {descriptor}"
    leading = str(steps[0].leading_bytes) if descriptor == "none" else "not read"
    return {
        "about": f"The descriptor expects rows of {row_bytes} bytes, {swizzle}.",
        "fields": [
            ["swizzle", descriptor], ["start", ", ".join(str(step.start_bytes) for step in steps)],
            ["leading", leading], ["stride", str(steps[0].stride_bytes)],
        ],
    }  # fmt: skip
