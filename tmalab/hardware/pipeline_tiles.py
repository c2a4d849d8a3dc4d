"""`Tiles`: 2 GiB of tiles for the probes that stream, and always some of them that no cache holds.

    rows of 128 bytes, whose 32-bit words count up    ─▶ a box of `tile_bytes` is a tile, and its sum is known

>>> Tiles.sum_of(4096, 1, 1) == sum(range(1024, 2048))
True
"""

from __future__ import annotations

import numpy as np

from tmalab.hardware.cuda_device import CudaDevice
from tmalab.model.tensor_map_fields import TensorMapFields

ROW_BYTES = 128
TENSOR_BYTES, PATTERN_BYTES, APART_BYTES = 2 << 30, 64 << 20, 4 << 20
_WORDS = PATTERN_BYTES // 4


class Tiles:
    """A tensor on one device, made once for all probes that ask for it."""

    _made: dict[int, Tiles] = {}  # noqa: RUF012  (of this process: one device, one tensor)

    def __init__(self, device: CudaDevice):
        self.device, self.buffer = device, device.allocate(TENSOR_BYTES)
        device.write(self.buffer.address, np.arange(_WORDS, dtype=np.uint32))
        for at in range(PATTERN_BYTES, TENSOR_BYTES, PATTERN_BYTES):
            device.copy(self.buffer.address + at, self.buffer.address, PATTERN_BYTES)
        self._at = 0

    @classmethod
    def of(cls, device: CudaDevice) -> Tiles:
        """The device's tensor."""
        if id(device) not in cls._made:
            cls._made[id(device)] = cls(device)
        return cls._made[id(device)]

    def map(self, tile_bytes: int) -> bytes:
        """The tensor map whose box is a tile: 64 columns of float16, 128B swizzle."""
        box = (ROW_BYTES // 2, tile_bytes // ROW_BYTES)
        shape, strides = (ROW_BYTES // 2, TENSOR_BYTES // ROW_BYTES), (ROW_BYTES,)
        tm = TensorMapFields.tiled("float16", shape, strides, box, swizzle="128B")
        return self.device.encoder.encode(tm, self.buffer.address) or b""

    def next_tile(self, tile_bytes: int, tiles: int) -> int:
        """The first of `tiles` tiles that were last read several L2s of other tiles ago."""
        step = -(-tiles * tile_bytes // APART_BYTES) * APART_BYTES
        if self._at + step > TENSOR_BYTES:
            self._at = 0
        first = self._at
        self._at += step
        return first // tile_bytes

    @staticmethod
    def sum_of(tile_bytes: int, first: int, tiles: int) -> int:
        """Of their words, modulo 2**32."""

        def up_to(words: int) -> int:
            rounds, rest = divmod(words, _WORDS)
            return rounds * (_WORDS * (_WORDS - 1) // 2) + rest * (rest - 1) // 2

        return (up_to((first + tiles) * tile_bytes // 4) - up_to(first * tile_bytes // 4)) % (1 << 32)
