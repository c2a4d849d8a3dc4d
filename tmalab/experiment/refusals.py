"""What a front end answered where its own check and the driver may part, beside what the driver did, and what landed.

    refusals/past/…      driver: loads      CCCL: refuses      Triton: loads      Pallas: loads

>>> asked_tile(SITUATIONS["past"])[22:26, 0].tolist()   # the last two rows of the tensor, and what is past it
[7168, 7488, 0, 0]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tmalab import model
from tmalab.experiment.memory import make_bytes
from tmalab.experiment.observation import Observation
from tmalab.experiment.refusal_cases import SITUATIONS, Situation
from tmalab.model.encoded_map import decode
from tmalab.model.tensor_map import TensorMap

_ATOM_BYTES = 1024  # the pattern of the widest swizzle begins anew at each


def asked_tile(situation: Situation) -> np.ndarray:
    """The box as it was asked for, uint16 [rows, cols]: each element by its number, 0 past the tensor."""
    task = situation.task
    (rows, cols), (high, wide), (row, col) = task["shape"], task["box"], task["at"]
    row_elems, _ = task.get("strides", (cols, 1))
    steps = task.get("steps", (1, 1))
    down, right = np.arange(row, row + high, steps[0]), np.arange(col, col + wide, steps[1])
    whole = make_bytes({"pattern": "iota16", "bytes": 2 * rows * cols}).view(np.uint16)
    at = down[:, None] * row_elems + right[None, :]
    inside = (down < rows)[:, None] & (right < cols)[None, :]
    return np.where(inside, whole[np.where(inside, at, 0)], 0).astype(np.uint16)


@dataclass(frozen=True)
class Answer:
    """One observation of the group "refusals", judged."""

    situation: Situation
    name: str  # driver, cccl-3.4, triton …
    seen: Observation

    @cached_property
    def refused(self) -> str | None:
        """What the front end, or for the driver the driver, said to it; None where it went through."""
        if self.name == "driver":
            return None if self.seen.values.get("accepted", True) else "INVALID_VALUE"
        said = self.seen.values.get("raised")
        return None if said is None else f"{said['type']}: {said['message']}"

    @cached_property
    def by_the_driver(self) -> bool:
        """Whether it was the driver that refused, asked by the front end, and not a check of the front end's own."""
        asked = self.seen.values.get("encode_calls") or ()
        return any(call["answer"] != 0 for call in asked) or "CUDA_ERROR_INVALID_VALUE" in (self.refused or "")

    @cached_property
    def map(self) -> TensorMap:
        """The map of the copy: captured, or the situation's own where the driver was asked for it."""
        found = self.seen.arrays.get("descriptor")
        return self.situation.tensor_map() if found is None else decode(found.tobytes())

    @cached_property
    def copies(self) -> int:
        """How many boxes of the map make up the tile."""
        if self.map.rank != 2:
            return 1
        high, wide = self.situation.task["box"]
        return int(-(-wide // self.map.box_dim[0]) * -(-high // self.map.box_dim[1]))

    @cached_property
    def bytes_differing(self) -> int | None:
        """Bytes in shared memory that are not the tile that was asked for; None where there is none to compare.

        What a copy does not write, between rows that are narrower than the swizzle's span, is not compared.
        """
        found = self.seen.arrays.get("smem")
        if found is None:
            return None
        expected, written = self._expected()
        size = min(len(found), len(expected))
        return int((found[:size] != expected[:size])[written[:size]].sum())

    def _expected(self) -> tuple[np.ndarray, np.ndarray]:
        """The bytes, and which of them a copy writes. Copies stand one after the other, as wide as the map's box."""
        at = int(self.seen.values.get("smem_address") or 0) % _ATOM_BYTES
        if self.map.rank != 2:
            memory = make_bytes({"pattern": "iota16", "bytes": 2 * int(np.prod(self.situation.task["shape"]))})
            return _loaded(self.map, memory, self.seen["coords"], at)
        tile, parts = asked_tile(self.situation), []
        wide, high = (-(-size // step) for size, step in zip(self.map.box_dim, self.map.element_strides, strict=True))
        for col in range(0, tile.shape[1], wide):
            part = np.ascontiguousarray(tile[:high, col : col + wide])
            shape = part.shape[::-1]
            tm = TensorMap.tiled("float16", shape, (2 * shape[0],), shape, swizzle=self.map.swizzle)
            parts.append(_loaded(tm, part.view(np.uint8).ravel(), (0, 0), at))
        expected, written = zip(*parts, strict=True)
        return np.concatenate(expected), np.concatenate(written)


def _loaded(tm: TensorMap, memory: np.ndarray, coords: Sequence[int], at: int) -> tuple[np.ndarray, np.ndarray]:
    """What the model's load leaves from byte `at` of shared memory on, and which bytes are not as they were before."""
    room = at + tm.footprint_bytes()
    low, high = (
        model.load(tm, memory, coords, smem_bytes=room, smem_base=at, background=value)[at:] for value in (0x00, 0xFF)
    )
    return low, low == high


def answers(observe: Callable[[str], Observation]) -> Iterator[Answer]:
    """Every answer, in the order of the cases; `observe` gives the observation of a case's name."""
    for name, situation in SITUATIONS.items():
        for who in ("driver", *situation.asked):
            yield Answer(situation, who, observe(f"refusals/{name}/{who}"))
