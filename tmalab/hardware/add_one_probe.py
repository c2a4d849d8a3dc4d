"""The probe "add_one", in the worker: the same (8, 32) float32 tile brought in three ways, one added, and timed.

    tma         one thread asks, the engine moves         plain      ld.global → register → st.shared
    cp_async    16 bytes a thread, past the registers

Cycles come from a build with clock stamps; registers and instructions from one without.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

from tmalab.errors import HardwareError
from tmalab.hardware.cubin import sass_instructions
from tmalab.hardware.cuda_device import Buffer, CudaDevice, Kernel
from tmalab.model.tensor_map_fields import TensorMapFields

VARIANTS = ("tma", "plain", "cp_async")
SHAPE = (8, 32)
STAGES = ("load", "add", "store")
THREADS = 32
_REPORT = struct.Struct("<5Q")  # struct Report of add_one_io.cuh
_STAMPS = ("-DTMALAB_STAMPS=1",)
_WARM_UP = 3  # the first runs of a kernel find the caches cold


class AddOneProbe:
    """Runs the three kernels on one device."""

    def __init__(self, device: CudaDevice):
        self.device = device

    def run(self, params: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Values and arrays of one variant, `repeats` times. Raises CudaFault, HardwareError."""
        variant, device, repeats = params["variant"], self.device, params.get("repeats", 1)
        counted, timed = (device.kernel(f"add_one_{variant}", options) for options in ((), _STAMPS))
        a = np.arange(SHAPE[0] * SHAPE[1], dtype=np.float32).reshape(SHAPE)
        a_buffer, b_buffer, report = device.upload(a), device.allocate(a.nbytes), device.allocate(_REPORT.size)
        arguments = self.arguments(variant, a_buffer, b_buffer, report)
        device.fill(b_buffer.address, 0xCD, a.nbytes)  # an element that nothing writes shows itself
        self._launch(counted, arguments, report)
        b = device.read(b_buffer.address, a.nbytes).view(np.float32).reshape(SHAPE)
        stamps = [self._launch(timed, arguments, report) for _ in range(_WARM_UP + repeats)][_WARM_UP:]
        for buffer in (a_buffer, b_buffer, report):
            device.free(buffer)
        stages = np.diff(np.array(stamps, np.int64), axis=1)
        values = {
            "completed": True,
            "error": None,
            "registers": counted.registers,
            "local_bytes": counted.local_bytes,
            "sass_instructions": sass_instructions(counted.cubin, f"add_one_{variant}"),
            "instructions": None,  # executed: only a profiler counts them (ncu.py); runner.py adds what it counted
            "stages": list(STAGES),
        }
        return values, {"a": a, "b": b, "cycles": stages.sum(axis=1), "stage_cycles": stages}

    def arguments(self, variant: str, a: Buffer, b: Buffer, report: Buffer) -> list[bytes]:
        """The kernel's parameters: two tensor maps for `tma`, else two addresses; then the report's."""
        if variant == "tma":
            tm = TensorMapFields.tiled("float32", (32, 8), (128,), (32, 8))
            tensors = [self.device.encoder.encode(tm, buffer.address) or b"" for buffer in (a, b)]
        else:
            tensors = [struct.pack("<Q", buffer.address) for buffer in (a, b)]
        return [*tensors, struct.pack("<Q", report.address)]

    def _launch(self, kernel: Kernel, arguments: list[bytes], report: Buffer) -> tuple[int, ...]:
        self.device.fill(report.address, 0, _REPORT.size)
        self.device.launch(kernel, arguments, threads=THREADS)
        waiting_for, *stamps = _REPORT.unpack(self.device.read(report.address, _REPORT.size).tobytes())
        if waiting_for:
            raise HardwareError("armed for 1024 bytes, and the load of a did not bring them within 2 ms")
        return tuple(stamps)
