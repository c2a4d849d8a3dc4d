"""Access patterns of one warp, thousands in one case: listed one by one, or named as a family and built again from it.

    {"family": "strides", "width_bytes": 4, "op": "load"} ──patterns_of──▶ 64 × Pattern(addresses, 4, "load")

>>> patterns = patterns_of({"family": "strides", "width_bytes": 4, "op": "load"})
>>> len(patterns), patterns[1].addresses[:4], patterns[1].access().degree
(64, (0, 8, 16, 24), 2)

A family is a line in the manifest of the recordings; its patterns would be a megabyte there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import product
from random import Random
from typing import Any, NamedTuple

from tmalab.errors import InputError
from tmalab.experiment.random_pattern import random_addresses
from tmalab.model.banks import OPS, WIDTHS, WarpAccess, checked_addresses, checked_width, warp_access
from tmalab.model.matrix_access import MATRIX_OPS, ROW_BYTES, ROWS, matrix_access
from tmalab.model.swizzle import span_bytes
from tmalab.model.tensor_map_fields import integer
from tmalab.model.tile_access import LANES, Tile, access_addresses

VERSION = "v1"  # of the random patterns: another one makes others from the same seed
STRIDES = range(1, 65)
# Width of a random load or store → its share: where loads may merge there is more to see.
_SHARES = {1: 1, 2: 1, 4: 2, 8: 3, 16: 3}
# What "tiles" is a product of, the last one fastest; those with a value here may be left out.
_TILES: dict[str, list[Any] | None] = {
    "rows": [32], "row_bytes": None, "swizzle": ["none"], "padding_bytes": [0], "base": [0], "access": None,
    "width_bytes": None, "op": ["load"], "at": [0],
}  # fmt: skip


class Pattern(NamedTuple):
    """What one warp does once. `addresses` are bytes, None where a lane takes no part; matrix operations move 16."""

    addresses: tuple[int | None, ...]
    width_bytes: int
    op: str

    def access(self) -> WarpAccess:
        """What the model says of it. Raises InputError for a pattern that no warp could run."""
        if self.op in MATRIX_OPS:
            if self.width_bytes != ROW_BYTES:
                raise InputError("a row has 16 bytes", field="width_bytes", value=self.width_bytes, fix="use 16")
            return matrix_access(self.addresses, self.op)
        return warp_access(self.addresses, self.width_bytes, op=self.op)


def patterns_of(params: Mapping[str, Any]) -> tuple[Pattern, ...]:
    """The patterns of a case's parameters, in order. Raises InputError for a family or a field that is unknown."""
    try:
        return _patterns(json.dumps(dict(params), sort_keys=True))
    except TypeError as error:
        raise InputError(f"not JSON: {error}", field="params", value=params, fix="use plain values") from None


@lru_cache(maxsize=32)
def _patterns(text: str) -> tuple[Pattern, ...]:
    params = json.loads(text)
    if "patterns" in params:
        found = tuple(_listed(index, entry) for index, entry in enumerate(params["patterns"]))
    else:
        family = params.pop("family", None)
        if family not in _FAMILIES:
            raise InputError("unknown family", field="family", value=family, fix=f"use one of {', '.join(_FAMILIES)}")
        found = tuple(_FAMILIES[family](params))
    if not found:
        raise InputError("no pattern", field="params", value=params, fix="give at least one that a warp can run")
    return found


def _listed(index: int, entry: Mapping[str, Any]) -> Pattern:
    if not isinstance(entry, dict) or set(entry) != {"addresses", "width_bytes", "op"}:
        fix = 'give {"addresses": […], "width_bytes": 4, "op": "load"}'
        raise InputError("not a pattern", field=f"patterns[{index}]", value=entry, fix=fix)
    width = checked_width(entry["width_bytes"])
    pattern = Pattern(checked_addresses(entry["addresses"], width), width, entry["op"])
    pattern.access()
    return pattern


def _random(said: Mapping[str, Any]) -> Iterator[Pattern]:
    """`count` patterns; `op` is one operation or a list of which each pattern takes one."""
    _fields(said, {"seed", "count", "op"})
    rng = Random(f"{VERSION}/banks/{integer('seed', said['seed'])}")
    ops = _several(said["op"])
    for _ in range(integer("count", said["count"])):
        op = rng.choice(ops)
        if op in MATRIX_OPS:
            rows = random_addresses(rng, ROW_BYTES, masked=False)[: ROWS * MATRIX_OPS[op]]
            yield Pattern((*rows, *[None] * (LANES - len(rows))), ROW_BYTES, op)
        elif op in OPS:
            width = rng.choices(list(_SHARES), list(_SHARES.values()))[0]
            yield Pattern(random_addresses(rng, width), width, op)
        else:
            raise InputError("unknown operation", field="op", value=op, fix=f"use one of {', '.join(_ALL_OPS)}")


def _strides(said: Mapping[str, Any]) -> Iterator[Pattern]:
    """Lane i at i times the stride, in vectors: one pattern for each of STRIDES, of each operation and width."""
    _fields(said, {"width_bytes", "op"})
    for op, width in product(_several(said["op"]), _several(said["width_bytes"])):
        for stride in STRIDES:
            yield _cut([lane * stride * width for lane in range(LANES)], width, op)


def _tiles(said: Mapping[str, Any]) -> Iterator[Pattern]:
    """The product of _TILES without what no warp can run, nobody pads and swizzles at once, or was there before."""
    _fields(said, {name for name, usual in _TILES.items() if usual is None}, set(_TILES))
    known = set()
    for rows, row_bytes, swizzle, padding, base, access, width, op, at in product(
        *(_several(said.get(name, usual)) for name, usual in _TILES.items())
    ):
        if (padding and span_bytes(swizzle)) or width > row_bytes or (op in MATRIX_OPS and width != ROW_BYTES):
            continue
        addresses = access_addresses(Tile(rows, row_bytes, swizzle, padding, base), access, width, at)
        if any(address % width for address in addresses):
            continue
        pattern = _cut(addresses, width, op)
        if pattern not in known:
            known.add(pattern)
            yield pattern


def _cut(addresses: list[int], width_bytes: int, op: str) -> Pattern:
    """The pattern, of whose addresses an operation on fewer than four matrices takes the first."""
    if op not in _ALL_OPS or width_bytes not in WIDTHS:
        field, value = ("op", op) if op not in _ALL_OPS else ("width_bytes", width_bytes)
        raise InputError("unknown", field=field, value=value, fix=f"use one of {', '.join(_ALL_OPS)}; 1 to 16 bytes")
    taken = ROWS * MATRIX_OPS.get(op, 4)
    return Pattern((*addresses[:taken], *[None] * (LANES - taken)), width_bytes, op)


_ALL_OPS = (*OPS, *MATRIX_OPS)
_FAMILIES = {"random": _random, "strides": _strides, "tiles": _tiles}


def _several(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _fields(said: Mapping[str, Any], needed: set[str], allowed: set[str] | None = None) -> None:
    """Raises InputError for a field that is missing, or one that means nothing here."""
    for name in sorted(needed - set(said)):
        raise InputError("missing", field=name, value=None, fix="give it, or list the patterns")
    for name in sorted(set(said) - (allowed or needed)):
        known = ", ".join(sorted(allowed or needed))
        raise InputError("means nothing here", field=name, value=said[name], fix=f"use only {known}")
