"""The cases of "one tile, many front ends": one swizzled fp16 tile, asked of the engine itself and of each front end.

    192 x 320 fp16, row-major ─ box 32 x 64 at (96, 128), 128B swizzle ─▶ 4096 bytes of shared memory
    frontends/raw/load   frontends/raw/descriptor   frontends/triton/host   frontends/triton/device   …

>>> [case.name for case in frontend_tile_cases()][:3]
['frontends/raw/load', 'frontends/raw/descriptor', 'frontends/cute/default']

No side is as long as another, so that the order of every list shows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tmalab.experiment.case import Case
from tmalab.experiment.encode_cases import ADDRESS, encode_case
from tmalab.experiment.transfer_case import transfer_case
from tmalab.model.tensor_map import TensorMap

# NumPy order, as people write it; the programs reverse where their front end wants it so.
TASK: dict[str, Any] = {"shape": (192, 320), "box": (32, 64), "at": (96, 128), "swizzle": "128B"}
SMEM_BYTES = 4096
MEMORY = {"pattern": "iota16", "bytes": 2 * 192 * 320}  # element (row, col) holds 320 * row + col, as 16 bits
# (front end, way through it); the raw one is this package's own kernel.
WAYS = (
    ("cute", "default"), ("tirx", "default"), ("tirx", "own map"), ("triton", "host"), ("triton", "device"),
    ("cudacore", "default"),
    ("tilelang", "tma_copy"), ("tilelang", "copy"), ("pallas", "default"), ("cccl", "default"), ("numba", "inline"),
    ("numba", "argument"),
)  # fmt: skip
TITLES = {
    "cute": "CuTe DSL", "tirx": "TIRx", "triton": "Triton", "cudacore": "cuda.core", "tilelang": "TileLang",
    "pallas": "Pallas", "cccl": "CCCL", "numba": "numba-cuda",
}  # fmt: skip


def way_names() -> dict[tuple[str, str], str]:
    """Every way's name: `Triton device`, and `CCCL` where there is but one way."""
    several = {front_end for front_end, _ in WAYS if sum(front_end == other for other, _ in WAYS) > 1}
    return {
        (front_end, way): f"{TITLES[front_end]} {way.replace('_', ' ')}" if front_end in several else TITLES[front_end]
        for front_end, way in WAYS
    }


def task_map(address: int | None = None) -> TensorMap:
    """The map that everyone is asked for, as the driver counts: innermost first, strides in bytes."""
    rows, cols = TASK["shape"]
    return TensorMap.tiled(
        "float16", (cols, rows), (2 * cols,), TASK["box"][::-1], swizzle=TASK["swizzle"], address=address
    )


def tile_case(front_end: str, way: str) -> Case:
    """The case of one way through a front end."""
    name = f"frontends/{front_end}/{way.replace(' ', '-')}"
    return Case(name, front_end, {"program": "tile", "way": way, **TASK})


def frontend_tile_cases() -> Iterator[Case]:
    """The tile through raw PTX and the driver's own encoder, and through every front end."""
    yield transfer_case(
        "frontends/raw/load", task_map(), "load", TASK["at"][::-1], memory=MEMORY, smem_bytes=SMEM_BYTES
    )
    yield encode_case("frontends/raw/descriptor", task_map(ADDRESS))
    for front_end, way in WAYS:
        yield tile_case(front_end, way)
