"""What a warp pays for shared memory, asked of an H200: random accesses, strides, and walks over tiles.

    banks/random/…      scattered, grouped, masked: 2,400 patterns from four seeds
    banks/strides       lane i at i strides, 1 to 64
    banks/tiles/…       rows, columns, diagonals, transposed and ldmatrix order, over each swizzle and padding

>>> sum(len(patterns_of(case.params)) for case in bank_cases()) > 4000
True
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tmalab.experiment.bank_patterns import patterns_of
from tmalab.experiment.case import Case
from tmalab.model.banks import OPS, WIDTHS
from tmalab.model.matrix_access import MATRIX_OPS
from tmalab.model.tile_access import ACCESSES

__all__ = ["bank_cases", "patterns_of"]

_LOADS = [op for op in MATRIX_OPS if op.startswith("ldmatrix")]
_STORES = [op for op in MATRIX_OPS if op.startswith("stmatrix")]
# Group of random patterns → seed, count, operations.
RANDOM: dict[str, tuple[int, int, list[str]]] = {
    "load": (1, 1000, ["load"]),
    "store": (2, 800, ["store"]),
    "ldmatrix": (3, 300, _LOADS),
    "stmatrix": (4, 300, _STORES),
}
ROW_BYTES = [32, 64, 128, 256]
# Layouts: padded without a swizzle, or swizzled and not padded.
LAYOUTS: dict[str, dict[str, list[Any]]] = {
    "padded": {"swizzle": ["none"], "padding_bytes": [0, 4, 16]},
    "swizzled": {"swizzle": ["32B", "64B", "128B"]},
}


def bank_cases() -> Iterator[Case]:
    """All of them; a case holds as many patterns as its family has."""
    for name, (seed, count, ops) in RANDOM.items():
        yield Case(f"banks/random/{name}", "banks", {"family": "random", "seed": seed, "count": count, "op": ops})
    strides = {"family": "strides", "width_bytes": list(WIDTHS), "op": list(OPS)}
    yield Case("banks/strides", "banks", strides)
    for name, layout in LAYOUTS.items():
        tiles = {"family": "tiles", "row_bytes": ROW_BYTES, **layout, "access": list(ACCESSES)}
        yield Case(f"banks/tiles/{name}", "banks", {**tiles, "width_bytes": [4, 8, 16], "op": list(OPS), "at": [0, 1]})
        yield Case(f"banks/matrices/{name}", "banks", {**tiles, "width_bytes": [16], "op": [*_LOADS, *_STORES]})
