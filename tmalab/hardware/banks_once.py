"""Each of a file's access patterns launched once by this very process, for a profiler to count its wavefronts.

ncu … python -m tmalab.hardware.banks_once patterns.npz ─▶ launch 0, 1, 2 … in the file's order
"""

from __future__ import annotations

import struct
import sys
from pathlib import Path

import numpy as np

from tmalab.hardware.banks_probe import UNROLLED, pattern_table, shared_bytes
from tmalab.hardware.cuda_device import CudaDevice

ROUNDS = 4
ACCESSES = ROUNDS * UNROLLED  # of each launch


def launch_each(addresses: np.ndarray, operations: np.ndarray) -> None:
    """One launch of one warp a pattern. Raises NoHopperGpuError, CudaFault."""
    device = CudaDevice()
    table = pattern_table(addresses, operations)
    patterns, seen, needed = device.upload(table), device.allocate(128), shared_bytes(table)
    kernel = device.kernel("banks_once")
    for index in range(len(table)):
        arguments = [
            struct.pack("<Q", patterns.address + index * table.itemsize),
            *(struct.pack("<I", number) for number in (ROUNDS, 0)),
            struct.pack("<Q", seen.address),
        ]
        device.launch(kernel, arguments, threads=32, shared_bytes=needed)


if __name__ == "__main__":
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_file():
        sys.exit("usage: python -m tmalab.hardware.banks_once PATTERNS.npz")
    with np.load(sys.argv[1], allow_pickle=False) as file:
        launch_each(file["addresses"], file["operations"])
