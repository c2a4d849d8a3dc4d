"""The probe "pipeline", in the worker: a ring of 1 to 8 stages, every compute time, run after run.

    place, tile_bytes ─▶ kernels/pipeline.cu, one launch a run ─▶ cycles of a run [stages, fma, runs], one run's moments

A stage count whose ring has no room in shared memory is -1 everywhere.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tmalab.errors import HardwareError
from tmalab.hardware.cuda_device import MOST_SHARED_BYTES, CudaDevice
from tmalab.hardware.pipeline_tiles import Tiles
from tmalab.hardware.timed_launch import Measured, address, tick_ns
from tmalab.hardware.timed_launch import cycles_per_ns as ratio

MOST_STAGES, KEPT_TILES = 8, 32
CONTROL_BYTES = 2048  # Control of pipeline.cuh, rounded up
ALONE_BYTES = 120 << 10  # of shared memory: more than half, so that no two blocks share a multiprocessor
REHEARSAL_TILES = 16
WARM_UP, PLAIN_RUNS, WATCHED_RUNS = 2, 5, 9
MOMENTS = ("empty_seen", "issued", "wait_begin", "full_seen", "read_end", "full", "empty")
MOMENT = np.dtype([(name, "<u4", KEPT_TILES) for name in MOMENTS])
OUT = np.dtype([
    ("start_ns", "<u8"), ("end_ns", "<u8"), ("end_cycles", "<u4"), ("sum", "<u4"), ("gave_up", "<u4"), ("sm", "<u4"),
    ("looks", "<u4"), ("look_cycles", "<u4"), ("finished", "<u4"), ("_", "<u4"), ("moments", MOMENT),
])  # fmt: skip
_REQUEST = struct.Struct("<10I")


@dataclass(frozen=True)
class Cell:
    """One pipeline: its ring, its tiles and what is done to them."""

    place: str
    tile_bytes: int
    stages: int
    fma: int
    consumers: int
    tiles: int

    def fits(self) -> bool:
        """Whether the ring has room in one block's shared memory."""
        return self.shared_bytes <= MOST_SHARED_BYTES

    @property
    def shared_bytes(self) -> int:
        """What the launch asks for."""
        return max(ALONE_BYTES, self.stages * self.tile_bytes + CONTROL_BYTES)


class PipelineProbe:
    """Runs pipelines on one device."""

    def __init__(self, device: CudaDevice):
        self.device, self.measured, self.tiles = device, Measured(device), Tiles.of(device)
        self.blocks = device.multiprocessors()
        self._arrivals = device.allocate(4)

    def run(self, params: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Values and arrays over `repeats` runs of each cell. Raises CudaFault, HardwareError."""
        repeats, kept = params.get("repeats", 1), params["kept"]
        shape = (len(params["stages"]), len(params["fma"]))
        total, plain = np.full((*shape, repeats), -1, np.int32), np.full(shape, -1, np.int32)
        moments = np.full((*shape, len(MOMENTS), kept), -1, np.int32)
        looks: list[float] = []
        sms: set[int] = set()
        for at, stages in enumerate(params["stages"]):
            for number, fma in enumerate(params["fma"]):
                cell = Cell(
                    params["place"], params["tile_bytes"], stages, fma, params["consumers"], params["tiles"]
                )  # fmt: skip
                if not cell.fits():
                    continue
                seen = [self.launch(cell) for _ in range(WARM_UP + repeats)][WARM_UP:]
                total[at, number] = [_of_blocks(out) for out in seen]
                without = [self.launch(cell, stamps=False) for _ in range(1 + PLAIN_RUNS)][1:]
                plain[at, number] = np.median([_of_blocks(out) for out in without])
                watched = sorted((self.launch(cell, watches=True) for _ in range(WATCHED_RUNS)), key=_of_blocks)
                drawn = watched[WATCHED_RUNS // 2][0]  # the first block of the median run
                moments[at, number] = [drawn["moments"][name][:kept].astype(np.int32) for name in MOMENTS]
                looks.append(int(drawn["look_cycles"]) / int(drawn["looks"]))
                sms.update(int(out["sm"][0]) for out in seen)
        clocks = self.measured.clocks()
        values = {
            "completed": True, "error": None, "tick_ns": tick_ns(clocks), "cycles_per_ns": round(ratio(clocks), 6),
            "look_cycles": round(float(np.median(looks)), 1), "blocks": self.blocks if params["place"] == "all" else 1,
            "sm": sorted(sms), "moments": list(MOMENTS),
        }  # fmt: skip
        # From tile to tile: small numbers, and nearly the same ones, where the times themselves only grow.
        steps = np.diff(moments, axis=-1, prepend=0)
        if np.abs(steps).max() > np.iinfo(np.int16).max:
            raise HardwareError("a tile took longer than the recording can say")
        return values, {"total_cycles": total, "plain_cycles": plain, "moment_steps": steps.astype(np.int16)}

    def launch(self, cell: Cell, *, watches: bool = False, stamps: bool = True, head_start: int = 0) -> np.ndarray:
        """What each block reported of one run; `head_start` is the producer's, in cycles.

        Raises HardwareError where a tile did not come, or came wrong.
        """
        kernel = self.device.kernel("pipeline", () if stamps else ("-DTMALAB_STAMPS=0",))
        blocks = self.blocks if cell.place == "all" else 1
        rehearsal = cell.tiles if cell.place == "l2" else REHEARSAL_TILES
        whole = self.tiles.next_tile(cell.tile_bytes, blocks * (cell.tiles + rehearsal))
        first = whole if cell.place == "l2" else whole + blocks * rehearsal
        request = _REQUEST.pack(
            cell.stages, cell.tile_bytes, cell.consumers, cell.fma, cell.tiles, first, whole, rehearsal, watches,
            head_start,
        )  # fmt: skip
        self.device.fill(self._arrivals.address, 0, 4)
        seen = self.measured.run(
            kernel, [self.tiles.map(cell.tile_bytes), request], OUT, blocks, threads=128 * cell.consumers + 96,
            blocks=blocks, shared_bytes=cell.shared_bytes, after=[address(self._arrivals)],
        )  # fmt: skip
        for block, out in enumerate(seen):
            right = self.tiles.sum_of(cell.tile_bytes, first + block * cell.tiles, cell.tiles)
            if not out["finished"] or out["gave_up"] or int(out["sum"]) != right:
                raise HardwareError(f"{cell}: block {block} gave up at {out['gave_up']}, or a tile was not whole")
        return seen


def _of_blocks(seen: np.ndarray) -> int:
    """A run's cycles; of many blocks the median's, since the first and the last meet another load of the memory."""
    return int(np.median(seen["end_cycles"]))
