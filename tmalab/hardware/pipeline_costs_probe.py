"""The probe "pipeline_costs", in the worker: what the parts of a pipeline cost, measured without one.

    kernels/pipeline_costs.cu ─▶ a load [places, tile bytes], a hand-off, a consumer's tile, loads among others' loads

Each is the median over many tiles; of the loads, sixteen equally likely values, because memory has no one answer.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

from tmalab.errors import HardwareError
from tmalab.hardware.cuda_device import CudaDevice
from tmalab.hardware.pipeline_probe import KEPT_TILES, MOMENT, MOST_STAGES, Cell, PipelineProbe
from tmalab.hardware.pipeline_tiles import Tiles
from tmalab.hardware.timed_launch import Measured, address, tick_ns
from tmalab.hardware.timed_launch import cycles_per_ns as ratio

PARTS = ("loads", "handoff", "paced")
PLACES = ("l2", "hbm")
LATENCIES = 16
SETTLED = 8  # tiles after which a paced run has its rate
FAST_TILES = 128  # of a run without a pace
HEAD_START = 20_000  # cycles in which the whole ring fills
SHARE_BYTES = 4096  # the least that a consumer reads of a tile
OUT = np.dtype([
    ("start_ns", "<u8"), ("end_ns", "<u8"), ("end_cycles", "<u4"), ("gave_up", "<u4"), ("sm", "<u4"),
    ("finished", "<u4"), ("moments", MOMENT),
])  # fmt: skip
_REQUEST = struct.Struct("<6I")


class PipelineCostsProbe:
    """Measures the parts on one device."""

    def __init__(self, device: CudaDevice):
        self.device, self.measured, self.tiles = device, Measured(device), Tiles.of(device)
        self.blocks, self.pipeline = device.multiprocessors(), PipelineProbe(device)
        self._arrivals = device.allocate(4)

    def run(self, params: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Arrays, all in cycles: `load` [places, tile bytes, 16], `turn` [tile bytes], `handoff` [full, empty],
        `consume` [tile bytes, fma, consumers, (wait, work, rest)], `paced` [tile bytes, paces, (interval, load)].

        Raises CudaFault, HardwareError.
        """
        repeats, sizes = params.get("repeats", 1), params["tile_bytes"]
        load = [[self._loads(place, size, repeats) for size in sizes] for place in PLACES]
        consume = [
            [[self._consume(size, fma, consumers, repeats) for consumers in params["consumers"]]
             for fma in params["fma"]]
            for size in sizes
        ]  # fmt: skip
        paced = [
            [self._paced(size, pace, repeats) for pace in paces]
            for size, paces in zip(sizes, params["paces"], strict=True)
        ]
        clocks = self.measured.clocks()
        values = {
            "completed": True, "error": None, "tick_ns": tick_ns(clocks), "cycles_per_ns": round(ratio(clocks), 6),
            "blocks": self.blocks,
        }  # fmt: skip
        arrays = {
            "load": load, "turn": [self._turn(size, repeats) for size in sizes], "handoff": self._handoff(repeats),
            "consume": consume, "paced": paced,
        }  # fmt: skip
        return values, {name: np.array(array, np.float32) for name, array in arrays.items()}

    def _launch(
        self, part: str, tile_bytes: int, *, stages: int = 1, pace: int = 0, tiles: int = KEPT_TILES, blocks: int = 1,
        again: int = 0,
    ) -> np.ndarray:  # fmt: skip
        """What each block reported; with `again` the launch is repeated on the same tiles, and the last one counts."""
        first = self.tiles.next_tile(tile_bytes, blocks * tiles)
        request = _REQUEST.pack(PARTS.index(part), stages, tile_bytes, tiles, first, pace)
        for _ in range(1 + again):
            self.device.fill(self._arrivals.address, 0, 4)
            seen = self.measured.run(
                self.device.kernel("pipeline_costs"), [self.tiles.map(tile_bytes), request], OUT, blocks,
                threads=160, blocks=blocks, after=[address(self._arrivals)],
                shared_bytes=Cell("", tile_bytes, stages, 0, 1, tiles).shared_bytes,
            )  # fmt: skip
        if not seen["finished"].all() or seen["gave_up"].any():
            raise HardwareError(f"{part} did not end")
        return seen

    def _between(self, seen: np.ndarray, first: str, last: str) -> np.ndarray:
        """[blocks, tiles]: from one stamp to the other."""
        moments = seen["moments"]
        return moments[last].astype(np.int64) - moments[first].astype(np.int64)

    def _loads(self, place: str, size: int, repeats: int) -> list[float]:
        """From the stage known to be empty until the waiting consumer has seen it full, one load at a time."""
        taken = [
            self._between(self._launch("loads", size, again=2 * (place == "l2")), "empty_seen", "full_seen")[0, 2:]
            for _ in range(repeats)
        ]
        found = np.quantile(np.concatenate(taken), (np.arange(LATENCIES) + 0.5) / LATENCIES)
        return [float(one) for one in found]

    def _turn(self, size: int, repeats: int) -> float:
        """From one stage of a burst of four to the next: the producer's own time."""
        starts = [self._launch("loads", size, stages=4)["moments"]["empty_seen"][0] for _ in range(repeats)]
        return float(np.median(np.diff(np.array(starts).astype(np.int64).reshape(repeats, -1, 4)[:, 1:], axis=-1)))

    def _handoff(self, repeats: int) -> list[float]:
        """From an arrival to the return of the wait at the other side: on full, and on empty."""
        seen = [self._launch("handoff", 4096) for _ in range(repeats)]
        ways = (("issued", "full_seen"), ("read_end", "empty_seen"))
        return [float(np.median([self._between(one, *way)[0, 2:] for one in seen])) for way in ways]

    def _consume(self, size: int, fma: int, consumers: int, repeats: int) -> list[float]:
        """A wait that is satisfied at once, the work, and what else a turn takes: of a ring that was filled before."""
        if size // consumers < SHARE_BYTES:
            return [-1.0, -1.0, -1.0]
        stages = _most_stages(size)
        cell = Cell("l2", size, stages, fma, consumers, stages)
        seen = [self.pipeline.launch(cell, head_start=HEAD_START)["moments"] for _ in range(max(4, repeats // 2))]
        wait, work = (
            float(np.median([one[last][0, 1:stages].astype(np.int64) - one[first][0, 1:stages] for one in seen]))
            for first, last in (("wait_begin", "full_seen"), ("full_seen", "read_end"))
        )
        turn = float(np.median([np.diff(one["read_end"][0, :stages].astype(np.int64)) for one in seen]))
        return [wait, work, turn - wait - work]

    def _paced(self, size: int, pace: int, repeats: int) -> list[float]:
        """With a block on every multiprocessor: the interval that the loads had, and how long each took, on average."""
        stages, found = _most_stages(size), []
        for _ in range(max(3, repeats // 4)):
            seen = self._launch(
                "paced", size, stages=stages, pace=pace, blocks=self.blocks, tiles=KEPT_TILES if pace else FAST_TILES
            )
            starts = seen["moments"]["empty_seen"][:, SETTLED:].astype(np.int64)
            took = self._between(seen, "empty_seen", "full_seen")[:, SETTLED:]
            interval = np.mean(np.diff(starts)) if pace else np.median(seen["end_cycles"]) / FAST_TILES
            found.append([float(interval), float(took.mean())])
        return [float(one) for one in np.median(found, axis=0)]


def _most_stages(tile_bytes: int) -> int:
    """How many of that size a ring may have."""
    return max(count for count in range(1, MOST_STAGES + 1) if Cell("", tile_bytes, count, 0, 1, 1).fits())
