"""Where a front end's own check and the driver may part: one situation each, asked of the driver and of front ends.

    refusals/past/driver      a box of 32 rows over a tensor of 24: does it load, and what?
    refusals/past/triton      the same through Triton: its refusal, word for word, or its tile
    refusals/tall/cccl-3.4    one package in two versions

>>> [case.name for case in refusal_cases()][:3]
['refusals/tall/driver', 'refusals/tall/cccl-3.4', 'refusals/tall/cccl-3.5']

All are "one tile, many front ends" with a number changed, so that its programs answer them too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tmalab.experiment.case import Case
from tmalab.experiment.encode_cases import ADDRESS, encode_case
from tmalab.experiment.transfer_case import transfer_case
from tmalab.model.tensor_map import TensorMap

TASK: dict[str, Any] = {"shape": (192, 320), "box": (32, 64), "at": (96, 128), "swizzle": "128B"}
# CCCL's wheels of two versions of its own: the check of one was mended in the other.
CCCL = {"cccl-3.4": "13.3.4.3.1", "cccl-3.5": "13.3.5.0.6"}
_WAYS = {"triton": "host", "tilelang": "tma_copy"}
_ALL = (*CCCL, "cudacore", "triton", "tilelang", "pallas", "cute")


@dataclass(frozen=True)
class Situation:
    """`words` say what is unusual, `changes` is what differs from TASK; `loads` if the driver takes the map."""

    words: str
    changes: dict[str, Any]
    asked: tuple[str, ...] = _ALL
    loads: bool = True

    @property
    def task(self) -> dict[str, Any]:
        """The whole task: TASK with the changes."""
        return {**TASK, **self.changes}

    def tensor_map(self, address: int | None = None) -> TensorMap:
        """The map as the driver counts: innermost first, strides in bytes."""
        task = self.task
        (rows, cols), (high, wide) = task["shape"], task["box"]
        row_elems, _ = task.get("strides", (cols, 1))
        return TensorMap.tiled(
            "float16", (cols, rows), (2 * row_elems,), (wide, high), element_strides=task.get("steps", (1, 1))[::-1],
            swizzle=task["swizzle"], address=address,
        )  # fmt: skip


SITUATIONS = {
    "tall": Situation("96 rows: 192 bytes, were rows the inner dimension", {"box": (96, 64)}),
    "low": Situation("4 rows: 8 bytes, were rows the inner dimension", {"box": (4, 64)}),
    "past": Situation("a box of 32 rows over a tensor of 24", {"shape": (24, 320), "at": (0, 128)}),
    "edge": Situation(  # CuTe's tiles are a grid, and this one is between two of its lines
        "a box whose last 16 rows are past the tensor", {"at": (176, 128)},
        (*CCCL, "cudacore", "triton", "tilelang", "pallas"),
    ),
    "narrow": Situation(
        "64 bytes in a row, half of the swizzle's span", {"box": (32, 32)},
        (*CCCL, "triton", "tilelang", "pallas", "cute"),
    ),
    "odd": Situation("24 rows, no power of two", {"box": (24, 64)}),
    "wide": Situation("256 bytes in a row, twice the swizzle's span", {"box": (32, 128)}, loads=False),
    "stride": Situation("rows 648 bytes apart, no multiple of 16", {"shape": (192, 324)}, loads=False),
    "repeat": Situation("rows 0 bytes apart: one row, 192 times", {"strides": (0, 1)}, (*CCCL, "tilelang")),
    "overlap": Situation("rows 128 bytes apart that are 640 long", {"strides": (64, 1)}, (*CCCL, "tilelang")),
    "step": Situation(
        "every eighth of 4 rows", {"shape": (4, 320), "box": (4, 64), "at": (0, 128), "steps": (8, 1)}, ("cccl-3.5",)
    ),
}  # fmt: skip


def refusal_cases() -> Iterator[Case]:
    """Every situation: the driver, with a load where it takes the map, then each front end that can be asked."""
    for name, situation in SITUATIONS.items():
        yield _driver_case(f"refusals/{name}/driver", situation)
        for asked in situation.asked:
            params = {"program": "tile", "way": _WAYS.get(asked, "default"), **situation.task}
            if asked in CCCL:
                yield Case(f"refusals/{name}/{asked}", "cccl", {**params, "version": CCCL[asked]})
            else:
                yield Case(f"refusals/{name}/{asked}", asked, params)


def _driver_case(name: str, situation: Situation) -> Case:
    if not situation.loads:
        return encode_case(name, situation.tensor_map(ADDRESS))
    tm = situation.tensor_map()
    rows, cols = situation.task["shape"]
    memory = {"pattern": "iota16", "bytes": 2 * rows * cols}
    smem_bytes = -(-tm.footprint_bytes() // 1024) * 1024
    return transfer_case(name, tm, "load", situation.task["at"][::-1], memory=memory, smem_bytes=smem_bytes)
