"""The probe "parity", in the worker: seven tiles over one barrier, the consumer's parity chosen by a rule.

rule, pace ─▶ kernels/parity.cu, one launch a run ─▶ answers int32[repeats, 7 tiles, 12]
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

from tmalab.hardware.cuda_device import CudaDevice
from tmalab.hardware.timed_launch import Measured
from tmalab.model.tensor_map_fields import TensorMapFields

RULES = ("right", "always_0", "always_1", "loop_index", "inverted")
PACES = ("early", "late", "free")
TILES, TILE_WORDS, TILE_ROWS = 7, 512, 16
ANSWERS = (
    "unarmed_0", "unarmed_1", "flight_0", "flight_1", "parity", "completed", "tries", "waited_cycles", "lowest",
    "highest", "after_0", "after_1",
)  # fmt: skip
OUT = np.dtype(("<u4", (TILES, len(ANSWERS))))


class ParityProbe:
    """Runs the seven tiles on one device."""

    def __init__(self, device: CudaDevice):
        self.device, self.measured = device, Measured(device)
        # Every word of tile i holds i + 1. The second tensor is the rehearsal's.
        words = np.repeat(np.arange(1, TILES + 1, dtype=np.uint32), TILE_WORDS)
        self._tensors = [device.upload(words) for _ in range(2)]

    def run(self, params: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Values and `answers`. Raises CudaFault."""
        kernel = self.device.kernel("parity")
        tm = TensorMapFields.tiled("float16", (64, TILES * TILE_ROWS), (128,), (64, TILE_ROWS))
        maps = [self.device.encoder.encode(tm, tensor.address) or b"" for tensor in self._tensors]
        request = struct.pack("<2I", RULES.index(params["rule"]), PACES.index(params["pace"]))
        runs = []
        for _ in range(params.get("repeats", 1)):
            if params["pace"] != "free":  # whose producer would arrive too often before a slow load: a fault
                self.measured.evict()
            runs.append(self.measured.run(kernel, [*maps, request], np.dtype("<u4"), TILES * len(ANSWERS), threads=96))
        answers = np.array(runs).reshape(-1, TILES, len(ANSWERS)).astype(np.int32)
        return {"completed": True, "error": None, "answers": list(ANSWERS)}, {"answers": answers}
