"""The probe "transfer", in the worker: one TMA load, store or reduction, and every byte that it left behind.

    params ─▶ tensor map through the driver ─▶ kernels/transfer.cu ─▶ smem (load) or memory (store, reduce)

`params` are complete here (runner.py fills in what a case may leave out). Memory that several transfers start from is
made once and kept on the device: a store works on a copy of it.
"""

from __future__ import annotations

import json
import struct
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

import numpy as np

from tmalab.errors import HardwareError, InputError
from tmalab.experiment.memory import make_bytes
from tmalab.hardware.cuda_device import MOST_SHARED_BYTES, Buffer, CudaDevice
from tmalab.hardware.driver_encode import TENSOR_MAP_BYTES
from tmalab.model.tensor_map_fields import TensorMapFields

OWN_BYTES = 1024  # of shared memory, in front of what is dumped: the barrier (transfer.cu, OWN_BYTES)
MOST_SMEM_BYTES = MOST_SHARED_BYTES - OWN_BYTES
DIRECTIONS = ("load", "store", "reduce")
OPS = ("add", "min", "max", "inc", "dec", "and", "or", "xor")
SPACES = ("param", "global", "const", "shared", "local")
THREADS = 256
_IM2COL = 8
# struct Transfer and struct Report of transfer.cu, field by field.
_TRANSFER = struct.Struct("<4Q5i3HH8I4x")
_REPORT = struct.Struct("<Qq4I")
_UNKNOWN = -(1 << 40)
_KEPT_BYTES = 1 << 30  # of device memory for what transfers start from


class TransferProbe:
    """Runs one transfer after another on one device."""

    def __init__(self, device: CudaDevice):
        self.device = device
        self._kernel = device.kernel("transfer")
        # The report and the dump stand side by side, so that one copy brings both back.
        self._out = device.allocate(_REPORT.size + MOST_SMEM_BYTES)
        self._smem_in = device.allocate(MOST_SMEM_BYTES)
        self._map = device.allocate(2 * TENSOR_MAP_BYTES)
        self._scratch, self._given = device.allocate(0), device.allocate(0)
        self._kept: OrderedDict[str, Buffer] = OrderedDict()

    def run(self, params: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Values and arrays of one transfer. Raises CudaFault where the engine refused it."""
        is_load = params["direction"] == "load"
        memory = self._memory(params["memory"])
        target = memory if is_load else self._copy_of(memory)
        tm = TensorMapFields.from_dict(params["tensor_map"])
        address = target.address + params["address_offset"] if tm.address is None else tm.address
        encoded = self.device.encoder.encode(tm, address)
        if encoded is None:
            return {"completed": False, "error": "INVALID_VALUE"}, {}
        smem_bytes = params["smem_bytes"]
        self._launch(params, tm, encoded, is_load)
        if is_load:
            out = self.device.read(self._out.address, _REPORT.size + smem_bytes)
            values = self._values(out, params)
            return values, {"smem": out[_REPORT.size :]}
        values = self._values(self.device.read(self._out.address, _REPORT.size), params)
        return values, {"memory": self.device.read(target.address, target.bytes)}

    def _launch(self, params: Mapping[str, Any], tm: TensorMapFields, encoded: bytes, is_load: bool) -> None:
        device, smem_bytes = self.device, params["smem_bytes"]
        background, smem_in = self._background(params["smem"], smem_bytes)
        space, at = params["descriptor_space"], params["descriptor_align"] % TENSOR_MAP_BYTES
        if space == "global":
            device.write(self._map.address + at, np.frombuffer(encoded, np.uint8))
        elif space == "const":
            const_map, _ = device.check(device.driver.cuModuleGetGlobal(self._kernel.module, b"const_map"))
            device.write(int(const_map) + at, np.frombuffer(encoded, np.uint8))
        device.fill(self._out.address, 0, _REPORT.size)
        transfer = _TRANSFER.pack(
            smem_in, self._out.address + _REPORT.size if is_load else 0, self._map.address + at, params["wait_ns"],
            *_padded(params["coords"], 5), *_padded(params["offsets"], 3), at,
            tm.rank + (_IM2COL if tm.kind == "im2col" else 0), DIRECTIONS.index(params["direction"]),
            OPS.index(params["op"]) if params["op"] else 0, SPACES.index(space),
            smem_bytes, params["smem_base"], params["expect_tx_bytes"], background,
        )  # fmt: skip
        device.launch(
            self._kernel, [encoded, transfer, struct.pack("<Q", self._out.address)],
            threads=THREADS, shared_bytes=OWN_BYTES + smem_bytes,
        )  # fmt: skip

    def _values(self, out: np.ndarray, params: Mapping[str, Any]) -> dict[str, Any]:
        waited_ns, surplus, completed, waiting_for, alignment, finished = _REPORT.unpack(out[: _REPORT.size].tobytes())
        if not finished or alignment:
            raise HardwareError(f"the kernel did not run as written (finished {finished}, alignment {alignment})")
        values: dict[str, Any] = {"completed": bool(completed), "waited_ns": waited_ns, "error": None}
        if params["direction"] == "load":
            armed = params["expect_tx_bytes"]
            values["delivered_bytes"] = None if surplus == _UNKNOWN else armed + surplus
            values["waiting_for"] = "phase 0 of the barrier that the load completes on" if waiting_for else None
        return values

    def _background(self, spec: Mapping[str, Any] | np.ndarray, smem_bytes: int) -> tuple[int, int]:
        """What shared memory holds first: a byte, or the device address of all of its bytes (else 0)."""
        if not isinstance(spec, np.ndarray) and spec["pattern"] == "fill":
            return spec["value"], 0
        content = spec if isinstance(spec, np.ndarray) else make_bytes(spec)
        if content.nbytes < smem_bytes:
            raise InputError(
                "shorter than shared memory", field="smem.bytes", value=content.nbytes, limit=smem_bytes,
                fix=f"give at least {smem_bytes}",
            )  # fmt: skip
        self.device.write(self._smem_in.address, content[:smem_bytes])
        return 0, self._smem_in.address

    def _memory(self, spec: Mapping[str, Any] | np.ndarray) -> Buffer:
        """Device memory that holds `spec`; arrays are not kept beyond the next one."""
        if isinstance(spec, np.ndarray):
            self.device.free(self._given)
            self._given = self.device.upload(spec)
            return self._given
        key = json.dumps(spec, sort_keys=True)
        if key not in self._kept:
            self._kept[key] = self.device.upload(make_bytes(spec))
            while len(self._kept) > 1 and sum(buffer.bytes for buffer in self._kept.values()) > _KEPT_BYTES:
                self.device.free(self._kept.popitem(last=False)[1])
        self._kept.move_to_end(key)
        return self._kept[key]

    def _copy_of(self, memory: Buffer) -> Buffer:
        if self._scratch.bytes < memory.bytes:
            self.device.free(self._scratch)
            self._scratch = self.device.allocate(memory.bytes)
        self.device.copy(self._scratch.address, memory.address, memory.bytes)
        return Buffer(self._scratch.address, memory.bytes, self._scratch.allocation)


def _padded(values: list[int], length: int) -> list[int]:
    return [*values, *[0] * (length - len(values))]
