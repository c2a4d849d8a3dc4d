"""The catalogue: every named case of the book, once, as data that the recorder, the tests and the chapters share.

    tile/128B/r0/c64/b256     group / what is varied …
    ╰group╯                   one group, one builder here, one file of recordings

>>> case("tile/128B/r0/c64/b256").params["coords"]
[64, 0]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from tmalab.errors import InputError
from tmalab.experiment.atoms_cases import atoms_cases
from tmalab.experiment.bank_cases import bank_cases
from tmalab.experiment.barrier_word_cases import barrier_word_cases
from tmalab.experiment.box_cases import box_cases, fault_case
from tmalab.experiment.case import Case
from tmalab.experiment.cost_cases import cost_cases
from tmalab.experiment.cute_cases import cute_cases
from tmalab.experiment.edge_cases import edge_cases
from tmalab.experiment.encode_cases import encode_cases
from tmalab.experiment.facts import fact_cases
from tmalab.experiment.frontend_tile_cases import frontend_tile_cases
from tmalab.experiment.gallery_cases import gallery_cases
from tmalab.experiment.gemm_cases import gemm_cases
from tmalab.experiment.pipeline_cases import pipeline_cases
from tmalab.experiment.refusal_cases import refusal_cases
from tmalab.experiment.store_cases import ordering_cases, reuse_cases
from tmalab.experiment.tiling_cases import tiling_cases
from tmalab.experiment.timeline_cases import landing_cases, parity_cases, timeline_cases
from tmalab.experiment.tirx_cases import tirx_cases
from tmalab.experiment.transfer_case import transfer_case
from tmalab.experiment.wgmma_cases import wgmma_cases
from tmalab.model.tensor_map import TensorMap

# --- Figure 1: one tile through the engine ---------------------------------------------------------------------------

# The box that each mode legally allows, innermost first: one row of it fills the swizzle span.
TILE_BOXES = {"none": (64, 8), "32B": (16, 8), "64B": (32, 8), "128B": (64, 8)}
TILE_ROWS = (0, 3, 8)
TILE_COLS = (0, 8, 64)  # a coordinate is 16-byte aligned: with 2-byte elements, a multiple of 8
TILE_BASES = tuple(range(0, 1025, 128))
TILE_MEMORY = {"pattern": "iota16", "bytes": 4096}  # element (row, col) holds 128 * row + col


def tile_figure_map(swizzle: str) -> TensorMap:
    """The map of Figure 1's tensor, 16 rows of 128 fp16 elements, with the box that `swizzle` allows."""
    if swizzle not in TILE_BOXES:
        raise InputError("not in Figure 1", field="swizzle", value=swizzle, fix=f"use one of {', '.join(TILE_BOXES)}")
    return TensorMap.tiled("float16", (128, 16), (256,), TILE_BOXES[swizzle], swizzle=swizzle)


def tile_figure_case(swizzle: str, row: int, col: int, base: int) -> Case:
    """Figure 1 in one state: the box at (`row`, `col`) of the tensor, put at shared address `base`."""
    return transfer_case(
        f"tile/{swizzle}/r{row}/c{col}/b{base}", tile_figure_map(swizzle), "load", (col, row), memory=TILE_MEMORY,
        smem_bytes=3072, smem_base=base,
    )  # fmt: skip


def tile_cases() -> Iterator[Case]:
    """All states of Figure 1 that its controls reach."""
    for swizzle in TILE_BOXES:
        for row in TILE_ROWS:
            for col in TILE_COLS:
                for base in TILE_BASES:
                    yield tile_figure_case(swizzle, row, col, base)


# --- A first tile: add one to an (8, 32) float32 tile, in three ways --------------------------------------------------

ADD_ONE_VARIANTS = ("tma", "plain", "cp_async")


def add_one_cases() -> Iterator[Case]:
    """The same tile brought in by the engine, by plain loads and by cp.async."""
    for variant in ADD_ONE_VARIANTS:
        yield Case(f"add_one/{variant}", "add_one", {"variant": variant})


# --- Barriers: the promise that is not kept, and the faults ----------------------------------------------------------


def _float_map(**changes: Any) -> TensorMap:
    """A 32x32 float32 tensor and a 16x8 box of it, the small one that the book's single questions are put to."""
    fields: dict[str, Any] = {"global_dim": (32, 32), "global_strides": (128,), "box_dim": (16, 8)}
    return TensorMap.tiled("float32", **{**fields, **changes})


FLOAT_MEMORY = {"pattern": "arange_float32", "bytes": 4096}


def _load(name: str, coords: tuple[int, ...], tensor_map: TensorMap | None = None, **changes: Any) -> Case:
    tensor_map = _float_map() if tensor_map is None else tensor_map
    return transfer_case(name, tensor_map, "load", coords, **{"memory": FLOAT_MEMORY, "smem_bytes": 1024, **changes})


def _to_memory(name: str, direction: str, coords: tuple[int, ...], tensor_map: TensorMap, **changes: Any) -> Case:
    smem = {"pattern": "arange_float32", "bytes": 1024}
    given = {"memory": {"pattern": "fill", "value": 0, "bytes": 4096}, "smem": smem, "smem_bytes": 1024, **changes}
    return transfer_case(name, tensor_map, direction, coords, **given)


def barrier_cases() -> Iterator[Case]:
    """A barrier armed for the right number of bytes (512), for fewer and for more."""
    yield _load("barrier/armed-right", (0, 0), expect_tx_bytes=512)
    yield _load("barrier/armed-16-bytes-short", (0, 0), expect_tx_bytes=496)
    yield _load("barrier/armed-16-bytes-over", (0, 0), expect_tx_bytes=528)


def fault_cases() -> Iterator[Case]:
    """Launches that the engine refuses although the encoder took the map; each costs a worker and nothing else."""
    yield _load("fault/inner-coordinate-1", (1, 0))
    yield _load("fault/smem-base-64", (0, 0), smem_base=64)
    yield _to_memory("fault/store-negative-row", "store", (0, -1), _float_map())
    uint8_map = TensorMap.tiled("uint8", (128, 32), (128,), (64, 8))
    yield _to_memory("fault/reduce-add-uint8", "reduce", (0, 0), uint8_map, op="add")
    yield fault_case()


# --- Edges -----------------------------------------------------------------------------------------------------------


def edges_cases() -> Iterator[Case]:
    """What happens where the box leaves the tensor, skips elements, or meets what was there."""
    corner = (24, 28)  # 8 of 16 columns and 4 of 8 rows of the box lie inside
    yield _load("edges/fill-zero", corner)
    yield _load("edges/fill-nan", corner, _float_map(oob_fill="nan"))
    yield _load("edges/before-the-start", (-4, -2))
    yield _load("edges/all-outside", (32, 0))
    yield _load("edges/wider-than-the-tensor", (0, 0), _float_map(box_dim=(64, 4)), smem_bytes=2048)
    yield _load("edges/element-strides", (0, 0), _float_map(element_strides=(1, 2)))
    yield _load("edges/inner-element-stride", (0, 0), _float_map(element_strides=(2, 1)))
    yield _load("edges/padded-rows", (0, 0), _float_map(box_dim=(4, 8), swizzle="64B"))
    # 30 columns: the row's last 16-byte chunk holds two elements and 8 bytes that are nobody's
    ragged = _float_map(global_dim=(30, 32))
    yield _to_memory("edges/store-clip", "store", (16, 0), ragged)
    yield _to_memory("edges/store-past-the-end", "store", corner, _float_map())
    yield _to_memory("edges/reduce-add", "reduce", corner, _float_map(), op="add", memory=FLOAT_MEMORY)
    yield _to_memory("edges/reduce-clip", "reduce", (16, 0), ragged, op="add", memory=FLOAT_MEMORY)
    yield from edge_cases()


# One entry a group, in the order in which they are recorded and listed.
GROUPS: dict[str, Callable[[], Iterator[Case]]] = {
    "tile": tile_cases,
    "add_one": add_one_cases,
    "barrier": barrier_cases,
    "fault": fault_cases,
    "edges": edges_cases,
    "encode": encode_cases,
    "box": box_cases,
    "facts": fact_cases,
    "banks": bank_cases,
    "cost": cost_cases,
    "wgmma": wgmma_cases,
    "atoms": atoms_cases,
    "tiling": tiling_cases,
    "gallery": gallery_cases,
    "timeline": timeline_cases,
    "landing": landing_cases,
    "parity": parity_cases,
    "counts": barrier_word_cases,
    "reuse": reuse_cases,
    "ordering": ordering_cases,
    "cute": cute_cases,
    "pipeline": pipeline_cases,
    "tirx": tirx_cases,
    "frontends": frontend_tile_cases,
    "refusals": refusal_cases,
    "gemm": gemm_cases,
}


@lru_cache(maxsize=1)
def _all_cases() -> dict[str, Case]:
    return {found.name: found for build in GROUPS.values() for found in build()}


def cases() -> dict[str, Case]:
    """All named cases, by name, in the catalogue's order."""
    return dict(_all_cases())


def group(name: str) -> list[Case]:
    """The cases of one group. Raises InputError for an unknown one."""
    if name not in GROUPS:
        raise InputError("unknown group", field="group", value=name, fix=f"use one of {', '.join(GROUPS)}")
    return list(GROUPS[name]())


def case(name: str) -> Case:
    """The case of that name. Raises InputError, with the nearest names, where there is none."""
    found = _all_cases().get(name) if isinstance(name, str) else None
    if found is None:
        # A 10 MB name is nobody's slip of the pen, and difflib would take minutes over it.
        near = (
            get_close_matches(name, _all_cases(), n=3, cutoff=0.6) if isinstance(name, str) and len(name) < 200 else []
        )
        fix = f"use {' or '.join(near)}" if near else "see tmalab observe --list"
        raise InputError("no case of this name in the catalogue", field="case", value=name, fix=fix)
    return found
