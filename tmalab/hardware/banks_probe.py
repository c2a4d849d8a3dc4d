"""The probe "banks", in the worker: thousands of access patterns of one warp, each timed in the same launch.

    addresses int32[n, 32] (-1: lane masked off), operations uint8[n] ──banks.cu──▶ cycles of the full pipe, of a chain

What an access costs is a difference, of many rounds and few, so that what the loop costs when idle is in neither. The
idle loop, of no rounds at all, is measured beside them.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

from tmalab.hardware.cuda_device import CudaDevice

WARPS = 16  # four for each scheduler: fewer leave gaps between loads that do not conflict
ROUNDS = (0, 4, 12)
UNROLLED, FIRST_MATRIX = 16, 10  # accesses a round, the first operation on matrices: bank_access.cuh
PATTERN = np.dtype([("addresses", "<u4", 32), ("active", "<u4"), ("operation", "<u4")])
_LANE_BITS = 1 << np.arange(32, dtype=np.uint32)


def pattern_table(addresses: np.ndarray, operations: np.ndarray) -> np.ndarray:
    """`struct Pattern` of bank_access.cuh, one a pattern; a negative address is a lane that takes no part."""
    table = np.zeros(len(addresses), PATTERN)
    table["addresses"] = np.maximum(addresses, 0)
    # All lanes run an ldmatrix, also those whose address it does not take.
    active = (addresses >= 0) | (np.asarray(operations)[:, None] >= FIRST_MATRIX)
    table["active"] = np.where(active, _LANE_BITS, np.uint32(0)).sum(axis=1, dtype=np.uint32)
    table["operation"] = operations
    return table


def shared_bytes(table: np.ndarray) -> int:
    """Shared memory for the highest address and the 16 bytes there."""
    return (int(table["addresses"].max()) + 16 + 1023) // 1024 * 1024


class BanksProbe:
    """Times patterns on one device."""

    def __init__(self, device: CudaDevice):
        self.device = device

    def run(self, params: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Arrays `full` and `chain`: cycles uint32[3, patterns, trials] of each number of ROUNDS. Raises CudaFault."""
        table = pattern_table(params["addresses"], params["operations"])
        times = np.stack([self.times(table, rounds, params["trials"]) for rounds in ROUNDS])
        return {"completed": True, "error": None}, {"full": times[..., 0], "chain": times[..., 1]}

    def times(self, table: np.ndarray, rounds: int, trials: int) -> np.ndarray:
        """Cycles uint32[patterns, trials, 2] of `rounds` rounds: the full pipe, the chain."""
        device, needed = self.device, shared_bytes(table)
        patterns, times = device.upload(table), device.allocate(8 * trials * len(table))
        arguments = [
            struct.pack("<Q", patterns.address),
            *(struct.pack("<I", number) for number in (len(table), trials, rounds, 0, needed)),
            struct.pack("<Q", times.address),
        ]
        device.launch(device.kernel("banks"), arguments, threads=32 * WARPS, shared_bytes=needed)
        seen = device.read(times.address, times.bytes).view(np.uint32).reshape(len(table), trials, 2)
        for buffer in (patterns, times):
            device.free(buffer)
        return seen
