"""The probe "barrier_ops", in the worker: a barrier's life step by step, and what each step returned.

steps [["INIT", 3], ["ARRIVE"], ["PENDING_COUNT"]]  ─▶  kernels/barrier_ops.cu  ─▶  results uint64[clusters, steps]
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tmalab.errors import InputError
from tmalab.hardware.cuda_device import CudaDevice
from tmalab.hardware.timed_launch import Measured, address

# enum Op of barrier_ops.cu
OPS = (
    "INIT", "INVAL", "ARRIVE", "ARRIVE_COUNT", "ARRIVE_DROP", "ARRIVE_NO_COMPLETE", "ARRIVE_EXPECT_TX", "EXPECT_TX",
    "COMPLETE_TX", "TEST_PARITY", "TRY_PARITY", "TEST_STATE", "PENDING_COUNT", "REMOTE_ARRIVE",
    "LD", "LD_VOLATILE", "LD_ACQUIRE_CTA", "LD_ACQUIRE_SYS", "LD_CLUSTER", "ATOM_OR", "ATOM_CAS", "ATOM_CLUSTER",
    "BULK_TO_GLOBAL", "BULK_TO_SHARED",
    "ST", "FENCE_PROXY_ASYNC", "FENCE_SYS", "BAR_SYNC", "SLEEP_NS", "INIT_OTHERS", "ARRIVE_OTHERS", "SMID",
)  # fmt: skip
SLOTS = 16384  # barriers of 8 bytes: 128 KiB
RESULT = np.dtype([("value", "<u8"), ("cycles", "<u8")])
_STEP = struct.Struct("<4IQ")


def encode_steps(steps: Sequence[Sequence[Any]]) -> bytes:
    """`[op, operand=0, slot=0, agent=0, stride=1]` each, as struct Step. Raises InputError.

    The operand of ST is the 64-bit word in hexadecimal; the stride, in slots, is that of the ops on OTHERS.
    """
    packed = b""
    for at, step in enumerate(steps):
        op, operand, slot, agent, stride = list(step) + [0, 0, 0, 1][len(step) - 1 :]
        if op not in OPS:
            raise InputError("unknown op", field=f"steps[{at}]", value=op, fix=f"use one of {', '.join(OPS)}")
        word = int(operand, 16) if op == "ST" else stride
        packed += _STEP.pack(OPS.index(op), agent, slot, 0 if op == "ST" else operand, word)
    return packed


class BarrierOpsProbe:
    """Runs lists of steps on one device."""

    def __init__(self, device: CudaDevice):
        self.device, self.measured = device, Measured(device)

    def run(self, params: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """`results` uint64[launches, clusters, steps] and `cycles` of the same shape; a launch each of `launches`.

        Value `alike`: in how many of `repeats` runs every result was the same as in the first. A launch is a list of
        steps; what one leaves in shared memory the next may find.
        """
        runs = [self._once(params) for _ in range(params.get("repeats", 1))]
        first = runs[0]
        alike = sum(bool((run["value"] == first["value"]).all()) for run in runs)
        values = {"completed": True, "error": None, "alike": alike}
        return values, {"results": first["value"].copy(), "cycles": first["cycles"].astype(np.int32)}

    def _once(self, params: Mapping[str, Any]) -> np.ndarray:
        """Records [launches, clusters, steps]."""
        launches, clusters = params["launches"], params.get("clusters", 1)
        length = max(map(len, launches))
        kernel = self.device.kernel("barrier_ops")
        words = self.device.allocate(2 * clusters * 16)
        seen = []
        for steps in launches:
            padded = [*steps, *[["FENCE_SYS"]] * (length - len(steps))]
            content = self.device.upload(np.frombuffer(encode_steps(padded), np.uint8))
            seen.append(
                self.measured.run(
                    kernel, [address(content), struct.pack("<I", length)], RESULT, clusters * length, threads=32,
                    shared_bytes=8 * SLOTS, blocks=2 * clusters, after=[address(words)],
                ).reshape(clusters, length)
            )  # fmt: skip
            self.device.free(content)
        self.device.free(words)
        return np.array(seen)
