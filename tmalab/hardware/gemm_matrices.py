"""The matrices of one product on the GPU, and what is right: random inputs, a poisoned output, a float32 reference.

    A, B   normal numbers rounded to bfloat16, the rows' padding too      C   every bit set: a NaN that nobody writes
    check  ‖C - reference‖ / ‖reference‖, NaNs, elements that are still poison, padding that is not any more:
           in the 16 bytes where a row ends (a TMA store writes whole ones), and beyond

CuPy computes here, on the device's one context; nothing is timed.
"""

from __future__ import annotations

from typing import Any

from tmalab.hardware.cuda_device import Buffer, CudaDevice

POISON = 0xFFFF
CHUNK = 8  # elements in 16 bytes
_AT_ONCE = 1 << 26  # elements converted or compared at a time: a quarter of a GB as float32


class Matrices:
    """A, B and C for one product, of m, n, k and the rows' distances lda, ldb, ldc."""

    def __init__(self, device: CudaDevice, shape: dict[str, int], seed: int):
        import cupy

        self._cupy, self._shape, self.device = cupy, shape, device
        self._random = cupy.random.default_rng(seed)
        sizes = ((shape["m"], shape["lda"]), (shape["n"], shape["ldb"]), (shape["m"], shape["ldc"]))
        self._sizes = sizes
        self.buffers = [device.allocate(2 * rows * pitch) for rows, pitch in sizes]
        for which in (0, 1):
            self._fill(which)
        self.poison()

    @property
    def addresses(self) -> tuple[int, int, int]:
        """Of A, B and C."""
        a, b, c = (buffer.address for buffer in self.buffers)
        return a, b, c

    def poison(self) -> None:
        """C as nobody writes it."""
        self.device.fill(self.buffers[2].address, POISON & 0xFF, self.buffers[2].bytes)

    def free(self) -> None:
        """Give the memory back."""
        for buffer in self.buffers:
            self.device.free(buffer)

    def _bits(self, which: int) -> Any:
        """The matrix as uint16[rows, pitch], no copy."""
        buffer: Buffer = self.buffers[which]
        memory = self._cupy.cuda.UnownedMemory(buffer.address, buffer.bytes, self)
        pointer = self._cupy.cuda.MemoryPointer(memory, 0)
        return self._cupy.ndarray(self._sizes[which], self._cupy.uint16, pointer)

    def _fill(self, which: int) -> None:
        flat = self._bits(which).reshape(-1)
        for at in range(0, flat.size, _AT_ONCE):
            part = flat[at : at + _AT_ONCE]
            numbers = self._random.standard_normal(part.size, dtype=self._cupy.float32).view(self._cupy.uint32)
            part[...] = (numbers + 0x7FFF + (numbers >> 16 & 1)) >> 16  # round to nearest, ties to even
        self._cupy.cuda.get_current_stream().synchronize()

    def _float32(self, which: int, first: int, rows: int) -> Any:
        """Some rows as float32, without the padding."""
        width = self._shape["n"] if which == 2 else self._shape["k"]
        bits = self._bits(which)[first : first + rows, :width].astype(self._cupy.uint32)
        return (bits << 16).view(self._cupy.float32)

    def check(self) -> dict[str, float | int]:
        """What C is, against the product in float32 of the same inputs."""
        cupy, n = self._cupy, self._shape["n"]
        b = self._float32(1, 0, self._shape["n"])
        at_once = max(1, _AT_ONCE // max(n, self._shape["k"]))
        wrong = right = 0.0
        end = -(-n // CHUNK) * CHUNK
        counts = {"nan": 0, "unwritten": 0, "last_chunk_touched": 0, "outside_touched": 0}
        for first in range(0, self._shape["m"], at_once):
            rows = min(at_once, self._shape["m"] - first)
            reference, seen = self._float32(0, first, rows) @ b.T, self._float32(2, first, rows)
            bits = self._bits(2)[first : first + rows]
            counts["nan"] += int(cupy.isnan(seen).sum())
            counts["unwritten"] += int((bits[:, :n] == POISON).sum())
            counts["last_chunk_touched"] += int((bits[:, n:end] != POISON).sum())
            counts["outside_touched"] += int((bits[:, end:] != POISON).sum())
            wrong += float(((seen - reference) ** 2).sum(dtype=cupy.float64))
            right += float((reference**2).sum(dtype=cupy.float64))
        del b, reference, seen
        cupy.get_default_memory_pool().free_all_blocks()
        return {"relative_error": (wrong / right) ** 0.5 if right else 0.0, **counts}
