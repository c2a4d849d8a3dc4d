"""The probe "gemm", in the worker: one rung on one shape, checked, traced, and timed beside cuBLAS, in turn.

    plan ─▶ check: poisoned C, float32 reference ─▶ trace: another build, with stamps ─▶ ours, cuBLAS, ours, cuBLAS …

Each time is a graph of launches that go round several sets of matrices, so that no set is still in the L2 cache.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tmalab.experiment.gemm_plan import GemmPlan, plan_of
from tmalab.hardware.compile import compile_kernel
from tmalab.hardware.cublas import WORKSPACE_BYTES, Cublas, Heuristic
from tmalab.hardware.cuda_device import MOST_SHARED_BYTES, CudaDevice, CudaFault, Kernel
from tmalab.hardware.gemm_matrices import Matrices
from tmalab.hardware.graphs import Graph, interleaved

TRACED_STEPS, TRACED_TILES = 160, 8
# struct Problem, Report and Trace of gemm.cuh
_PROBLEM = struct.Struct("<5Q8IQ")
REPORT = np.dtype([("waiting_for", "<u4"), ("block", "<u4"), ("step", "<u4"), ("parity", "<u4")])
TRACE = np.dtype([
    ("waits", "<u4", (3, TRACED_STEPS, 2)), ("epilogues", "<u4", (2, TRACED_TILES, 2)), ("cycles", "<u8", 2),
    ("ns", "<u8", 2),
])  # fmt: skip
WAITED_FOR = {1: "full", 2: "empty", 3: "staged", 4: "turn"}
_PIECE_NS = 3e6  # of one measurement: so many launches
_L2_BYTES = 130 << 20  # more than twice the L2 of an H200
_MOST_SETS = 24
_WARM_UP_NS = 2e8
_TRACES = 9


@dataclass(frozen=True)
class Loaded:
    """A rung's kernel in one build, and the plan that it is launched by."""

    kernel: Kernel
    plan: GemmPlan
    workspace: int

    def launch(self, device: CudaDevice, matrices: Matrices, report: int, trace: int = 0, stream: int = 0) -> None:
        """One launch into the stream; not waited for. Raises CudaFault where it is refused."""
        plan, addresses = self.plan, matrices.addresses
        maps = [
            bytes(128) if tm is None else device.encoder.encode(tm, at) or b""
            for tm, at in zip((plan.map_a, plan.map_b, plan.map_c), addresses, strict=True)
        ]
        sizes = (plan.m, plan.n, plan.k, plan.lda, plan.ldb, plan.ldc, plan.tiles_m, plan.tiles_n)
        arguments = [*maps, _PROBLEM.pack(*addresses, report, trace, *sizes, self.workspace)]
        held = [ctypes.create_string_buffer(argument, len(argument)) for argument in arguments]
        pointers = (ctypes.c_void_p * len(held))(*map(ctypes.addressof, held))
        (answer,) = device.driver.cuLaunchKernel(
            self.kernel.function, plan.blocks, 1, 1, plan.rung.threads, 1, 1, plan.rung.shared_bytes, stream,
            ctypes.addressof(pointers), 0,
        )  # fmt: skip
        if int(answer) != 0:
            raise CudaFault(getattr(answer, "name", str(answer)).removeprefix("CUDA_ERROR_"))


def load(device: CudaDevice, plan: GemmPlan, options: tuple[str, ...] = ()) -> Loaded:
    """The kernel of the plan's rung, compiled (cached) and loaded."""
    driver, check, ask = device.driver, device.check, device.driver.CUfunction_attribute
    cubin = compile_kernel(f"gemm/{plan.rung.file}", (*plan.rung.options, *options))
    module = check(driver.cuModuleLoadData(cubin))
    function = check(driver.cuModuleGetFunction(module, b"gemm"))
    most = ask.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    check(driver.cuFuncSetAttribute(function, most, MOST_SHARED_BYTES))
    registers, local = (
        int(check(driver.cuFuncGetAttribute(attribute, function)))
        for attribute in (ask.CU_FUNC_ATTRIBUTE_NUM_REGS, ask.CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)
    )
    workspace = 0
    if plan.rung.workspace_bytes:
        buffer = device.allocate(plan.rung.workspace_bytes)
        device.fill(buffer.address, 0, buffer.bytes)
        workspace = buffer.address
    return Loaded(Kernel(function, module, registers, local, cubin), plan, workspace)


class GemmProbe:
    """Runs one rung on one shape after another on one device."""

    def __init__(self, device: CudaDevice):
        self.device = device
        self._report = device.allocate(REPORT.itemsize)
        self._traces = device.allocate(_TRACES * TRACE.itemsize)
        self._workspace = device.allocate(WORKSPACE_BYTES)
        self._cublas: Cublas | None = None
        sms = device.driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
        self.sms = int(device.check(device.driver.cuDeviceGetAttribute(sms, device.info.ordinal)))

    def run(self, params: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Values and arrays; where `timed` is False only the check. Raises InputError, CudaFault, HardwareError."""
        plan = plan_of(params, self.sms)
        options = tuple(params.get("options", ()))
        ours = load(self.device, plan, options)
        matrices = _matrices(self.device, plan, params["seed"])
        values: dict[str, Any] = {
            "registers": ours.kernel.registers, "local_bytes": ours.kernel.local_bytes, "blocks": plan.blocks,
            "shared_bytes": plan.rung.shared_bytes, "blocks_per_sm": self._resident(ours), "sms": self.sms,
            "tiles": plan.tiles_m * plan.tiles_n, **self.checked(ours, matrices), "error": None,
        }  # fmt: skip
        values["completed"] = values["waiting_for"] is None
        if not values["completed"] or not params.get("timed", True):
            matrices.free()
            return values, {}
        timed, times = self._timed(ours, matrices, params)
        traced, arrays = self._traced(load(self.device, plan, (*options, "-DTMALAB_TRACE")), ours, matrices)
        if not params.get("traced", True):  # the clock is wanted all the same
            arrays = {}
        matrices.free()
        return {**values, **timed, **traced}, {**times, **arrays}

    def _resident(self, ours: Loaded) -> int:
        """Blocks that one multiprocessor holds at a time."""
        ask = self.device.driver.cuOccupancyMaxActiveBlocksPerMultiprocessor
        rung = ours.plan.rung
        return int(self.device.check(ask(ours.kernel.function, rung.threads, rung.shared_bytes)))

    def checked(self, ours: Loaded, matrices: Matrices) -> dict[str, Any]:
        """One launch on a poisoned C, against float32."""
        device = self.device
        matrices.poison()
        device.fill(self._report.address, 0, REPORT.itemsize)
        ours.launch(device, matrices, self._report.address)
        (answer,) = device.driver.cuCtxSynchronize()
        if int(answer) != 0:
            raise CudaFault(getattr(answer, "name", str(answer)).removeprefix("CUDA_ERROR_"))
        report = device.read(self._report.address, REPORT.itemsize).view(REPORT)[0]
        waited = WAITED_FOR.get(int(report["waiting_for"]))
        gave_up = {name: int(report[name]) for name in ("block", "step", "parity")} if waited else {}
        return {"waiting_for": {"barrier": waited, **gave_up} if waited else None, **matrices.check()}

    def _traced(self, traced: Loaded, ours: Loaded, matrices: Matrices) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Block 0 of launches that the stamps are compiled into; cycles from its start, -1 where there is none.

        Each stands between launches of the build without stamps: `cycles_per_ns`, their median, is a GPU's at work.
        """
        device = self.device
        device.fill(self._traces.address, 0, self._traces.bytes)
        graph = Graph(device, lambda _, stream: ours.launch(device, matrices, self._report.address, stream=stream), 2)
        interleaved(device, [graph], 1, _WARM_UP_NS / 2)
        stream = device.check(device.driver.cuStreamCreate(0))
        for at in range(_TRACES):
            graph.launch(stream)
            trace = self._traces.address + at * TRACE.itemsize
            traced.launch(device, matrices, self._report.address, trace, int(stream))
        graph.launch(stream)
        device.check(device.driver.cuStreamSynchronize(stream))
        device.check(device.driver.cuStreamDestroy(stream))
        graph.close()
        seen = device.read(self._traces.address, self._traces.bytes).view(TRACE)
        cycles, ns = (np.diff(seen[name].astype(np.int64))[:, 0] for name in ("cycles", "ns"))
        last = seen[-1]
        start = np.uint32(int(last["cycles"][0]) & 0xFFFFFFFF)
        arrays = {
            name: np.where(last[name] == 0, np.int32(-1), (last[name] - start).astype(np.int32))
            for name in ("waits", "epilogues")
        }  # fmt: skip
        return {"cycles_per_ns": round(float(np.median(cycles / np.maximum(ns, 1))), 4)}, arrays

    def _timed(
        self, ours: Loaded, matrices: Matrices, params: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Ours and cuBLAS' best, turn and turn about."""
        device, plan = self.device, ours.plan
        if self._cublas is None:
            self._cublas = Cublas(self._workspace.address)
        product = self._cublas.product(plan)
        size = sum(buffer.bytes for buffer in matrices.buffers)
        seeds = range(1, min(_MOST_SETS, -(-_L2_BYTES // size)))
        sets = [matrices, *(_matrices(device, plan, params["seed"] + seed) for seed in seeds)]

        def mine(number: int, stream: int) -> None:
            ours.launch(device, sets[number % len(sets)], self._report.address, stream=stream)

        def cublas(chosen: Heuristic) -> Callable[[int, int], None]:
            return lambda number, stream: product.enqueue(chosen, *sets[number % len(sets)].addresses, stream)

        tuned = self._median_ns([mine, *map(cublas, product.heuristics)], 2, 7)
        best = int(np.argmin(tuned[1:]))
        launches = max(1, min(100, round(_PIECE_NS / max(tuned[0], tuned[1 + best]))))
        graphs = [Graph(device, enqueue, launches) for enqueue in (mine, cublas(product.heuristics[best]))]
        ns = interleaved(device, graphs, params.get("repeats", 1), _WARM_UP_NS)
        for graph in graphs:
            graph.close()
        matrices.poison()
        product.enqueue(product.heuristics[best], *matrices.addresses, 0)
        right = matrices.check()
        product.close()
        for one in sets[1:]:
            one.free()
        values = {
            "launches": launches, "sets": len(sets), "cublas_relative_error": right["relative_error"],
            "cublas": {
                "version": self._cublas.version, "heuristics_ns": [round(ns) for ns in tuned[1:]], "chosen": best,
            },
        }  # fmt: skip
        return values, {"ours_ns": ns[:, 0].astype(np.float32), "cublas_ns": ns[:, 1].astype(np.float32)}

    def _median_ns(self, enqueues: list[Callable[[int, int], None]], launches: int, repeats: int) -> list[float]:
        """Of each, all in turn."""
        graphs = [Graph(self.device, enqueue, launches) for enqueue in enqueues]
        ns = np.median(interleaved(self.device, graphs, repeats, _WARM_UP_NS / 2), axis=0)
        for graph in graphs:
            graph.close()
        return [float(each) for each in ns]


def _matrices(device: CudaDevice, plan: GemmPlan, seed: int) -> Matrices:
    names = ("m", "n", "k", "lda", "ldb", "ldc")
    return Matrices(device, {name: getattr(plan, name) for name in names}, seed)
