"""Rungs of the ladder, one launch each in this very process, for a profiler to look at.

ncu … python -m tmalab.hardware.gemm_once 8192 8192 8192 plain-loads tma … ─▶ kernels named `gemm`, in that order
"""

from __future__ import annotations

import sys

from tmalab.experiment.gemm_plan import gemm_plan, rung
from tmalab.hardware.cuda_device import CudaDevice
from tmalab.hardware.gemm_matrices import Matrices
from tmalab.hardware.gemm_probe import REPORT, load


def run_once(m: int, n: int, k: int, names: list[str]) -> None:
    """Launch each rung once on the same random matrices. Raises NoHopperGpuError, InputError."""
    device = CudaDevice()
    report = device.allocate(REPORT.itemsize)
    matrices = Matrices(device, {"m": m, "n": n, "k": k, "lda": k, "ldb": k, "ldc": n}, seed=1)
    for name in names:
        load(device, gemm_plan(rung(name).name, m, n, k)).launch(device, matrices, report.address)
        device.check(device.driver.cuCtxSynchronize())


if __name__ == "__main__":
    run_once(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
