"""What a front end's worker runs: its programs, in a process that owns the GPU and that a hang or a fault may cost.

    probe "cute", {"program": "hang", "expect_tx_bytes": 32776} ─▶ programs/cute_hang.py: run(params) ─▶ values, arrays

A program is a module with `run(params) -> (values, arrays)`. The worker is hardware.worker's own, with this for its
backend: what a deadline or a fault does to it is told there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tmalab.frontends.front_end import require
from tmalab.frontends.program import load_program
from tmalab.hardware.cuda_device import CudaFault
from tmalab.hardware.gpu import find_gpu

# What CuPy and the front ends call an error after which the context is of no more use.
_FAULTS = {
    "IllegalInstruction": "ILLEGAL_INSTRUCTION", "IllegalAddress": "ILLEGAL_ADDRESS", "LaunchFailure": "LAUNCH_FAILED",
    "MisalignedAddress": "MISALIGNED_ADDRESS", "ILLEGAL_INSTRUCTION": "ILLEGAL_INSTRUCTION",
    "ILLEGAL_ADDRESS": "ILLEGAL_ADDRESS", "LAUNCH_FAILED": "LAUNCH_FAILED", "MISALIGNED_ADDRESS": "MISALIGNED_ADDRESS",
}  # fmt: skip


class FrontEndBackend:
    """The GPU, and any front end's programs on it."""

    def __init__(self) -> None:
        self._gpu = find_gpu()

    def describe(self) -> dict[str, Any]:
        """The GPU, as GpuInfo.to_dict gives it."""
        return self._gpu.to_dict()

    def run(self, probe: str, params: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Values and arrays of one program; `package` among the values is the front end's name and version."""
        program = load_program(f"{probe}/{params['program']}")
        try:
            values, arrays = program.run(dict(params))
        except Exception as error:
            name = fault_name(error)
            if name is None:
                raise
            raise CudaFault(name) from error
        installed = {"name": probe, "version": require(probe)}
        return {"completed": True, "error": None, "package": installed, **values}, arrays


def fault_name(error: BaseException) -> str | None:
    """The driver's name of the fault that an error of CuPy, torch or a front end reports, or None if it is none."""
    text = f"{type(error).__name__}: {error}"
    return next((name for sign, name in _FAULTS.items() if sign in text), None)
