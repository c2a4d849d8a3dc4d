"""The probe "watch", in the worker: one launch of a kernel file, its waits watched, its output held against its word.

    text ─▶ compile ─▶ buffers, maps ─▶ launch ─▶ each run: right | wrong | stopped (deadline passed) | fault

A launch holds many runs, one a block (or a cluster): a race is run thousands of times. What watch.cuh wrote of the
first block that passed its deadline comes back as `stops`, one a barrier that was waited for; `alike` counts the blocks
that stopped in the same way.
"""

from __future__ import annotations

import ctypes
import json
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

from tmalab.errors import HardwareError
from tmalab.experiment.memory import make_bytes
from tmalab.hardware.compile import OPTIONS, compile_source, headers_of, nvrtc_version, remember, remembered
from tmalab.hardware.cuda_device import MOST_SHARED_BYTES, Buffer, CudaDevice, CudaFault
from tmalab.hardware.kernel_file import Expectation, KernelFile, parse_kernel_file

BARRIERS = 16
_KEPT = 8
_NOT_FOUND = -(1 << 40)
_SHARED = 0xFFFFFE  # a block's own part of a shared address: the rest says which block of the cluster
# struct WatchedBarrier and WatchedBlock of watch.cuh
_NOTES = ("address", "count", "phase_parity", "arrivals", "armed_bytes", "waiting_line", "waiting_thread",
          "waiting_parity", "pending_arrivals", "unused")  # fmt: skip
_BARRIER = np.dtype([*((name, "<u4") for name in _NOTES), ("surplus_bytes", "<i8"), ("name", "S40")])
_BLOCK = np.dtype([("start_ns", "<u8"), ("stopped", "<u4"), ("unused", "<u4"), ("barriers", _BARRIER, BARRIERS)])
_WATCHED = '#include "watch.cuh"\n#line 1 "{name}"\n'


def compile_watched(
    text: str, name: str, *, watch: bool = True, options: tuple[str, ...] = (), folder_headers: Mapping[str, str] = {}
) -> bytes:  # fmt: skip
    """The cubin of a kernel file, from the cache where nothing changed. Raises HardwareError with the line refused.

    `folder_headers` are headers that lie beside the file. Needs NVRTC and no GPU.
    """
    whole = _WATCHED.format(name=name) + text if watch else text
    headers = {**folder_headers, **headers_of(whole + "".join(folder_headers.values()))}
    chosen = [*OPTIONS, *options]
    key = [whole, *(part for file in sorted(headers) for part in (file, headers[file])), *chosen, nvrtc_version()]
    kept = remembered("cubin", key)
    if kept is None:
        kept = compile_source(whole, headers, name.removesuffix(".cu"), chosen)[0]
        remember("cubin", key, kept)
    return kept


class WatchProbe:
    """Launches kernel files on one device, each from a clean start: nothing of a launch is left behind by the next."""

    def __init__(self, device: CudaDevice):
        self.device = device
        self._content: dict[str, np.ndarray] = {}

    def run(self, params: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Values of one launch, no arrays. `params`: text, name, deadline_ns, and watch, options, headers if unusual.

        Raises CudaFault, InputError, HardwareError.
        """
        file = parse_kernel_file(params["text"])
        watch = params.get("watch", True)
        cubin = compile_watched(
            params["text"], params["name"], watch=watch, options=tuple(params.get("options", ())),
            folder_headers=params.get("headers", {}),
        )  # fmt: skip
        held: list[Buffer] = []
        try:
            return self._launch(file, cubin, params["deadline_ns"] if watch else None, held), {}
        finally:
            if not self._ruined():
                for buffer in held:
                    self.device.free(buffer)

    def _bytes(self, spec: Mapping[str, Any]) -> np.ndarray:
        """What a buffer starts from; the last few are kept, for the next launch asks for the same."""
        key = json.dumps(spec, sort_keys=True)
        if key not in self._content:
            if len(self._content) >= _KEPT:
                self._content.clear()
            self._content[key] = make_bytes(spec)
        return self._content[key]

    def _ruined(self) -> bool:
        return int(self.device.driver.cuCtxSynchronize()[0]) != 0

    def _launch(self, file: KernelFile, cubin: bytes, deadline_ns: int | None, held: list[Buffer]) -> dict[str, Any]:
        device = self.device
        content = {name: self._bytes(spec) for name, spec in file.buffers.items()}

        def upload(array: np.ndarray) -> Buffer:
            held.append(device.upload(array))
            return held[-1]

        buffers = {name: upload(array) for name, array in content.items()}
        maps = {}
        for name, spec in file.maps.items():
            maps[name] = device.encoder.encode(spec.tensor_map, buffers[spec.buffer].address + spec.offset)
            if maps[name] is None:
                return {"completed": False, "error": "INVALID_VALUE", "refused": name}
        arguments = [self._argument(argument, maps, buffers, upload) for argument in file.arguments]
        module = device.check(device.driver.cuModuleLoadData(cubin))
        function = device.check(device.driver.cuModuleGetFunction(module, file.kernel.encode()))
        blocks = np.zeros(file.grid[0] * file.grid[1] * file.grid[2], _BLOCK)
        watch = None
        if deadline_ns is not None:
            watch = upload(blocks.view(np.uint8))
            self._set(module, "tmalab_watch", watch.address)
            self._set(module, "tmalab_deadline_ns", deadline_ns)
        self._start(function, file, arguments)
        if watch is not None:
            blocks = device.read(watch.address, blocks.nbytes).view(_BLOCK)
        got = {wanted.name: device.read(buffers[wanted.name].address, content[wanted.name].nbytes)
               for wanted in file.expect}  # fmt: skip
        device.check((*device.driver.cuModuleUnload(module), None))
        return _values(file, blocks, content, got)

    @staticmethod
    def _argument(argument: str | int, maps: Mapping[str, Any], buffers: Mapping[str, Buffer], upload: Any) -> bytes:
        if isinstance(argument, int):
            return struct.pack("<q", argument)[:4]
        if argument.startswith("&"):
            return struct.pack("<Q", upload(np.frombuffer(maps[argument[1:]], np.uint8)).address)
        return maps[argument] if argument in maps else struct.pack("<Q", buffers[argument].address)

    def _set(self, module: Any, symbol: str, value: int) -> None:
        answer = self.device.driver.cuModuleGetGlobal(module, symbol.encode())
        if int(answer[0]) == 0:  # a kernel that never waits holds no watch
            self.device.write(int(answer[1]), np.frombuffer(struct.pack("<Q", value), np.uint8))

    def _start(self, function: Any, file: KernelFile, arguments: list[bytes]) -> None:
        driver, attribute = self.device.driver, self.device.driver.CUfunction_attribute
        static = int(
            self.device.check(driver.cuFuncGetAttribute(attribute.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function))
        )
        most = attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        if static + file.shared_bytes > MOST_SHARED_BYTES:
            raise HardwareError(
                f"{static} + {file.shared_bytes} bytes of shared memory", field="launch.shared_bytes",
                value=file.shared_bytes, limit=MOST_SHARED_BYTES - static, fix="use less",
            )  # fmt: skip
        driver.cuFuncSetAttribute(function, most, MOST_SHARED_BYTES - static)
        held = [ctypes.create_string_buffer(argument, len(argument)) for argument in arguments]
        pointers = (ctypes.c_void_p * len(held))(*map(ctypes.addressof, held))
        answer = driver.cuLaunchKernel(
            function, *file.grid, *file.block, file.shared_bytes, 0, ctypes.addressof(pointers), 0
        )
        if int(answer[0]) == 0:
            answer = driver.cuCtxSynchronize()
        if int(answer[0]) != 0:
            raise CudaFault(getattr(answer[0], "name", str(answer[0])).removeprefix("CUDA_ERROR_"))


def _values(
    file: KernelFile, blocks: np.ndarray, content: Mapping[str, np.ndarray], got: Mapping[str, np.ndarray]
) -> dict[str, Any]:  # fmt: skip
    """What became of the runs, counted."""
    runs = max(file.runs, 1)
    stopped = _by_run(blocks["stopped"] != 0, runs).any(axis=1)
    wrong_bytes = np.zeros(runs, np.int64)
    for wanted in file.expect:
        differs = got[wanted.name] != expected_bytes(wanted, content)
        wrong_bytes += _by_run(differs, runs).sum(axis=1)
    wrong = (wrong_bytes > 0) & ~stopped
    values: dict[str, Any] = {
        "completed": not stopped.any(), "error": None, "runs": runs, "stopped": int(stopped.sum()),
        "wrong": int(wrong.sum()), "right": int((~wrong & ~stopped).sum()),
        "wrong_bytes": [int(np.min(wrong_bytes[wrong])), int(np.max(wrong_bytes[wrong]))] if wrong.any() else None,
        "stops": [], "alike": 0,
    }  # fmt: skip
    if stopped.any():
        found = [_stops(block) for block in blocks[blocks["stopped"] != 0]]
        values |= {"stops": found[0], "alike": [*map(_kind, found)].count(_kind(found[0]))}
    return values


def _by_run(flags: np.ndarray, runs: int) -> np.ndarray:
    """Equal pieces, one a run; what is left over belongs to the last."""
    piece = max(len(flags) // runs, 1)
    whole = np.zeros((runs, piece), flags.dtype)
    whole.reshape(-1)[: min(len(flags), whole.size)] = flags[: whole.size]
    whole[-1] |= flags[whole.size :].any() if len(flags) > whole.size else False
    return whole


def expected_bytes(wanted: Expectation, content: Mapping[str, np.ndarray]) -> np.ndarray:
    """What the buffer is to hold after the launch: its own bytes, and in every period those of the other."""
    result = content[wanted.name].copy()
    taken = np.arange(len(result)) % wanted.of
    inside = (taken >= wanted.at) & (taken < wanted.at + wanted.bytes)
    inside[len(content[wanted.like]) :] = False
    result[inside] = content[wanted.like][: len(result)][inside[: len(content[wanted.like])]]
    return result


def _stops(block: np.ndarray) -> list[dict[str, Any]]:
    """The barriers that one block waited for when its deadline passed, and what each was short of."""
    return [_stop(barrier) for barrier in block["barriers"] if barrier["waiting_line"]]


def _kind(stops: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """What makes two blocks' stops the same: all but which thread looked first."""
    return [tuple(value for name, value in stop.items() if name not in ("thread", "address")) for stop in stops]


def _stop(barrier: np.ndarray) -> dict[str, Any]:
    armed = int(barrier["armed_bytes"]) if barrier["phase_parity"] == barrier["waiting_parity"] else 0
    surplus = int(barrier["surplus_bytes"])
    return {
        "barrier": bytes(barrier["name"]).decode().removeprefix("&"), "line": int(barrier["waiting_line"]),
        "thread": int(barrier["waiting_thread"]), "address": int(barrier["address"]) & _SHARED,
        "phase_parity": int(barrier["waiting_parity"]), "count": int(barrier["count"]) or None,
        "pending_arrivals": int(barrier["pending_arrivals"]), "armed_bytes": armed,
        "surplus_bytes": None if surplus == _NOT_FOUND else surplus,
    }  # fmt: skip
