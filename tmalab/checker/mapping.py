"""What one copy moves, in numbers that a person asks for: the tile, the indices it reads, the bytes it counts.

    tile[d]      = ceil(box_dim[d] / element_strides[d])
    dim d reads    coords[d] + k * element_strides[d]       k < tile[d]; outside 0 … global_dim[d]-1 it is fill

>>> from tmalab import TensorMap
>>> strided = TensorMap.tiled("float32", (12, 16), (56,), (6, 4), element_strides=(1, 3))
>>> copy_facts(strided, (9, 1))
{'tile': [6, 2], 'zero_dim0_offsets': [3, 4, 5], 'dim1_indices': [1, 4]}

Plain integers and no numpy: a page asks the same questions. The bytes themselves are `tmalab.model.transfer`'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

from tmalab.model.box_bytes import copied_dim, row_bytes, used_strides
from tmalab.model.tensor_map import TensorMap

# A list of indices is worth reading up to a box's own limit.
_LONGEST = 256


class Note(NamedTuple):
    """Something worth knowing that breaks nothing. `rule` is its stable name, None for a remark on the reading."""

    rule: str | None
    message: str


def countable(tm: TensorMap) -> bool:
    """Whether the map's numbers are near enough to a real one's for arithmetic on them to mean something."""
    sizes = (*tm.box_dim, *tm.global_dim, *tm.global_strides, tm.channels_per_pixel or 0, tm.pixels_per_column or 0)
    least = 3 if tm.kind == "im2col" else 1
    return least <= tm.rank <= 5 and all(0 <= size < 1 << 64 for size in sizes) and all(0 < s for s in used_strides(tm))


def size_facts(tm: TensorMap) -> dict[str, Any]:
    """Bytes of a copy and of the tensor; nothing for numbers that no tensor has."""
    if not countable(tm):
        return {}
    facts: dict[str, Any] = {"transaction_bytes": tm.transaction_bytes(), "footprint_bytes": tm.footprint_bytes()}
    if tm.interleave == "none" and tm.kind == "tiled":
        last = sum((size - 1) * stride for size, stride in zip(tm.global_dim[1:], tm.global_strides, strict=True))
        facts["last_byte"] = last + (tm.global_dim[0] * tm.element.bits + 7) // 8 - 1
        pitch, dense = (tm.global_dim[0] * tm.element.bits + 7) // 8, []
        for size in tm.global_dim[1:]:
            dense.append(pitch)
            pitch *= size
        if tuple(dense) != tm.global_strides:
            facts["dense_strides"] = dense
    if tm.kind == "tiled" and tm.box_dim:
        facts["row_bytes"] = tm.box_dim[0] * tm.element.bits // 8
        facts |= _split(tm)
    elif tm.pixels_per_column is not None and tm.pixels_per_column > 1024:
        facts["copies"] = -(-tm.pixels_per_column // 1024)
    if tm.element.packed and tm.box_dim:
        facts |= _packed(tm)
    return facts


def _split(tm: TensorMap) -> dict[str, int]:
    """How many copies a box takes that is longer than 256 somewhere, and the bytes of all of them."""
    copies = total = 1
    for size, taken in zip(tm.box_dim, copied_dim(tm), strict=True):
        copies *= max(-(-size // 256), 1)
        total *= taken
    return {"copies": copies, "total_tx_bytes": total * tm.element.bits // 8} if copies > 1 else {}


def _packed(tm: TensorMap) -> dict[str, int]:
    """The three counts of a packed type that are taken for one another: payload, shared memory, a byte a value."""
    values = prod(copied_dim(tm))
    return {
        "payload_bytes": values * tm.element.bits // 8, "one_byte_per_value_bytes": values,
        "row_data_bytes": tm.box_dim[0] * tm.element.bits // 8, "row_smem_bytes": row_bytes(tm),
    }  # fmt: skip


def copy_facts(tm: TensorMap, coords: Sequence[int]) -> dict[str, Any]:
    """What a tiled copy at `coords` reads: the tile, the indices of a strided dimension, which of them are fill."""
    if tm.kind != "tiled" or not countable(tm) or len(coords) != tm.rank:
        return {}
    taken = copied_dim(tm)
    facts: dict[str, Any] = {"tile": list(taken)}
    if tm.interleave != "none":
        return facts
    for dim, (start, count, size) in enumerate(zip(coords, taken, tm.global_dim, strict=True)):
        step = tm.element_strides[dim] if dim else 1
        indices = [start + step * k for k in range(min(count, _LONGEST))]
        if step > 1:
            facts[f"dim{dim}_indices"] = indices
        if fill := [k for k, index in enumerate(indices) if not 0 <= index < size]:
            facts[f"zero_dim{dim}_offsets"] = fill
    return facts


def store_facts(tm: TensorMap, coords: Sequence[int]) -> dict[str, Any]:
    """Bytes past a row's end that a store overwrites: it clips at 16 bytes, where a load clips at the element.

    Measured on H200; the warning is `tma_store_16B_granularity`.
    """
    if tm.kind != "tiled" or not countable(tm) or len(coords) != tm.rank or tm.interleave != "none":
        return {}
    over = -(tm.global_dim[0] * tm.element.bits // 8) % 16
    reaches_end = coords[0] + tm.box_dim[0] > tm.global_dim[0] > coords[0]
    return {"overwritten_bytes_per_row": over} if reaches_end and over else {}


def live_rows(tm: TensorMap, coords: Sequence[int], rows: int) -> tuple[dict[str, Any], list[Note]]:
    """Rows of a box that are inside `global_dim` and past the live ones: the engine does not fill those."""
    if tm.kind != "tiled" or tm.rank < 2 or not countable(tm) or len(coords) != tm.rank:
        return {}, []
    last = min(coords[1] + tm.box_dim[1], tm.global_dim[1]) - 1
    first = max(rows, coords[1])
    if first > last:
        return {}, []
    message = (
        f"only rows past global_dim[1]={tm.global_dim[1]} are filled; rows {first} to {last} of this box are in bounds "
        f"and not live, and hold whatever is in memory"
    )
    return {"unmasked_rows": [first, last]}, [Note("oob_is_globalDim_only", message)]
