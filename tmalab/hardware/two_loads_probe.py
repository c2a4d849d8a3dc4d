"""The probe "two_loads", in the worker: two tiles onto one barrier, everything stamped, many times over.

    steps [["ARRIVE_EXPECT_TX", 4096], ["LOAD", 0], ["LOAD", 1]]  ─▶  kernels/two_loads.cu, one launch a run

Every cycle is counted from the run's start stamp; what did not happen within the kernel's bound is -1.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

from tmalab.errors import HardwareError
from tmalab.hardware.cuda_device import CudaDevice
from tmalab.hardware.timed_launch import Measured, address, tick_ns
from tmalab.hardware.timed_launch import cycles_per_ns as ratio
from tmalab.model.tensor_map_fields import TensorMapFields

STEP_KINDS = ("ARRIVE_EXPECT_TX", "EXPECT_TX", "ARRIVE", "LOAD", "DELAY")
WATCHES = ("lines", "barrier", "arrives")
WARMTHS = ("warm", "cold_data", "cold")
ROWS, PITCH_BYTES = 8192, 2048  # of each tensor: 1024 columns of float16, of which the tile is the first 64
STATES = 128
MOST_STEPS = 16
BATCHES = 64  # of 64 multiplications a lane
THREADS = 128
SHARED_BYTES = 24_576
WARM_UP = 5
# enum Event of two_loads.cu
STEP, WAIT_BEGIN, WAIT_END, START = range(4)
STAMP = np.dtype([("cycles", "<u8"), ("ns", "<u8"), ("event", "<u4"), ("detail", "<u4")])
RING = np.dtype([("stamps", STAMP, 32), ("used", "<u4"), ("_", "<u4")])
OUT = np.dtype([
    ("rings", RING, 4), ("line_cycles", "<u8", 32), ("line_before", "<u8", 32),
    ("states", "<u8", STATES), ("state_cycles", "<u8", STATES),
    ("batch_cycles", "<u8", (2, BATCHES + 1)), ("missing_words", "<u4"), ("finished", "<u4"),
])  # fmt: skip
_REQUEST = struct.Struct("<3i5I")


class TwoLoadsProbe:
    """Runs the kernel of one order of steps after another on one device."""

    def __init__(self, device: CudaDevice):
        self.device, self.measured = device, Measured(device)
        # A's, B's, and what the kernel's rehearsal loads
        self._tensors = [device.allocate(ROWS * PITCH_BYTES) for _ in range(3)]
        self._sink = device.allocate(4)
        for tensor in self._tensors:
            device.fill(tensor.address, 1, tensor.bytes)

    def run(self, params: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Values and arrays over `repeats` runs. Raises CudaFault, HardwareError."""
        steps, repeats = params["steps"], params.get("repeats", 1)
        listed = ",".join(f"{{{kind},{operand}}}" for kind, operand in steps)
        kernel = self.device.kernel("two_loads", (f"-DTMALAB_STEPS={listed}",))
        tm = TensorMapFields.tiled("float16", (1024, ROWS), (PITCH_BYTES,), (64, 16))
        maps = [self.device.encoder.encode(tm, tensor.address) or b"" for tensor in self._tensors]
        seen = []
        for run in range(WARM_UP + repeats):
            rows = (run * 48) % (ROWS - 512), (run * 48) % (ROWS - 512) + 16
            request = _REQUEST.pack(
                *rows, rows[0] + 256, params.get("arrivals", 1), WATCHES.index(params["watch"]),
                WARMTHS.index(params["warmth"]), params.get("is_twin", False), params.get("sleeps", True),
            )  # fmt: skip
            if params["warmth"] != "warm":
                self.measured.evict()
            out = self.measured.run(
                kernel, [*maps, request], OUT, threads=THREADS, shared_bytes=SHARED_BYTES, after=[address(self._sink)]
            )[0]
            if not out["finished"]:
                raise HardwareError("the kernel did not run to its end")
            seen.append(out)
        return self._collect(seen[WARM_UP:], params)

    def _collect(self, seen: list[np.void], params: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        runs = [_Run(out) for out in seen]
        count = len(params["steps"])
        arrays = {
            "steps": np.array([[run.at(0, STEP, at) for at in range(count + 1)] for run in runs], np.int32),
            "waits": np.array([[run.wait(1), run.wait(3)] for run in runs], np.int32),
            "work": np.array([run.work(out["batch_cycles"]) for run, out in zip(runs, seen, strict=True)], np.int32),
            "missing_words": np.array([out["missing_words"] for out in seen], np.int32),
            "end_ns": np.array([run.end_ns() for run in runs], np.int32),
        }  # fmt: skip
        if params["watch"] == "lines":
            arrays["lines"] = np.array([run.since(out["line_cycles"]) for run, out in zip(runs, seen, strict=True)])
            before = np.array([run.since(out["line_before"]) for run, out in zip(runs, seen, strict=True)])
            resolution = int(np.median(arrays["lines"] - before))
        else:
            resolution = None
        end = arrays["waits"][:, 0, 1]
        drawn = int(np.argsort(end, kind="stable")[len(end) // 2])  # the run whose wait took the median time
        arrays["batch_cycles"] = runs[drawn].since(seen[drawn]["batch_cycles"])
        if params["watch"] == "arrives":
            arrays["states"] = seen[drawn]["states"].astype(np.uint32)
            arrays["state_cycles"] = runs[drawn].since(seen[drawn]["state_cycles"])
        if "order" in params:  # a variant of the order is counted and not drawn
            arrays = {name: arrays[name] for name in ("steps", "waits", "missing_words")}
        clocks = self.measured.clocks()
        values = {
            "completed": bool((arrays["waits"][:, 0, 1] >= 0).all()), "error": None, "drawn": drawn,
            "cycles_per_ns": round(ratio(clocks), 6), "tick_ns": tick_ns(clocks), "line_resolution_cycles": resolution,
        }  # fmt: skip
        return values, {name: _narrow(array) for name, array in arrays.items()}


def _narrow(array: np.ndarray) -> np.ndarray:
    """As int16 where every value fits: half of a recording is upper halves."""
    fits = array.dtype == np.int32 and array.size and np.abs(array.astype(np.int64)).max() < 1 << 15
    return array.astype(np.int16) if fits else array


class _Run:
    """One run's stamps, counted from its start."""

    def __init__(self, out: np.void):
        self.rings = [ring["stamps"][: ring["used"]] for ring in out["rings"]]
        start = self.rings[0][self.rings[0]["event"] == START][0]
        self.start, self.start_ns = int(start["cycles"]), int(start["ns"])

    def since(self, cycles: np.ndarray) -> np.ndarray:
        """int32, -1 where nothing was seen."""
        return np.where(cycles == 0, -1, cycles.astype(np.int64) - self.start).astype(np.int32)

    def stamp(self, lane: int, event: int) -> np.void | None:
        found = self.rings[lane][self.rings[lane]["event"] == event]
        return found[0] if len(found) else None

    def at(self, lane: int, event: int, detail: int) -> int:
        stamps = self.rings[lane]
        (found,) = stamps[(stamps["event"] == event) & (stamps["detail"] == detail)]
        return int(found["cycles"]) - self.start

    def wait(self, lane: int) -> tuple[int, int, int]:
        """Begin, end (-1: given up), tries."""
        begin, end = self.stamp(lane, WAIT_BEGIN), self.stamp(lane, WAIT_END)
        if begin is None or end is None:
            return -1, -1, 0
        completed = int(end["detail"]) > 0
        return (
            int(begin["cycles"]) - self.start,
            int(end["cycles"]) - self.start if completed else -1,
            int(end["detail"]),
        )

    def work(self, batch_cycles: np.ndarray) -> list[list[int]]:
        """Of the issuing and of the second warp: begin, end and number of the batches done within the wait."""
        done_by = max(self.wait(1)[1], self.wait(3)[1])
        counted = []
        for cycles in self.since(batch_cycles).tolist():
            within = [end for end in cycles[1:] if end <= done_by]
            counted.append([cycles[0], within[-1] if within else cycles[0], len(within)])
        return counted

    def end_ns(self) -> int:
        """%globaltimer's nanoseconds from the start to the end of the consumer's wait."""
        end = self.stamp(1, WAIT_END)
        return -1 if end is None else int(end["ns"]) - self.start_ns
