"""`load`, `store` and `reduce`: one copy of the TMA engine, done by the model, every byte of it.

    load     global memory ──part of the box that exists, TF32 rounded, the rest filled──▶ shared memory, swizzled
    store    shared memory ──part that exists, its rows up to the next 16 bytes──▶ global memory
    reduce   the same way, and each element is combined with the one that is there

>>> from tmalab import TensorMap
>>> tm = TensorMap.tiled("uint8", (24, 2), (32,), (16, 2))
>>> memory = np.arange(64, dtype=np.uint8)
>>> load(tm, memory, (16, 1), smem_bytes=32).tolist()
[48, 49, 50, 51, 52, 53, 54, 55, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
>>> store(tm, np.full(32, 255, np.uint8), (16, 1), memory=memory)[44:].tolist()
[44, 45, 46, 47, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255]

Everything is arithmetic on the operands as given: whether the engine would refuse them is asked of
`launch_violations`, whether the driver would refuse the map of `tm.violations()`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tmalab.errors import InputError
from tmalab.model.combine import combine
from tmalab.model.element_bits import filled, loaded
from tmalab.model.operands import read_bytes, read_coords, read_offsets, read_size
from tmalab.model.shared_tile import SharedTile
from tmalab.model.tensor_map_fields import TensorMapFields
from tmalab.model.tensor_part import TensorPart

if TYPE_CHECKING:
    import numpy.typing as npt

    Bytes = npt.NDArray[np.uint8]


def load(
    tm: TensorMapFields, memory: Bytes, coords: Sequence[int], *, smem_bytes: int, smem_base: int = 0,
    offsets: Sequence[int] = (), background: int = 0xCD,
) -> Bytes:  # fmt: skip
    """Shared memory after one load of the box at `coords` (innermost first): uint8[smem_bytes].

    `memory` is the tensor's global memory, uint8, its first byte the tensor's first, long enough for what the box
    touches. Shared memory holds `background` in every byte that the load does not write; the box is put at
    `smem_base`, counted from its 1024-byte aligned start. `offsets` are an im2col load's, rank-2 entries.
    Raises InputError for an operand that is not what it must be or a box that does not fit, TensorMapError for a map
    with a box that no copy can have.
    """
    place, offsets_read = read_coords(tm, coords), read_offsets(tm, offsets)
    tile = SharedTile(tm, smem_base)
    if tile.end > read_size("smem_bytes", smem_bytes):
        raise InputError(
            f"the box at {tile.base} ends at byte {tile.end} of shared memory", field="smem_bytes", value=smem_bytes,
            limit=tile.end, fix=f"give at least {tile.end} bytes, or use a smaller box",
        )  # fmt: skip
    part = TensorPart(tm, place, offsets_read)
    elements = loaded(tm, part.read(read_bytes("memory", memory)))
    if part.size == tile.rows * tile.row_bytes:
        box = elements.reshape(-1)
    else:
        box = filled(tm, tile.rows * tile.row_bytes)
        part.put(elements, box)
    smem = np.full(smem_bytes, read_size("background", background, most=255), np.uint8)
    tile.put(box, smem)
    return smem


def store(
    tm: TensorMapFields, smem: Bytes, coords: Sequence[int], *, memory: Bytes, smem_base: int = 0
) -> Bytes:  # fmt: skip
    """Global memory after one store of the box that stands at `smem_base` in `smem`: a new array, `memory` stays.

    What lies outside the tensor is not written, except that a row's end is known to 16 bytes only.
    Where two rows of the tensor share bytes the engine's order is not defined; here the last one stays.
    Raises InputError and TensorMapError as `load` does.
    """
    tile, given = SharedTile(tm, smem_base), read_bytes("smem", smem)
    part, changed = _to_memory(tm, coords), read_bytes("memory", memory).copy()
    part.write(tile.take(given, part), changed)
    return changed


def reduce(
    tm: TensorMapFields, smem: Bytes, coords: Sequence[int], op: str, *, memory: Bytes, smem_base: int = 0
) -> Bytes:  # fmt: skip
    """Global memory after one reduction (add min max inc dec and or xor) of the box at `smem_base` into it; as `store`.

    Where two rows of the tensor share bytes, each is combined in turn. Raises InputError also for an `op` that the
    engine does not have for this element type.
    """
    tile, given = SharedTile(tm, smem_base), read_bytes("smem", smem)
    part, changed = _to_memory(tm, coords), read_bytes("memory", memory).copy()
    word = f"<u{tm.element.bytes}"
    for lines in part.one_by_one() if part.overlaps else [part]:
        there, source = lines.read(changed).view(word), tile.take(given, lines).view(word)
        lines.write(combine(tm.dtype, op, there, source).view(np.uint8), changed)
    return changed


def _to_memory(tm: TensorMapFields, coords: Sequence[int]) -> TensorPart:
    """The part of the box that a store or reduction writes; through an im2col map it has no offsets."""
    return TensorPart(tm, read_coords(tm, coords), read_offsets(tm, ()), to_memory=True)
