"""`explore`: one map and one copy of its box, as the box explorer draws it: sizes, verdicts, and what the box takes.

    {"tensor_map": …, "coords": [-4, 6], "smem_base": 0}  ──▶  taken   [[-4 … 3], [6 … 9]]     per axis
                                                               inside  [[4, 8], [0, 2]]        which of them exist
                                                               shared  where each one lands

>>> tm = TensorMap.tiled("float32", (16, 8), (64,), (8, 4))
>>> answer = explore({"tensor_map": tm.to_dict(), "coords": [-4, 6]})
>>> answer["inside"], answer["transaction_bytes"], answer["verdict"]
([[4, 8], [0, 2]], 128, 'runs')

A page runs this file in the reader's browser, so that no address is computed twice: no numpy is imported here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import product
from math import prod
from typing import Any

from tmalab.checker.mapping import countable
from tmalab.errors import InputError
from tmalab.model.box import Axis, axes
from tmalab.model.box_bytes import copied_dim, row_pitch_bytes, unit_bytes
from tmalab.model.launch_rules import launch_violations
from tmalab.model.swizzle import CHUNK_BYTES, swizzled
from tmalab.model.tensor_map import TensorMap
from tmalab.model.tensor_map_fields import integer
from tmalab.model.violation import Violation

SCHEMA = 1
MOST_ELEMENTS = 4096  # of a box that is still told element by element
_LONGEST = 256  # of one dimension of a box that the driver takes

# What belongs to the map and is the same for every copy; the rest of an answer belongs to the copy.
OF_THE_MAP = (
    "violations", "warnings", "transaction_bytes", "footprint_bytes", "copied", "shared", "chunk_elements", "fill",
)  # fmt: skip


def explore(question: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to one question, as plain JSON.

    `verdict` is what becomes of the copy: `refused` by the driver, `fault` in the engine, or it `runs`. Sizes and
    lists are None where the numbers are no tensor's. Raises InputError for a question that cannot be read.
    """
    if not isinstance(question, Mapping) or not isinstance(question.get("tensor_map"), Mapping):
        raise InputError("no map to ask about", field="tensor_map", value=question, fix="give tensor_map and coords")
    tm = TensorMap.from_dict(question["tensor_map"])
    coords = _coords(question.get("coords"), tm.rank)
    base = integer("smem_base", question.get("smem_base", 0))
    refused = tm.violations()
    faults = [] if refused else launch_violations(tm, coords, direction="load", smem_base=base)
    answer: dict[str, Any] = {
        "schema": SCHEMA, "verdict": "refused" if refused else "fault" if faults else "runs",
        "violations": _told(refused), "faults": _told(faults), "warnings": _told(tm.warnings()), "fill": _fill(tm),
        **dict.fromkeys(("transaction_bytes", "footprint_bytes", "copied", "shared", "chunk_elements")),
        **dict.fromkeys(("taken", "inside", "row_bytes", "column_bytes")),
    }  # fmt: skip
    if countable(tm) and tm.kind == "tiled" and not tm.element.packed and max(tm.box_dim) <= _LONGEST:
        answer |= {"transaction_bytes": tm.transaction_bytes(), "footprint_bytes": tm.footprint_bytes()}
        answer |= _drawn(tm, coords, base)
    return answer


def explore_json(text: str) -> str:
    """The same for a page's worker: JSON in, JSON out. It raises nothing; `error` says what could not be read."""
    try:
        made = explore(json.loads(text))
    except (ValueError, RecursionError) as error:  # InputError is a ValueError
        made = {"schema": SCHEMA, "error": str(error)}
    return json.dumps(made)


def _coords(given: Any, rank: int) -> tuple[int, ...]:
    if not isinstance(given, list) or len(given) != rank:
        raise InputError("not a list of coordinates", field="coords", value=given, limit=rank, fix=f"give {rank}")
    return tuple(integer(f"coords[{dim}]", value) for dim, value in enumerate(given))


def _told(found: list[Violation]) -> list[dict[str, Any]]:
    return [{name: getattr(one, name) for name in ("rule", "field", "message", "fix")} for one in found]


def _fill(tm: TensorMap) -> str:
    """What an element outside the tensor becomes; the NaN's bits were measured on H200."""
    return "NaN" if tm.oob_fill == "nan" and tm.element.is_float else "0"


def _drawn(tm: TensorMap, coords: tuple[int, ...], base: int) -> dict[str, Any]:
    """Which elements the box takes, and where each lands; without numpy, element by element."""
    along, copied = axes(tm, coords), copied_dim(tm)
    told: dict[str, Any] = {
        "copied": list(copied),
        "taken": [list(axis.indices) for axis in along],
        "inside": [[axis.inside.start, axis.inside.stop] for axis in along],
        "chunk_elements": CHUNK_BYTES // unit_bytes(tm) or 1,
    }
    if prod(copied) > MOST_ELEMENTS:
        return told
    told["column_bytes"] = [index * unit_bytes(tm) for index in along[0].indices]
    told["row_bytes"] = list(_row_bytes(tm, along[1:]))
    told["shared"] = [
        swizzled(base + row * row_pitch_bytes(tm) + column * unit_bytes(tm), tm.swizzle)
        for row in range(prod(copied[1:]))
        for column in range(copied[0])
    ]
    return told


def _row_bytes(tm: TensorMap, outer: tuple[Axis, ...]) -> Iterator[int | None]:
    """For each row of the box, dimension 1 fastest: the byte of the tensor at which its row begins; None outside."""
    for indices in product(*(axis.indices for axis in reversed(outer))):
        place = indices[::-1]
        exists = all(0 <= index < axis.size for index, axis in zip(place, outer, strict=True))
        yield sum(index * stride for index, stride in zip(place, tm.global_strides, strict=True)) if exists else None
