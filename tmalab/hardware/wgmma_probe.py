"""The probe "wgmma", in the worker: one tile loaded by TMA, and every element as `wgmma` reads it.

    params ─▶ tensor map through the driver ─▶ kernels/wgmma_tile.cu ─▶ read, product, smem, descriptors, cycles

Times the identity, a product is the operand itself: what stands in d[r][n] is the element that was read for (r, n).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

from tmalab.errors import HardwareError
from tmalab.experiment.wgmma_cases import (
    COLUMNS,
    PRODUCT_COLUMNS,
    ROWS,
    STEPS,
    element_numbers,
    product_operand,
    tile_values,
)
from tmalab.hardware.cuda_device import CudaDevice
from tmalab.model.tensor_map_fields import TensorMapFields
from tmalab.model.wgmma_tile import SWIZZLE_BITS

OWN_BYTES = 1024  # of shared memory, in front of the operands: the barrier (wgmma_tile.cu, OWN_BYTES)
THREADS = 128
ROUNDS = 16  # of each timing; the first finds the caches cold and is left out
_WAIT_NS = 2_000_000
# struct Reading, Experiment and Report of wgmma_tile.cu, field by field.
_READING = struct.Struct("<8I")
_EXPERIMENT = struct.Struct("<8Q6I")
_REPORT = struct.Struct("<4I")


class WgmmaProbe:
    """Runs one tile after another on one device."""

    def __init__(self, device: CudaDevice):
        self.device = device
        self._kernel = device.kernel("wgmma_tile")

    def run(self, params: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Values and arrays of one tile and its readings. Raises CudaFault, HardwareError."""
        device, tm = self.device, TensorMapFields.from_dict(params["tensor_map"])
        readings, smem_bytes = params["readings"], params["smem_bytes"]
        other = np.concatenate([np.eye(ROWS, dtype=np.float16), product_operand()])
        dims = other.shape[::-1]
        other_map = TensorMapFields.tiled("float16", dims, (2 * COLUMNS,), dims, swizzle="128B")
        packed = np.frombuffer(b"".join(map(_packed, readings)), np.uint8)
        given: tuple[np.ndarray, ...] = (packed, tile_values(), other)
        count, times = len(readings), 4 * ROUNDS
        sizes = [count * size for size in (4 * ROWS * COLUMNS, 4 * ROWS * PRODUCT_COLUMNS, 8 * STEPS)]
        sizes += [smem_bytes, 2 * times, count * times, _REPORT.size]
        buffers = [*map(device.upload, given), *map(device.allocate, sizes)]
        readings_at, tile_at, other_at, *out, report_at = (buffer.address for buffer in buffers)
        maps = [device.encoder.encode(tm, tile_at) or b"", device.encoder.encode(other_map, other_at) or b""]
        experiment = _EXPERIMENT.pack(
            readings_at, *out, _WAIT_NS, count, tm.rank, 2 * ROWS * COLUMNS, smem_bytes, params["smem_base"],
            params["operand"] == "B",
        )  # fmt: skip
        device.fill(report_at, 0, _REPORT.size)
        device.launch(
            self._kernel, [*maps, experiment, struct.pack("<Q", report_at)],
            threads=THREADS, shared_bytes=OWN_BYTES + other.nbytes + smem_bytes,
        )  # fmt: skip
        found = [device.read(buffer.address, buffer.bytes) for buffer in buffers[len(given) :]]
        for buffer in buffers:
            device.free(buffer)
        read, product, encoded, smem, loads, products, report = found
        waiting_for, finished, region, _ = _REPORT.unpack(report.tobytes())
        if waiting_for or not finished or region % 1024:
            raise HardwareError(f"the kernel did not run as written (waiting for {waiting_for}, region {region})")
        elements = element_numbers(read.view(np.float32).reshape(-1, ROWS, COLUMNS))
        arrays = {"smem": smem, "descriptors": encoded.view(np.uint64).reshape(-1, STEPS)}
        for name, cycles in (("load_cycles", loads), ("product_cycles", products)):
            arrays[name] = cycles.view(np.int32).reshape(-1, ROUNDS)[:, 1:]
        if params["operand"] == "B":  # d[k][n] is what was read for row n, column k of the tile
            arrays["read"] = elements.transpose(0, 2, 1).copy()
        else:
            arrays |= {"read": elements, "product": product.view(np.float32).reshape(-1, ROWS, PRODUCT_COLUMNS)}
        return {"completed": True, "error": None, "region_bytes": region}, arrays


def _packed(reading: Mapping[str, Any]) -> bytes:
    fields = (reading[name] for name in ("leading_bytes", "stride_bytes", "base_offset"))
    return _READING.pack(*reading["start_bytes"], *fields, SWIZZLE_BITS[reading["swizzle"]])
