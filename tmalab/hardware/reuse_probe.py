"""The probe "reuse", in the worker: stores, every place for their commits, every wait, and the buffer overwritten.

stores 1 to 4 ─▶ kernels/reuse.cu, one launch a combination ─▶ new lines [masks, waits, rounds, stores]
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

from tmalab.hardware.cuda_device import CudaDevice
from tmalab.hardware.timed_launch import Measured, address
from tmalab.hardware.timed_launch import cycles_per_ns as ratio
from tmalab.model.tensor_map_fields import TensorMapFields

STORE_LINES, MOST_STORES = 128, 4  # a line is 128 bytes: a store is 16 KiB, or less with fewer `rows`
# (kind, N): enum Wait of reuse.cu, and wait_group's operand
WAITS = (("none", 0), *((kind, n) for kind in ("read", "group") for n in range(MOST_STORES)))
_KINDS = ("none", "read", "group")
ROUND = np.dtype([
    ("new_lines", "<u4", 4), ("issue", "<u4"), ("wait", "<u4"), ("done", "<u4"), ("overwritten", "<u4"),
])  # fmt: skip


class ReuseProbe:
    """Stores and overwrites on one device."""

    def __init__(self, device: CudaDevice):
        self.device, self.measured = device, Measured(device)
        self._memory = device.allocate(MOST_STORES * STORE_LINES * 128)

    def run(self, params: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Values and arrays; the axis `masks` holds every set of stores that a commit follows, bit i for store i."""
        stores, rounds, peek = params["stores"], params.get("repeats", 1), params.get("peek", False)
        rows = params.get("rows", STORE_LINES)
        masks = list(params.get("masks", range(1 << stores)))
        shape = (len(masks), len(WAITS))
        new_lines = np.zeros((*shape, rounds, stores), np.uint8)
        cycles = np.zeros((*shape, rounds, 4), np.int32)
        line_runs = np.zeros((*shape, stores * rows), np.uint16)
        for at, mask in enumerate(masks):
            for wait, (kind, n) in enumerate(WAITS):
                seen, counted = self._launch(stores, rows, mask, kind, n, rounds, peek)
                new_lines[at, wait] = seen["new_lines"][:, :stores]
                cycles[at, wait] = np.stack([seen[name] for name in ("issue", "wait", "overwritten", "done")], axis=-1)
                line_runs[at, wait] = counted
        values = {
            "completed": True, "error": None, "masks": masks, "waits": [list(wait) for wait in WAITS], "rounds": rounds,
            "cycles_per_ns": round(ratio(self.measured.clocks()), 6),
        }  # fmt: skip
        if peek:
            return values, {"not_arrived": new_lines, "wait_cycles": cycles[..., 1], "done_cycles": cycles[..., 3]}
        arrays = {"new_lines": new_lines, "line_runs": line_runs}
        # Of the rounds' times the median and the two ends; the waits are what the figure is about.
        for at, name in enumerate(("issue", "wait", "overwritten", "done")):
            arrays[f"{name}_cycles"] = np.quantile(cycles[..., at], (0.1, 0.5, 0.9), axis=-1).astype(np.int32)
        return values, arrays

    def _launch(
        self, stores: int, rows: int, mask: int, kind: str, n: int, rounds: int, peek: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        kernel = self.device.kernel("reuse")
        tm = TensorMapFields.tiled("float16", (64, MOST_STORES * STORE_LINES), (128,), (64, rows))
        encoded = self.device.encoder.encode(tm, self._memory.address) or b""
        counts = self.device.allocate(4 * MOST_STORES * STORE_LINES)
        self.device.fill(counts.address, 0, counts.bytes)
        request = struct.pack("<7I", stores, mask, _KINDS.index(kind), n, rounds, peek, rows)
        seen = self.measured.run(
            kernel, [encoded, request, address(self._memory)], ROUND, rounds, threads=512,
            shared_bytes=stores * rows * 128, after=[address(counts)],
        )  # fmt: skip
        counted = self.device.read(counts.address, counts.bytes).view(np.uint32)[: stores * rows]
        self.device.free(counts)
        return seen, counted
