"""One small tensor and what happens at its edges: what the figure "At the edges" draws and its chapter asserts.

    10 columns  6 rows    a row every 16 elements, so that 6 elements after each row are nobody's
    ┌────────────┐┄┄┄┄┄┐
    │ tensor     │     ┆  element (row, column) holds 128 + 16 row + column: as a float32, or as the bits of 16
    └────────────┘┄┄┄┄┄┘

>>> edge_case("store-float32").params["coords"]
[8, 3]

The columns are no multiple of 16 bytes: that is the edge at which a load and a store differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tmalab.errors import InputError
from tmalab.experiment.case import Case
from tmalab.experiment.transfer_case import transfer_case
from tmalab.model.element_types import element_type
from tmalab.model.tensor_map import TensorMap

EDGE_COLUMNS, EDGE_ROWS = 10, 6
EDGE_PITCH = 16  # elements from one row to the next
EDGE_FIRST = 128  # the tensor's first element is this one of the memory: eight such rows lie before it
EDGE_SMEM_BYTES = 512
BITS_SEED = 403  # in the box it puts numbers that round up, down and over, ties, NaNs, an infinity and denormals


def edge_map(dtype: str = "float32", box_dim: tuple[int, ...] = (8, 4), **fields: Any) -> TensorMap:
    """The map of the tensor, 10 columns and 6 rows, with that box."""
    pitch = EDGE_PITCH * element_type(dtype).bytes
    return TensorMap.tiled(dtype, (EDGE_COLUMNS, EDGE_ROWS), (pitch,), box_dim, **fields)


def _case(
    name: str, tm: TensorMap, coords: tuple[int, ...], *, op: str | None = None, store: bool = False, **given: Any
) -> Case:  # fmt: skip
    counted = "iota16" if tm.element.bytes == 2 else "arange_float32"
    to_memory = store or op is not None
    first = EDGE_FIRST * tm.element.bytes
    spec = {
        "memory": {"pattern": counted, "bytes": first + 10 * EDGE_PITCH * tm.element.bytes},
        "smem": {"pattern": counted, "bytes": EDGE_SMEM_BYTES} if to_memory else None,
        "smem_bytes": EDGE_SMEM_BYTES, "address_offset": first, **given,
    }  # fmt: skip
    direction = "reduce" if op else "store" if store else "load"
    return transfer_case(f"edges/small/{name}", tm, direction, coords, op=op, **spec)


def _loads() -> Iterator[Case]:
    yield _case("zero", edge_map(), (4, 4))
    for dtype in ("float32", "float16", "bfloat16"):
        yield _case(f"nan-{dtype}", edge_map(dtype, oob_fill="nan"), (4 if dtype == "float32" else 8, 4))
    yield _case("before", edge_map(), (-4, -2))
    yield _case("larger", edge_map(box_dim=(12, 8)), (0, 0))
    yield _case("outside", edge_map(), (0, 6))
    yield _case("stride-2", edge_map(box_dim=(8, 6), element_strides=(1, 2)), (0, 1))
    yield _case("stride-3", edge_map(box_dim=(8, 8), element_strides=(1, 3)), (0, 0))
    yield _case("inner-stride", edge_map(element_strides=(2, 1)), (0, 0))
    yield _case("padded", edge_map(box_dim=(4, 6), swizzle="32B"), (4, 0))


def _bits() -> Iterator[Case]:
    """The same bits through the float types of 32 bits: loaded, and stored."""
    edges = {"pattern": "float_edges", "dtype": "float32", "seed": BITS_SEED}
    for dtype in ("float32", "float32_ftz", "tfloat32", "tfloat32_ftz"):
        tm = edge_map(dtype, oob_fill="nan")
        yield _case(f"bits-{dtype}", tm, (4, 3), memory={**edges, "bytes": 1152})
        yield _case(f"bits-store-{dtype}", tm, (0, 0), store=True, smem={**edges, "bytes": EDGE_SMEM_BYTES})


def _stores() -> Iterator[Case]:
    for dtype in ("float32", "float16"):
        yield _case(f"store-{dtype}", edge_map(dtype), (8, 3), store=True)
    yield _case("store-rank-1", TensorMap.tiled("float32", (EDGE_COLUMNS,), (), (16,)), (0,), store=True)
    yield _case("add", edge_map(), (8, 3), op="add")
    # From byte 384 on shared memory counts from 192: the first row is larger than what is there, the third smaller.
    yield _case("min", edge_map("float16"), (8, 3), op="min", smem_base=384)
    # Two halves that count make a float32 that is denormal; it is added to zeros.
    for dtype in ("float32", "float32_ftz"):
        denormals = {"pattern": "iota16", "bytes": EDGE_SMEM_BYTES}
        zeros = {"pattern": "fill", "value": 0, "bytes": 1152}
        yield _case(f"denormals-{dtype}", edge_map(dtype), (0, 0), op="add", smem=denormals, memory=zeros)


def edge_cases() -> Iterator[Case]:
    """Every case about the small tensor, named edges/small/…"""
    yield from _loads()
    yield from _bits()
    yield from _stores()


def edge_case(name: str) -> Case:
    """The case edges/small/`name`. Raises InputError for another name."""
    found: Mapping[str, Case] = {case.name.rpartition("/")[2]: case for case in edge_cases()}
    if name not in found:
        raise InputError("no case at the small tensor's edges", field="name", value=name, fix=f"use one of {[*found]}")
    return found[name]
