"""A front end's worker without a front end or a GPU. No test module."""

import time

import numpy as np

from tmalab.errors import InputError

GPU = {
    "name": "FAKE H200", "compute_capability": "9.0", "driver": "580.0", "cuda": "13.0", "nvrtc": "13.0",
    "cupy": "14.2", "bindings": "13.0", "ordinal": 0,
}  # fmt: skip


class CudaFault(Exception):
    """As cuda_device.CudaFault; the worker knows it by its name."""

    name = "LAUNCH_FAILED"


class FakeBackend:
    def describe(self):
        return GPU

    def run(self, probe, params):
        match params.get("armed_bytes"):
            case 1:
                raise CudaFault("one arrival too many")
            case 2:
                time.sleep(60)
            case 3:
                raise InputError("no such program", field="program", value="x", fix="use another")
        return {"completed": True, "error": None, "params": params, "probe": probe}, {"ms": np.zeros(3)}
