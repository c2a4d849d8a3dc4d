"""Random descriptors for the driver to judge: about half legal, half with one thing broken, most of them near a limit.

    legal fields ──(one edge, sometimes two)──▶ TensorMap      0, limit-1, limit, limit+1, 2^32, 2^63 …

>>> from random import Random
>>> random_descriptor(Random(1)) == random_descriptor(Random(1))
True

Uniform numbers find no rule: of 2^64 strides nearly all break three at once. So a legal descriptor is built first,
and then one field is moved onto an edge, which shows whether exactly that rule is known. Values stay within what
the driver's own argument types hold (dims and strides 64 bits, boxes 32 bits, corners signed 32 bits).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from random import Random
from typing import Any

from tmalab.model.element_types import ELEMENT_TYPES
from tmalab.model.tensor_map import TensorMap
from tmalab.model.tensor_map_fields import INTERLEAVES, L2_PROMOTIONS, OOB_FILLS, SWIZZLES

Fields = dict[str, Any]

SPAN_BYTES = {
    "32B": 32, "64B": 64, "128B": 128, "128B_ATOM_32B": 128, "128B_ATOM_32B_FLIP_8B": 128, "128B_ATOM_64B": 128,
}  # fmt: skip
SMEM_BYTES = 227 << 10  # of one block
DTYPES = tuple(name for name, element in ELEMENT_TYPES.items() if not element.packed)
PACKED_DTYPES = tuple(name for name, element in ELEMENT_TYPES.items() if element.packed)
# The manual's range of an im2col corner, by rank; the signed bits that the descriptor has for each.
CORNER_LIMITS = {3: (-(1 << 15), (1 << 15) - 1), 4: (-(1 << 7), (1 << 7) - 1), 5: (-(1 << 4), (1 << 4) - 1)}

DIM_EDGES = (
    0, 1, 2, 3, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, (1 << 32) + 1, 1 << 33, 1 << 63, (1 << 64) - 1,
)  # fmt: skip
STRIDE_EDGES = (
    0, 1, 8, 15, 16, 17, 24, 32, 40, 48, 1 << 20, (1 << 32) - 16, 1 << 32, (1 << 35) + 16, (1 << 40) - 32,
    (1 << 40) - 16, (1 << 40) - 1, 1 << 40, (1 << 40) + 16, (1 << 44) + 32, 1 << 63, (1 << 64) - 16,
)  # fmt: skip
BOX_EDGES = (0, 1, 2, 255, 256, 257, 258, 512, 1 << 16, (1 << 16) + 1, 1 << 31, (1 << 32) - 1)
ELEMENT_STRIDE_EDGES = (0, 1, 2, 3, 7, 8, 9, 16, 255, 256, 1 << 16, (1 << 32) - 1)
PIXEL_EDGES = (0, 1, 2, 255, 256, 257, 1023, 1024, 1025, 2048, 1 << 16, (1 << 32) - 1)
ADDRESS_EDGES = (
    0, 16, 1 << 32, 1 << 40, (1 << 47) - 16, 1 << 47, 1 << 48, 1 << 49, 1 << 52, 1 << 56, 1 << 57, 1 << 63,
    (1 << 64) - 16,
)  # fmt: skip
# A plausible device address: the driver judges its alignment and never reads through it.
ADDRESS = 0x7F00_0000_0000


def random_descriptor(rng: Random) -> TensorMap:
    """One descriptor from `rng`: legal by the manual, or with one field (in one of twenty, two) on an edge."""
    fields = manual_legal_fields(rng)
    for _ in range(rng.choices((0, 1, 2), (35, 60, 5))[0]):
        rng.choice(EDGES[fields["kind"]])(rng, fields)
    return TensorMap.from_dict(fields)


# --- legal, as the manual words it ------------------------------------------------------------------------------------


def manual_legal_fields(rng: Random, *, kind: str | None = None, largest_dim: int = 1 << 32) -> Fields:
    """The fields of a map that keeps every written rule, for dimensions up to `largest_dim`."""
    kind = rng.choices(("tiled", "im2col"), (65, 35))[0] if kind is None else kind
    interleave = rng.choices(INTERLEAVES, (76, 12, 12))[0]
    dtype = rng.choice(DTYPES)
    element_bytes = ELEMENT_TYPES[dtype].bytes
    rank = rng.randint(3 if kind == "im2col" or interleave != "none" else 1, 5)
    swizzle = rng.choice(SWIZZLES[:4]) if interleave != "32B" else rng.choices(SWIZZLES[:4], (2, 14, 2, 2))[0]
    dims = [_extent(rng, largest_dim) for _ in range(rank)]
    fields: Fields = {
        "kind": kind, "dtype": dtype, "global_dim": dims, "interleave": interleave, "swizzle": swizzle,
        "global_strides": _strides(rng, dims, element_bytes, 32 if interleave == "32B" else 16),
        "element_strides": [1 if rng.random() < 0.7 else rng.randint(1, 8) for _ in dims],
        "l2_promotion": rng.choice(L2_PROMOTIONS),
        "oob_fill": "nan" if ELEMENT_TYPES[dtype].is_float and rng.random() < 0.3 else "none",
        "address": ADDRESS + rng.choice((0, 0, 0, 32, 64, 128, 4096)),
    }  # fmt: skip
    # Without interleave the inner box is a number of 16-byte chunks that fits the swizzle span, or 256 elements.
    span = SPAN_BYTES.get(swizzle, 256 * element_bytes) if interleave == "none" else 256 * element_bytes
    inner = rng.randint(1, span // 16) * 16 // element_bytes
    if kind == "tiled":
        fields["box_dim"] = [min(inner, 256), *(_box(rng) for _ in dims[1:])]
        while rng.random() < 0.95 and prod(fields["box_dim"]) * element_bytes > SMEM_BYTES:
            largest = max(range(1, rank), key=fields["box_dim"].__getitem__)
            fields["box_dim"][largest] = -(-fields["box_dim"][largest] // 2)
        return fields
    low, high = CORNER_LIMITS[rank]
    fields["lower_corner"], fields["upper_corner"] = [], []
    near = rng.random() < 0.7  # mostly a few pixels of padding, as a convolution has it; else anywhere in the range
    for size in dims[1:-1]:
        lower = rng.randint(-3, 3) if near else rng.randint(low, high)
        least = max(low, lower - size + 1)  # a smaller upper corner leaves no pixel to start from
        fields["lower_corner"].append(lower)
        fields["upper_corner"].append(rng.randint(least, max(least, min(high, lower + 6 if near else high))))
    fields["channels_per_pixel"] = min(inner, 256)
    fields["pixels_per_column"] = rng.choice((1, rng.randint(1, 64), rng.randint(1, 1024), 1024))
    return fields


def _extent(rng: Random, largest: int) -> int:
    near_power = (1 << rng.randint(1, 20)) + rng.choice((-1, 0, 1))
    sizes = (rng.randint(1, 16), rng.randint(17, 300), near_power, rng.randint(1, largest))
    return max(1, min(rng.choices(sizes, (45, 35, 15, 5))[0], largest))


def _box(rng: Random) -> int:
    return rng.choices((rng.randint(1, 16), rng.randint(17, 256), 256), (70, 25, 5))[0]


def _strides(rng: Random, dims: Sequence[int], element_bytes: int, multiple: int) -> list[int]:
    """Row-major strides, some of them padded, some of them any legal number; kept below the limit of 2^40."""
    strides, row = [], dims[0] * element_bytes
    for size in dims[1:]:
        padding = rng.choice((0, 0, 0, multiple, 3 * multiple))
        stride = -(-row // multiple) * multiple + padding
        if rng.random() < 0.06:
            stride = rng.choice((0, multiple, rng.randrange(0, 1 << 40, multiple)))
        strides.append(min(stride, (1 << 40) - multiple))
        row = strides[-1] * size
    return strides


# --- onto an edge -----------------------------------------------------------------------------------------------------


def _entry(name: str, edges: Sequence[int]) -> Callable[[Random, Fields], None]:
    """An edge that overwrites one entry of the list `name`."""

    def move(rng: Random, fields: Fields) -> None:
        if fields[name]:
            fields[name][rng.randrange(len(fields[name]))] = rng.choice(edges)

    return move


def _word(name: str, words: Sequence[str]) -> Callable[[Random, Fields], None]:
    def move(rng: Random, fields: Fields) -> None:
        fields[name] = rng.choice(words)

    return move


def _number(name: str, edges: Sequence[int]) -> Callable[[Random, Fields], None]:
    def move(rng: Random, fields: Fields) -> None:
        fields[name] = rng.choice(edges)

    return move


def _set_inner(fields: Fields, elements: int) -> None:
    if fields["kind"] == "im2col":
        fields["channels_per_pixel"] = elements
    elif fields["box_dim"]:
        fields["box_dim"][0] = elements


def _any_inner(rng: Random, fields: Fields) -> None:
    _set_inner(fields, rng.randint(1, 256))


def _inner_at_span(rng: Random, fields: Fields) -> None:
    """The inner box at its swizzle span, one element or one chunk to either side: the most common mistake."""
    element_bytes = ELEMENT_TYPES[fields["dtype"]].bytes
    span = SPAN_BYTES.get(fields["swizzle"], 256 * element_bytes)
    chunk = max(16 // element_bytes, 1)
    _set_inner(fields, max(0, span // element_bytes + rng.choice((-chunk, -1, 0, 0, 1, chunk, 2 * chunk))))


def _misaligned_address(rng: Random, fields: Fields) -> None:
    fields["address"] = ADDRESS + rng.choice((1, 2, 4, 8, 15, 16, 24, 32, 48))


def _misaligned_stride(rng: Random, fields: Fields) -> None:
    if fields["global_strides"]:
        fields["global_strides"][rng.randrange(len(fields["global_strides"]))] += rng.choice((1, 2, 4, 8, 16, -16, -8))
        fields["global_strides"] = [max(0, stride) for stride in fields["global_strides"]]


def _rank(rng: Random, fields: Fields) -> None:
    """Another rank, every list cut or grown to it; 0 and 6 are no tensor's, and 1 and 2 no image's."""
    rank = rng.choice((0, 1, 2, 2, 3, 4, 5, 6, 6))
    lengths = {"global_dim": rank, "box_dim": rank, "element_strides": rank, "global_strides": max(rank - 1, 0)}
    lengths |= {"lower_corner": max(rank - 2, 0), "upper_corner": max(rank - 2, 0)}
    fillers = {"global_dim": 4, "box_dim": 1, "element_strides": 1, "global_strides": 1 << 16}
    for name, length in lengths.items():
        if name in fields:
            fields[name] = (fields[name] + [fillers.get(name, 0)] * 6)[:length]


def _corner(rng: Random, fields: Fields) -> None:
    """One corner at a limit of its rank or of another rank, or where the bounding box turns empty."""
    rank = len(fields["global_dim"])
    name = rng.choice(("lower_corner", "upper_corner"))
    if not fields[name]:
        return
    position = rng.randrange(len(fields[name]))
    limit = rng.choice([value for pair in CORNER_LIMITS.values() for value in pair])
    if rng.random() < 0.6 and rank in CORNER_LIMITS:
        limit = rng.choice(CORNER_LIMITS[rank])
    far = rng.choice((-(1 << 31), (1 << 31) - 1))
    size = min(fields["global_dim"][position + 1], 1 << 15)
    fields[name][position] = rng.choices(
        (limit + rng.choice((-1, 0, 1)), size * rng.choice((-1, 1)), far), (70, 25, 5)
    )[0]


def _bounding_box(rng: Random, fields: Fields) -> None:
    """An upper corner that leaves one pixel to start from, or none, or two, of either dimension that could be meant."""
    if not fields["lower_corner"]:
        return
    position = rng.randrange(len(fields["lower_corner"]))
    size = fields["global_dim"][position + rng.choice((0, 1, 1))]
    upper = fields["lower_corner"][position] - size + rng.choice((-1, 0, 1, 2))
    fields["upper_corner"][position] = max(-(1 << 31), min(upper, (1 << 31) - 1))


def _near_capacity(rng: Random, fields: Fields) -> None:
    """A box of about a block's shared memory: legal, one row too many, and what a stride makes of both."""
    target = rng.choice((SMEM_BYTES, SMEM_BYTES, 228 << 10, 1 << 18))
    element_bytes, step = ELEMENT_TYPES[fields["dtype"]].bytes, rng.choice((-1, 0, 0, 1))
    if fields["kind"] == "im2col":
        fields["pixels_per_column"] = target // max(fields["channels_per_pixel"] * element_bytes, 1) + step
    elif len(fields["box_dim"]) > 1:
        box, strides = fields["box_dim"], fields["element_strides"]
        last = rng.randrange(1, len(box))
        taken = [size // max(stride, 1) for size, stride in zip(box, strides, strict=True)]
        others = prod(size for position, size in enumerate(taken) if position != last)
        box[last] = max(0, target // max(others * element_bytes, 1) * max(strides[last], 1) + step)
        box[last] = min(box[last], 300)


def _interleave(rng: Random, fields: Fields) -> None:
    fields["interleave"] = rng.choice(INTERLEAVES)
    if rng.random() < 0.5:
        fields["swizzle"] = rng.choice(SWIZZLES)


_COMMON = (
    _entry("global_dim", DIM_EDGES),
    _entry("global_strides", STRIDE_EDGES),
    _entry("element_strides", ELEMENT_STRIDE_EDGES),
    _misaligned_stride,
    _misaligned_address,
    _number("address", ADDRESS_EDGES),
    _any_inner,
    _inner_at_span,
    _rank,
    _interleave,
    _word("swizzle", SWIZZLES),
    _word("oob_fill", OOB_FILLS),
    _word("dtype", DTYPES),
    _word("dtype", PACKED_DTYPES),
)
_BOX = _entry("box_dim", BOX_EDGES)
_CHANNELS, _PIXELS = _number("channels_per_pixel", BOX_EDGES), _number("pixels_per_column", PIXEL_EDGES)
EDGES: dict[str, tuple[Callable[[Random, Fields], None], ...]] = {
    "tiled": (*_COMMON, _BOX, _BOX, _near_capacity),
    "im2col": (*_COMMON, _corner, _corner, _corner, _bounding_box, _near_capacity, _CHANNELS, _PIXELS),
}
