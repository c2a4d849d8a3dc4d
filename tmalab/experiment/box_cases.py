"""One map, many places: what the box explorer shows, and the chapter on the tensor map asserts.

    box/plane/-4_3        the map's name / the coordinates, innermost first
    ╰ 16 x 8 float32, a box of 8 x 4, at each of the 55 coordinates where the engine takes it and it meets the tensor

>>> len(BOX_COORDS["plane"]), box_case("plane", (-4, 3)).name
(55, 'box/plane/-4_3')

Element i of a tensor holds the number 256 + i, so that no element is mistaken for the zeros outside.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from tmalab.experiment.case import Case
from tmalab.experiment.encode_cases import ADDRESS, encode_case
from tmalab.experiment.transfer_case import transfer_case
from tmalab.model.tensor_map import TensorMap

BOX_OFFSET = 1024  # bytes before the tensor: its first element is number 256 of the memory
BOX_MEMORY = {"pattern": "arange_float32", "bytes": 8192}
BOX_SMEM_BYTES = 512


def _dense(global_dim: tuple[int, ...], box_dim: tuple[int, ...], **fields: Any) -> TensorMap:
    """The map of a float32 tensor without gaps."""
    strides = [4 * global_dim[0]]
    for size in global_dim[1:]:
        strides.append(strides[-1] * size)
    return TensorMap.tiled("float32", global_dim, strides[: len(global_dim) - 1], box_dim, **fields)


BOX_MAPS: Mapping[str, TensorMap] = {
    "plane": _dense((16, 8), (8, 4)),
    "nan": _dense((16, 8), (8, 4), oob_fill="nan"),
    "strides": _dense((16, 8), (8, 8), element_strides=(1, 2)),
    "wide": _dense((16, 8), (24, 2)),
    "padded": _dense((16, 8), (8, 4), swizzle="128B"),
    "rank-1": _dense((32,), (8,)),
    "rank-3": _dense((16, 8, 4), (8, 4, 2)),
    "rank-4": _dense((16, 8, 2, 3), (8, 4, 1, 2)),
    "rank-5": _dense((16, 8, 2, 2, 2), (8, 4, 1, 2, 1)),
}

# Where each map's box was put. A column is a multiple of 4: the engine takes inner coordinates in 16-byte steps.
BOX_COORDS: Mapping[str, tuple[tuple[int, ...], ...]] = {
    "plane": tuple(product(range(-4, 13, 4), range(-3, 8))),
    "nan": tuple(product((-4, 4, 12), (-2, 2, 6))),
    "strides": tuple(product((-4, 4, 12), (-3, 0, 3))),
    "wide": ((0, 0), (-4, 3), (0, 7)),
    "padded": ((0, 0), (4, 2), (12, 6)),
    "rank-1": tuple(product(range(-4, 29, 4))),
    "rank-3": tuple(product((4, 12), (2, 6), (-1, 0, 1, 3))),
    "rank-4": ((0, 0, 0, 0), (4, 2, 0, 0), (4, 2, 1, 0), (4, 2, 1, 1), (4, 2, 1, 2), (12, 6, 1, 2)),
    "rank-5": ((0, 0, 0, 0, 0), (4, 2, 0, 0, 0), (4, 2, 1, 0, 0), (4, 2, 1, 1, 0), (4, 2, 1, 1, 1), (12, 6, 1, 1, 1)),
}
# A box that the driver refuses (a row of 24 bytes), and a coordinate that the engine does (8 bytes in).
REFUSED_MAP = _dense((16, 8), (6, 4))
FAULT_COORDS = (2, 0)


def box_case(name: str, coords: tuple[int, ...], *, case_name: str | None = None) -> Case:
    """The load of the box of `BOX_MAPS[name]` at `coords`; the map is the same one at all of them."""
    return transfer_case(
        case_name or f"box/{name}/{'_'.join(map(str, coords))}", BOX_MAPS[name], "load", coords, memory=BOX_MEMORY,
        smem_bytes=BOX_SMEM_BYTES, address_offset=BOX_OFFSET,
    )  # fmt: skip


def encoded_case() -> Case:
    """The one encoding that all places of the box "plane" share, but for the address of the tensor."""
    return encode_case("box/encoded/plane", TensorMap.from_dict({**BOX_MAPS["plane"].to_dict(), "address": ADDRESS}))


def refused_case() -> Case:
    """The map that the driver refuses."""
    fields = {**REFUSED_MAP.to_dict(), "address": ADDRESS}
    return encode_case("box/refused/row-of-24-bytes", TensorMap.from_dict(fields))


def fault_case() -> Case:
    """The load that the engine refuses: a column that is no multiple of 16 bytes."""
    return box_case("plane", FAULT_COORDS, case_name="fault/box-column-2")


def box_cases() -> Iterator[Case]:
    """Every map at every place where it was put, one of them encoded, and the refusal."""
    for name, places in BOX_COORDS.items():
        for coords in places:
            yield box_case(name, coords)
    yield encoded_case()
    yield refused_case()
