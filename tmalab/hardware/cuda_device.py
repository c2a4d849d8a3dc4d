"""The worker's side of the driver: one context, kernels, memory, and launches that either end or name their fault.

    CudaDevice.kernel(name) ─▶ compile (cached) ─▶ module ─▶ launch(…) ─▶ done | CudaFault("ILLEGAL_INSTRUCTION")

Only the worker process makes one: a fault ruins the context, and with it every later call of the process.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tmalab.errors import HardwareError
from tmalab.hardware.compile import compile_kernel
from tmalab.hardware.driver_encode import Encoder
from tmalab.hardware.gpu import GpuInfo, find_gpu

MOST_SHARED_BYTES = 232_448  # 227 KiB: what one block may have on sm_90
_ALIGNMENT = 1024
# Past the end of a buffer, so that a tensor which runs over its memory reads this allocation and no other.
_GUARD_BYTES = 4096


class CudaFault(Exception):  # noqa: N818  (CUDA's own word)
    """The context is ruined; `name` is the driver's error without CUDA_ERROR_. The worker ends itself on it."""

    def __init__(self, name: str):
        self.name = name
        super().__init__(name)


@dataclass(frozen=True)
class Buffer:
    """Device memory: `address` is a multiple of 1024, `bytes` what was asked for."""

    address: int
    bytes: int
    allocation: int


@dataclass(frozen=True)
class Kernel:
    """A loaded function, and what the compiler said of it."""

    function: Any
    module: Any
    registers: int
    local_bytes: int
    cubin: bytes


class CudaDevice:
    """The Hopper GPU with its primary context current. Raises NoHopperGpuError where there is none."""

    def __init__(self) -> None:
        self.info: GpuInfo = find_gpu()
        from cuda.bindings import driver

        self.driver = driver
        device = self.check(driver.cuDeviceGet(self.info.ordinal))
        self.check(driver.cuCtxSetCurrent(self.check(driver.cuDevicePrimaryCtxRetain(device))))
        self.encoder = Encoder(driver)
        self._kernels: dict[tuple[str, ...], Kernel] = {}

    def check(self, answer: tuple[Any, ...]) -> Any:
        """The result of a driver call, or HardwareError with the driver's name for what went wrong."""
        if int(answer[0]) != 0:
            name = getattr(answer[0], "name", str(answer[0]))
            raise HardwareError(f"the driver answered {name}", fix="check that no other program fills the GPU")
        return answer[1] if len(answer) == 2 else answer[1:]

    # --- memory -------------------------------------------------------------------------------------------------------

    def allocate(self, size: int) -> Buffer:
        """Device memory that starts at a multiple of 1024, with a guard behind it."""
        allocation = int(self.check(self.driver.cuMemAlloc(size + _ALIGNMENT + _GUARD_BYTES)))
        return Buffer(-(-allocation // _ALIGNMENT) * _ALIGNMENT, size, allocation)

    def free(self, buffer: Buffer) -> None:
        """Give a buffer back."""
        self.check(self.driver.cuMemFree(buffer.allocation))

    def upload(self, content: np.ndarray) -> Buffer:
        """A new buffer that holds `content`."""
        buffer = self.allocate(content.nbytes)
        self.write(buffer.address, content)
        return buffer

    def write(self, address: int, content: np.ndarray) -> None:
        """Host to device."""
        content = np.ascontiguousarray(content)
        if content.nbytes:
            self.check(self.driver.cuMemcpyHtoD(address, content.ctypes.data, content.nbytes))

    def read(self, address: int, size: int) -> np.ndarray:
        """Device to host: `size` bytes as uint8."""
        content = np.empty(size, np.uint8)
        if size:
            self.check(self.driver.cuMemcpyDtoH(content.ctypes.data, address, size))
        return content

    def copy(self, to: int, source: int, size: int) -> None:
        """Device to device."""
        if size:
            self.check(self.driver.cuMemcpyDtoD(to, source, size))

    def fill(self, address: int, value: int, size: int) -> None:
        """Every byte of `size` becomes `value`."""
        if size:
            self.check(self.driver.cuMemsetD8(address, value, size))

    # --- kernels ------------------------------------------------------------------------------------------------------

    def kernel(self, name: str, options: Sequence[str] = ()) -> Kernel:
        """The kernel of kernels/`name`.cu, compiled and loaded once, allowed all of a block's shared memory."""
        key = (name, *options)
        if key not in self._kernels:
            cubin = compile_kernel(name, options)
            module = self.check(self.driver.cuModuleLoadData(cubin))
            function = self.check(self.driver.cuModuleGetFunction(module, name.encode()))
            ask = self.driver.CUfunction_attribute
            static = self._attribute(function, ask.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)
            self.check(
                self.driver.cuFuncSetAttribute(
                    function, ask.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, MOST_SHARED_BYTES - static
                )
            )
            registers = self._attribute(function, ask.CU_FUNC_ATTRIBUTE_NUM_REGS)
            local = self._attribute(function, ask.CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)
            self._kernels[key] = Kernel(function, module, registers, local, cubin)
        return self._kernels[key]

    def multiprocessors(self) -> int:
        """How many the GPU has: a block on each fills it."""
        attribute = self.driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
        return int(self.check(self.driver.cuDeviceGetAttribute(attribute, self.info.ordinal)))

    def _attribute(self, function: Any, attribute: Any) -> int:
        return int(self.check(self.driver.cuFuncGetAttribute(attribute, function)))

    def launch(
        self, kernel: Kernel, arguments: Sequence[bytes], *, threads: int, shared_bytes: int = 0, blocks: int = 1
    ) -> None:
        """One block or `blocks`, waited for. `arguments` are the kernel's parameters as bytes, each of its size.

        Raises CudaFault where the launch or the kernel failed.
        """
        held = [ctypes.create_string_buffer(argument, len(argument)) for argument in arguments]
        pointers = (ctypes.c_void_p * len(held))(*map(ctypes.addressof, held))
        answer = self.driver.cuLaunchKernel(
            kernel.function, blocks, 1, 1, threads, 1, 1, shared_bytes, 0, ctypes.addressof(pointers), 0
        )
        if int(answer[0]) == 0:
            answer = self.driver.cuCtxSynchronize()
        if int(answer[0]) != 0:
            raise CudaFault(getattr(answer[0], "name", str(answer[0])).removeprefix("CUDA_ERROR_"))
