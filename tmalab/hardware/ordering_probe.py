"""The probe "ordering", in the worker: a fence or a barrier taken away, and how many of thousands of runs failed.

experiment, publish, order ─▶ kernels/ordering.cu ─▶ values runs, hung, wrong_runs, wrong_words
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

from tmalab.hardware.cuda_device import CudaDevice
from tmalab.hardware.timed_launch import Measured, address
from tmalab.model.tensor_map_fields import TensorMapFields

EXPERIMENTS = ("init", "store", "fetch")
PUBLISH = ("neither", "fence_mbarrier_init", "fence_proxy_async")
# bits of enum Fence
ORDER = {"fence_by_all": 1, "fence_after_by_all": 2, "fence_after_by_issuer": 4, "cta_barrier": 8}
TILE_ROWS, TILE_BYTES, THREADS = 32, 4096, 256
COUNTS = np.dtype([("runs", "<u4"), ("hung", "<u4"), ("wrong_runs", "<u4"), ("wrong_words", "<u4")])


class OrderingProbe:
    """Runs many blocks of many rounds each on one device."""

    def __init__(self, device: CudaDevice):
        self.device, self.measured = device, Measured(device)

    def run(self, params: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Values alone: the counts. Raises CudaFault."""
        blocks, rounds = params["blocks"], params["rounds"]
        # Every word of the tensor holds 1, which an init experiment loads; a store experiment writes its rounds there.
        memory = self.device.upload(np.ones(blocks * TILE_BYTES // 4, np.uint32))
        tm = TensorMapFields.tiled("float16", (64, blocks * TILE_ROWS), (128,), (64, TILE_ROWS))
        encoded = self.device.encoder.encode(tm, memory.address) or b""
        request = struct.pack(
            "<5I", EXPERIMENTS.index(params["experiment"]), PUBLISH.index(params.get("publish", "neither")),
            sum(ORDER[name] for name in params["order"]), rounds,
            params.get("late_cycles", 0),
        )  # fmt: skip
        kernel = self.device.kernel("ordering")
        (seen,) = self.measured.run(kernel, [encoded, request, address(memory)], COUNTS, threads=THREADS, blocks=blocks)
        self.device.free(memory)
        counts = {name: int(seen[name]) for name in COUNTS.names or ()}
        return {"completed": counts["hung"] == 0, "error": None, **counts}, {}
