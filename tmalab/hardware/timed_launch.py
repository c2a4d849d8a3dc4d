"""What the probes that time a kernel share: one launch whose report comes back as records, cold caches, the two clocks.

Measured(device)     .run(kernel, arguments, record) ─▶ np.recarray      .evict()  the L2 holds something else now
measure_clocks()     cycles a nanosecond, the tick of %globaltimer, the cost of a stamp
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

import numpy as np

from tmalab.errors import HardwareError
from tmalab.hardware.cuda_device import Buffer, CudaDevice, Kernel

_EVICT_BYTES = 256 << 20  # several times the L2 of an H200, 50 MB
SPAN_NS = 2_000_000
# What clocks.cu put between two reads of the clock; the phase of parity 0 is open, that of 1 lies before it.
COST_KINDS = (
    "clock64", "globaltimer", "stamp", "stamp_ns", "test_wait", "try_wait", "test_wait_completed", "arrive",
    "test_wait_by_32_lanes", "try_wait_by_32_lanes",
)  # fmt: skip
# struct Clocks of clocks.cu
CLOCKS = np.dtype([("costs", "<u8", (10, 64)), ("ticks", "<u8", 64), ("cycles", "<u8", 2), ("ns", "<u8", 2)])


def address(buffer: Buffer) -> bytes:
    """A buffer's address as a kernel's parameter."""
    return struct.pack("<Q", buffer.address)


class Measured:
    """Launches on one device whose last parameter but `after` is a report, made and read here."""

    def __init__(self, device: CudaDevice):
        self.device = device
        self._scratch: Buffer | None = None

    def run(
        self, kernel: Kernel, arguments: Sequence[bytes], record: np.dtype[Any], count: int = 1, *, threads: int,
        shared_bytes: int = 0, blocks: int = 1, after: Sequence[bytes] = (),
    ) -> np.ndarray:  # fmt: skip
        """`count` records that the kernel wrote, zeros where it wrote none. Raises CudaFault."""
        out = self.device.allocate(record.itemsize * count)
        self.device.fill(out.address, 0, out.bytes)
        self.device.launch(
            kernel, [*arguments, address(out), *after], threads=threads, shared_bytes=shared_bytes, blocks=blocks
        )
        seen = self.device.read(out.address, out.bytes).view(record)
        self.device.free(out)  # not after a fault: the context is gone, and with it the worker
        return seen

    def evict(self) -> None:
        """Fill the L2 with other bytes, so that the next load finds nothing of its tensor there."""
        if self._scratch is None:
            self._scratch = self.device.allocate(_EVICT_BYTES)
        self.device.fill(self._scratch.address, 0, _EVICT_BYTES)

    def clocks(self, span_ns: int = SPAN_NS) -> np.void:
        """What clocks.cu measured: costs, ticks, both clocks twice."""
        kernel = self.device.kernel("clocks")
        seen: np.void = self.run(kernel, [struct.pack("<Q", span_ns)], CLOCKS, threads=32)[0]
        return seen

    def cycles_per_ns(self) -> float:
        """Of this multiprocessor's clock64, over 2 ms of %globaltimer."""
        return cycles_per_ns(self.clocks())


def cycles_per_ns(seen: np.void) -> float:
    """From the two clocks, read side by side at two ticks of the slower one. Raises HardwareError."""
    cycles, ns = (int(seen[name][1]) - int(seen[name][0]) for name in ("cycles", "ns"))
    if ns <= 0:
        raise HardwareError("%globaltimer did not advance")
    return cycles / ns


def tick_ns(seen: np.void) -> int:
    """The step of %globaltimer: the median over 64 successive values."""
    return int(median(np.diff(seen["ticks"].astype(np.int64)).tolist()))


class ClocksProbe:
    """The probe "clocks": the cost of each kind of stamp, the tick of %globaltimer, and the cycles of a nanosecond."""

    def __init__(self, device: CudaDevice):
        self.measured = Measured(device)

    def run(self, params: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Arrays: `cost_samples` [repeats, kinds, 64], `tick_samples` [repeats, 63], `ratio_samples` [repeats]."""
        seen = [self.measured.clocks(params.get("span_ns", SPAN_NS)) for _ in range(params.get("repeats", 1))]
        costs = np.array([one["costs"] for one in seen]).astype(np.int32)
        ticks = np.array([np.diff(one["ticks"].astype(np.int64)) for one in seen]).astype(np.int32)
        ratios = np.array([cycles_per_ns(one) for one in seen])
        own = float(np.median(costs[:, 0]))  # the pair of reads that every cost contains
        values = {
            "completed": True,
            "error": None,
            "tick_ns": int(np.median(ticks)),
            "cycles_per_ns": round(float(np.median(ratios)), 6),
            "cost_cycles": {
                kind: float(np.median(costs[:, at])) - (own if at else 0.0) for at, kind in enumerate(COST_KINDS)
            },
        }
        return values, {"cost_samples": costs, "tick_samples": ticks, "ratio_samples": ratios}
