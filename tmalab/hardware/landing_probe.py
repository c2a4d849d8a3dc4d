"""The probe "landing", in the worker: when each piece of a tile's destination first changed, many times over.

    box, swizzle, warmth ─▶ kernels/landing.cu, one launch a run ─▶ cycles since the issue, one a piece

A piece's time is an upper bound; `before` is the look before it, which still found the sentinel.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

from tmalab.errors import HardwareError
from tmalab.hardware.cuda_device import CudaDevice
from tmalab.hardware.timed_launch import Measured, tick_ns
from tmalab.hardware.timed_launch import cycles_per_ns as ratio
from tmalab.model.tensor_map_fields import TensorMapFields

WARMTHS = ("warm", "cold_data", "cold")
COLUMNS, ROWS = 1024, 8192  # float16: 16 MiB, a row every 2048 bytes
MOST_PIECES = 992
WARM_UP = 3
OUT = np.dtype(
    [
        ("issue", "<u8", 2),
        ("complete", "<u8"),
        ("finished", "<u8"),
        ("pieces", "<u8", (1024, 2)),
        ("states", "<u8", 256),
    ]
)  # struct Out of landing.cu
_REQUEST = struct.Struct("<4i4I")


class LandingProbe:
    """Lands tiles on one device."""

    def __init__(self, device: CudaDevice):
        self.device, self.measured = device, Measured(device)
        self._tensor, self._rehearsal = (device.allocate(COLUMNS * 2 * ROWS) for _ in range(2))
        for tensor in (self._tensor, self._rehearsal):
            device.fill(tensor.address, 1, tensor.bytes)

    def run(self, params: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Values and arrays over `repeats` runs. Raises CudaFault, HardwareError."""
        box, repeats, piece_bytes = params["box_dim"], params.get("repeats", 1), params["piece_bytes"]
        tm = TensorMapFields.tiled("float16", (COLUMNS, ROWS), (COLUMNS * 2,), box, swizzle=params["swizzle"])
        maps = [self.device.encoder.encode(tm, tensor.address) or b"" for tensor in (self._tensor, self._rehearsal)]
        tile_bytes = 2 * box[0] * box[1]
        pieces = tile_bytes // piece_bytes
        if not all(maps) or not 32 <= pieces <= MOST_PIECES or pieces % 32:
            raise HardwareError(f"no tile of {pieces} pieces can be watched")
        kernel, seen = self.device.kernel("landing"), []
        for run in range(WARM_UP + repeats):
            row = run * 2 * box[1] % (ROWS - 4 * box[1])
            row -= row % box[1]
            request = _REQUEST.pack(
                0, row, 512, row + box[1], tile_bytes, piece_bytes, WARMTHS.index(params["warmth"]),
                params.get("counts", False),
            )  # fmt: skip
            if params["warmth"] != "warm":
                self.measured.evict()
            seen.append(
                self.measured.run(
                    kernel,
                    [*maps, request],
                    OUT,
                    threads=64 if params.get("counts") else 32 + pieces,
                    shared_bytes=1024 + tile_bytes,
                )[0]
            )
        return self._collect_counts(seen[WARM_UP:]) if params.get("counts") else self._collect(seen[WARM_UP:], pieces)

    def _collect_counts(self, seen: list[np.void]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """The states' upper halves [repeats, looks] and their cycles since the issue; 0 and -1 after the last look."""
        if not all(out["finished"] for out in seen):
            raise HardwareError("a tile did not land")
        words = np.array([out["states"] for out in seen])
        looks = int((words != 0).sum(axis=1).max())
        start = np.array([int(out["issue"][0]) for out in seen], np.int64)
        low = (words[:, :looks] & 0xFFFFFFFF).astype(np.int64)
        since = (low - start[:, None] + (1 << 31)) % (1 << 32) - (1 << 31)  # the clock's low half may have turned over
        cycles = np.where(words[:, :looks] == 0, -1, since)
        clocks = self.measured.clocks()
        values = {
            "completed": True, "error": None, "tick_ns": tick_ns(clocks), "cycles_per_ns": round(ratio(clocks), 6)
        }  # fmt: skip
        return values, {"states": (words[:, :looks] >> 32).astype(np.uint32), "state_cycles": cycles.astype(np.int32)}

    def _collect(self, seen: list[np.void], pieces: int) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        if not all(out["finished"] and out["complete"] and out["pieces"][:pieces, 1].all() for out in seen):
            raise HardwareError("a tile did not land")
        start = np.array([out["issue"][0] for out in seen]).astype(np.int64)
        before, first = (
            np.array([out["pieces"][:pieces, at] for out in seen]).astype(np.int64) - start[:, None] for at in (0, 1)
        )
        complete = np.array([out["complete"] for out in seen]).astype(np.int64) - start
        drawn = int(np.argsort(complete, kind="stable")[len(seen) // 2])
        clocks = self.measured.clocks()
        values = {
            "completed": True, "error": None, "drawn": drawn, "tick_ns": tick_ns(clocks),
            "cycles_per_ns": round(ratio(clocks), 6),
            "resolution_cycles": int(np.median(first - before)),
        }  # fmt: skip
        arrays = {
            "landed": first[drawn], "landed_before": before[drawn],
            "landed_median": np.median(first, axis=0), "landed_low": np.quantile(first, 0.1, axis=0),
            "landed_high": np.quantile(first, 0.9, axis=0),
            "issued": np.array([int(out["issue"][1]) for out in seen]) - start,
            "complete": complete, "first": first.min(axis=1), "last": first.max(axis=1),
        }  # fmt: skip
        return values, {name: array.astype(np.int32) for name, array in arrays.items()}
