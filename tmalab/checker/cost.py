"""`cost_answer`: what a warp's access costs, as the figure draws it and the command prints it: plain JSON.

    {"tile": …, "access": …}  ──▶  addresses  32 of them        waves     which lanes go together, and their words
                                   places     row, byte of it   advice    the swizzle or the padding that frees it

>>> question = {"tile": {"rows": 32, "row_bytes": 128}, "access": {"access": "column", "width_bytes": 4}}
>>> answer = cost_answer(question)
>>> answer["degree"], answer["count"], answer["advice"]["padding_bytes"]
(32, 32, 4)

A page runs this file in the reader's browser, so that no address is computed twice: no numpy is imported here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from tmalab.errors import InputError
from tmalab.model.expression_tree import ExpressionError
from tmalab.model.swizzle import LINE_BYTES, span_bytes, swizzled
from tmalab.model.tensor_map_fields import integer
from tmalab.model.tile_access import Tile
from tmalab.model.tile_cost import (
    FREE,
    TileAccess,
    cost,
    cost_or_none,
    engine_writes,
    least_free_padding,
    remedy,
    swizzled_tiles,
)

SCHEMA = 1


def cost_answer(question: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to one question. Raises InputError for what cannot be read, or no lane may do."""
    tile, access = _read(question)
    found = cost(tile, access)
    padding = least_free_padding(tile, access)
    advice = FREE if found.degree == 1 else remedy(tile, access, padding)
    return {
        "schema": SCHEMA,
        "addresses": list(found.addresses),
        "places": [None if address is None else list(place_of(tile, address)) for address in found.addresses],
        "waves": [{"lanes": list(wave.lanes), "words": list(wave.words)} for wave in found.wavefronts],
        "degree": found.degree, "count": found.count, "min_count": found.min_count,
        "cycles": found.cycles,
        "advice": advice._asdict(), "notes": notes(tile),
        "alternatives": [_alternative(other, access) for other in others(tile, padding)],
    }  # fmt: skip


def others(tile: Tile, padding: int | None) -> list[Tile]:
    """The same tile in each swizzle, and with `padding`, the least that frees the access."""
    padded = [replace(tile, swizzle="none", padding_bytes=padding)] if padding else []
    return [*swizzled_tiles(tile), *padded]


def _alternative(tile: Tile, access: TileAccess) -> dict[str, Any]:
    paid = cost_or_none(tile, access)
    return {
        "swizzle": tile.swizzle, "padding_bytes": tile.padding_bytes, "engine_writes": engine_writes(tile),
        "addresses": None if paid is None else list(paid.addresses),
        "degree": None if paid is None else paid.degree, "count": None if paid is None else paid.count,
    }  # fmt: skip


def cost_json(text: str) -> str:
    """The same for a page's worker: JSON in, JSON out. It raises nothing; `error` says what could not be answered.

    `column` is the place in the expression that the error is about, None where it is about something else.
    """
    try:
        made = cost_answer(json.loads(text))
    except (ValueError, RecursionError) as error:  # InputError is a ValueError
        column = error.column if isinstance(error, ExpressionError) else None
        made = {"schema": SCHEMA, "error": str(error), "column": column}
    return json.dumps(made)


def place_of(tile: Tile, address: int) -> tuple[int, int]:
    """The row of the tile, and the byte of the row, that stand at a shared address; past its end too."""
    return divmod(swizzled(address, tile.swizzle) - tile.base, tile.pitch_bytes)


def notes(tile: Tile) -> list[str]:
    """What is to be known of this layout beside its cost."""
    span = span_bytes(tile.swizzle)
    if tile.padding_bytes:
        return [f"The engine writes no padding: threads must write rows {tile.pitch_bytes} bytes apart."]
    if not engine_writes(tile):
        return [
            f"The engine writes no rows of {tile.row_bytes} bytes with {tile.swizzle}: split them into boxes of {span}."
        ]
    if span > tile.row_bytes:
        wasted = span - tile.row_bytes
        return [f"The engine pads each row to {span} bytes: {wasted} of them are wasted."]
    if tile.base % LINE_BYTES:
        return [f"The engine writes to multiples of {LINE_BYTES} bytes: address {tile.base} is none."]
    return []


_KNOWN = {"tile": tuple(field.name for field in fields(Tile)), "access": TileAccess._fields}
_NEEDED = {"tile": ("rows", "row_bytes"), "access": ("access", "width_bytes")}


def _read(question: Any) -> tuple[Tile, TileAccess]:
    if not isinstance(question, Mapping):
        raise InputError("no question", field="question", value=question, fix="give tile and access")
    tile, access = (_fields(question, name) for name in ("tile", "access"))
    return Tile(**tile), TileAccess(**{**access, "width_bytes": integer("width_bytes", access["width_bytes"])})


def _fields(question: Mapping[str, Any], name: str) -> dict[str, Any]:
    given = question.get(name)
    if not isinstance(given, Mapping):
        raise InputError("missing", field=name, value=given, fix=f"give {name} as an object")
    for unknown in sorted(map(str, set(given) - set(_KNOWN[name]))):
        fix = f"use {', '.join(_KNOWN[name])}"
        raise InputError("unknown field", field=f"{name}.{unknown}", value=given.get(unknown), fix=fix)
    for needed in _NEEDED[name]:
        if needed not in given:
            raise InputError("missing", field=needed, value=None, fix=f"give {needed}")
    return dict(given)
