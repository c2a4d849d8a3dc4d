"""The probe "tma_copy", in the worker: 4 GiB copied by the TMA engine in many ways, and once by the driver.

    versions ─▶ kernels/tma_copy.cu, all of them in one order after another ─▶ milliseconds [versions + 1, repeats]

Every version's copy is compared with its source first. The driver's cuMemcpyDtoDAsync is the last row.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from tmalab.errors import HardwareError
from tmalab.hardware.cuda_device import Buffer, CudaDevice
from tmalab.model.tensor_map_fields import TensorMapFields

ORDERS = ("interleaved", "chunks", "counter", "one tile a block")
_REQUEST = struct.Struct("<10I")
_PATTERN_BYTES = 64 << 20
_SEED = 20
_NO_MAP = bytes(128)


class TmaCopyProbe:
    """Copies on one device."""

    def __init__(self, device: CudaDevice):
        self.device, self.multiprocessors = device, device.multiprocessors()

    def run(self, params: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Array `ms` [versions + 1, repeats]; `differ`: of each version, the 8-byte words that came out wrong."""
        size, repeats = params["bytes"], params.get("repeats", 1)
        source, output = (self.device.allocate(size) for _ in range(2))
        counters = self.device.upload(np.zeros(3, np.uint32))
        try:
            self._fill(source)
            launches = [self._version(version, source, output, counters) for version in params["versions"]]
            differ = [self._differ(launch, source, output) for launch in launches]
            launches.append(lambda: self._driver_copy(source, output))
            ms = self._times(launches, repeats)
            if int(self.device.read(counters.address, 12).view(np.uint32)[2]):
                raise HardwareError("a tile did not come in time")
        finally:
            for buffer in (source, output, counters):
                self.device.free(buffer)
        values = {
            "completed": True, "error": None, "differ": differ, "bytes": size, "moved_bytes": 2 * size,
            "multiprocessors": self.multiprocessors,
        }  # fmt: skip
        return values, {"ms": ms}

    def _fill(self, source: Buffer) -> None:
        """Random bytes, 64 MiB at a time; after four of those they come again."""
        step = min(_PATTERN_BYTES, source.bytes)
        random = np.random.default_rng(_SEED)
        for at in range(0, source.bytes, step):
            if at < 4 * step:
                self.device.write(source.address + at, random.integers(0, 1 << 64, step // 8, np.uint64))
            else:
                self.device.copy(source.address + at, source.address + at // step % 4 * step, step)

    def _version(self, version: Sequence[Any], source: Buffer, output: Buffer, counters: Buffer) -> Callable[[], None]:
        order, per_sm, tile_bytes, stages, held, at_once, evicts_first, rows, spare_bytes = version
        tiles = source.bytes // tile_bytes
        blocks = tiles if order == "one tile a block" else per_sm * self.multiprocessors
        share = -(-tiles // blocks)
        first_step, step, turns = {
            "interleaved": (1, blocks, tiles), "chunks": (share, 1, share), "counter": (0, 0, at_once),
            "one tile a block": (1, 1, 1),
        }[order]  # fmt: skip
        request = _REQUEST.pack(
            tiles, tile_bytes, stages, held, first_step, step, turns, rows, evicts_first, evicts_first
        )
        maps = [self._map(buffer, tile_bytes, rows) if rows else _NO_MAP for buffer in (source, output)]
        addresses = [struct.pack("<Q", buffer.address) for buffer in (source, output, counters)]
        arguments = [ctypes.create_string_buffer(one, len(one)) for one in (*maps, request, *addresses)]
        pointers = (ctypes.c_void_p * len(arguments))(*map(ctypes.addressof, arguments))
        kernel, driver = self.device.kernel("tma_copy"), self.device.driver

        def launch(kept: Any = arguments) -> None:
            shared_bytes = stages * tile_bytes + spare_bytes
            self.device.check(
                driver.cuLaunchKernel(
                    kernel.function, blocks, 1, 1, 32, 1, 1, shared_bytes, 0, ctypes.addressof(pointers), 0
                )
            )

        return launch

    def _map(self, buffer: Buffer, tile_bytes: int, rows: int) -> bytes:
        """A tensor whose rows lie behind each other: `rows` of them are a tile."""
        width = tile_bytes // rows
        tm = TensorMapFields.tiled("float32", (width // 4, buffer.bytes // width), (width,), (width // 4, rows))
        return self.device.encoder.encode(tm, buffer.address) or b""

    def _driver_copy(self, source: Buffer, output: Buffer) -> None:
        self.device.check(self.device.driver.cuMemcpyDtoDAsync(output.address, source.address, source.bytes, 0))

    def _differ(self, launch: Callable[[], None], source: Buffer, output: Buffer) -> int:
        """Words that differ after one copy over other bytes."""
        import cupy

        self.device.fill(output.address, 0xA5, output.bytes)
        launch()
        self.device.check(self.device.driver.cuCtxSynchronize())
        step, wrong = 1 << 27, 0
        for at in range(0, source.bytes // 8, step):
            one, two = (
                cupy.ndarray(
                    (min(step, source.bytes // 8 - at),), cupy.uint64,
                    cupy.cuda.MemoryPointer(cupy.cuda.UnownedMemory(buffer.address, buffer.bytes, buffer), at * 8),
                )
                for buffer in (source, output)
            )  # fmt: skip
            wrong += int(cupy.count_nonzero(one != two))
        return wrong

    def _times(self, launches: Sequence[Callable[[], None]], repeats: int) -> np.ndarray:
        """All of them once a round, in another order each; queued, so that no event waits for the host."""
        driver, check, random = self.device.driver, self.device.check, np.random.default_rng(_SEED)
        rounds = []
        for _ in range(1 + repeats):  # the first round warms
            order = random.permutation(len(launches))
            marks = [check(driver.cuEventCreate(0)) for _ in range(len(launches) + 1)]
            check(driver.cuEventRecord(marks[0], 0))
            for number, mark in zip(order, marks[1:], strict=True):
                launches[number]()
                check(driver.cuEventRecord(mark, 0))
            rounds.append((order, marks))
        check(driver.cuCtxSynchronize())
        ms = np.zeros((len(launches), repeats), np.float32)
        for at, (order, marks) in enumerate(rounds[1:]):
            for number, pair in zip(order, pairwise(marks), strict=True):
                ms[number, at] = check(driver.cuEventElapsedTime(*pair))
        return ms
