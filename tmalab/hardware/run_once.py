"""One launch of one add_one kernel in this very process, for a profiler to look at.

    ncu … python -m tmalab.hardware.run_once tma ─▶ one kernel, no stamps, no warm-up

A profiler follows the process that it starts; the worker would be another.
"""

from __future__ import annotations

import sys

import numpy as np

from tmalab.hardware.add_one_probe import SHAPE, THREADS, VARIANTS, AddOneProbe
from tmalab.hardware.cuda_device import CudaDevice


def run_once(variant: str) -> bool:
    """Launch the kernel once; True if b is a + 1 in every element. Raises NoHopperGpuError."""
    device = CudaDevice()
    a = np.arange(SHAPE[0] * SHAPE[1], dtype=np.float32)
    a_buffer, b_buffer, report = device.upload(a), device.allocate(a.nbytes), device.allocate(64)
    arguments = AddOneProbe(device).arguments(variant, a_buffer, b_buffer, report)
    device.fill(report.address, 0, report.bytes)
    device.launch(device.kernel(f"add_one_{variant}"), arguments, threads=THREADS)
    return bool((device.read(b_buffer.address, a.nbytes).view(np.float32) == a + 1).all())


if __name__ == "__main__":
    if sys.argv[1:2] == [] or sys.argv[1] not in VARIANTS:
        sys.exit(f"usage: python -m tmalab.hardware.run_once {'|'.join(VARIANTS)}")
    sys.exit(0 if run_once(sys.argv[1]) else 1)
