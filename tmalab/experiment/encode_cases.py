"""What the driver is asked to encode: one map of rank 5, and its like with one field changed, so that bits can be told.

    encode/base                       float16, five dimensions, at an address of no allocation
    encode/box_dim-2/171              the same, but for box_dim[2]: what differs in the 128 bytes is that field
    encode/mixed/1 …                  everything changed at once: what a table of bits is put to the test with

>>> names = [case.name for case in encode_cases()]
>>> names[0], "encode/swizzle/64B" in names, len(names) == len(set(names))
('encode/base', True, True)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tmalab.experiment.case import Case
from tmalab.model.element_types import ELEMENT_TYPES
from tmalab.model.tensor_map import TensorMap
from tmalab.model.tensor_map_fields import INTERLEAVES, L2_PROMOTIONS

# The driver looks at an address's alignment only, so that one where nothing is allocated serves (measured on H200).
ADDRESS = 0x7F00_0000_0000
ENCODE_BASE: dict[str, Any] = {
    "dtype": "float16", "global_dim": (64, 16, 8, 4, 2), "global_strides": (128, 2048, 16384, 65536),
    "box_dim": (16, 2, 1, 1, 1), "element_strides": (1, 1, 1, 1, 1), "address": ADDRESS,
}  # fmt: skip

# Values whose bits, or whose bits less one, are all 0, all 1, and 0101… and 1010…: together they find where a field
# begins and ends, and in which order its bits stand.
_ADDRESSES = (0, 0x155_5555_5555_5550, 0xAA_AAAA_AAAA_AAA0, 2**57 - 16, 2**57)  # the last one is refused
_DIMS = (1, 0x5555_5555 + 1, 0xAAAA_AAAA + 1, 2**32)
_STRIDES = (0, 0x5_5555_5555 << 4, 0xA_AAAA_AAAA << 4, (2**36 - 1) << 4)
_BOX = (1, 86, 171, 256)
_INNER_BOX = (8, 88, 176, 256)  # 16 bytes are 8 elements
_STEPS = (3, 6, 8)

# Maps as people write them, and no field of one is that of another.
_MIXED: tuple[dict[str, Any], ...] = (
    {"dtype": "float16", "global_dim": (4096, 8192), "global_strides": (8192,), "box_dim": (64, 128),
     "swizzle": "128B", "l2_promotion": "256B", "address": ADDRESS + 0x12340},
    {"dtype": "bfloat16", "global_dim": (80, 77, 12), "global_strides": (160, 12320), "box_dim": (32, 7, 3),
     "element_strides": (1, 2, 1), "swizzle": "64B", "l2_promotion": "128B", "oob_fill": "nan", "address": 0x10_0000},
    {"dtype": "uint8", "global_dim": (100, 3), "global_strides": (112,), "box_dim": (16, 3), "swizzle": "32B",
     "l2_promotion": "64B", "address": ADDRESS + 0xFFF0},
    {"dtype": "float64", "global_dim": (10, 9, 8, 7), "global_strides": (96, 1024, 16384), "box_dim": (2, 3, 4, 5),
     "element_strides": (2, 3, 1, 7), "interleave": "16B", "oob_fill": "nan", "address": 0x5678_9AB0},
)  # fmt: skip


def encode_case(name: str, tensor_map: TensorMap) -> Case:
    """The case that has the driver encode `tensor_map`, which has an address. A refusal is an answer too."""
    return Case(name, "encode", {"tensor_map": tensor_map.to_dict()})


def encode_cases() -> Iterator[Case]:
    """The base, each of its fields changed by itself, and a few maps that share nothing with it."""
    yield encode_case("encode/base", TensorMap.tiled(**ENCODE_BASE))
    for field, value, changed in _changes():
        yield encode_case(f"encode/{field}/{value}", TensorMap.tiled(**{**ENCODE_BASE, **changed}))
    for number, fields in enumerate(_MIXED, 1):
        yield encode_case(f"encode/mixed/{number}", TensorMap.tiled(**fields))


def _changes() -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Field, value and the fields to change: one at a time, and what its rank takes with it."""
    for address in _ADDRESSES:
        yield "address", f"{address:x}", {"address": address}
    for dtype, element in ELEMENT_TYPES.items():
        if dtype != ENCODE_BASE["dtype"] and not element.packed:
            yield "dtype", dtype, {"dtype": dtype}
    for rank in (1, 2, 3, 4):
        lists = ("global_dim", "box_dim", "element_strides")
        cut = {field: ENCODE_BASE[field][:rank] for field in lists}
        yield "rank", rank, {**cut, "global_strides": ENCODE_BASE["global_strides"][: rank - 1]}
    for dim in range(5):
        yield from _entries("global_dim", dim, _DIMS)
    for dim in range(4):
        yield from _entries("global_strides", dim, _STRIDES)
    for dim in range(5):
        yield from _entries("box_dim", dim, _BOX if dim else _INNER_BOX)
    for dim in range(5):
        yield from _entries("element_strides", dim, _STEPS)
    for field, words in (
        ("interleave", INTERLEAVES[1:]),
        ("swizzle", ("32B", "64B", "128B")),
        ("l2_promotion", L2_PROMOTIONS[1:]),
        ("oob_fill", ("nan",)),
    ):
        for word in words:
            yield field, word, {field: word}


def _entries(field: str, dim: int, values: tuple[int, ...]) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """One entry of a list at a time, set to each of `values` that it does not have."""
    listed = ENCODE_BASE[field]
    for value in values:
        if value != listed[dim]:
            yield f"{field}-{dim}", value, {field: (*listed[:dim], value, *listed[dim + 1 :])}
