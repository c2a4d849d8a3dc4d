"""One tile, read by `wgmma` through right and wrong matrix descriptors: what the figure "wgmma" draws.

    64 rows, 64 columns of fp16, 8 KB                tile       a box of                in shared memory
    element (r, c) is number 64 r + c, and           128B       64 columns              rows of 128 bytes, swizzled
    its bits are 3c01 + number: it names itself      64B, 32B   32, 16 columns          2, 4 groups of narrower rows
                                                     none       8 columns               8 groups of 16-byte rows
                                                     rows       64 columns              rows of 128 bytes, not swizzled

>>> wgmma_case("128B").params["readings"][0]["start_bytes"]
[0, 32, 64, 96]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tmalab.errors import InputError
from tmalab.experiment.case import Case
from tmalab.model.swizzle import pattern
from tmalab.model.tensor_map import TensorMap
from tmalab.model.wgmma_tile import MatrixDescriptor, matrix_descriptors

ROWS = COLUMNS = 64
TILES = ("128B", "64B", "32B", "none", "rows")
DESCRIPTORS = ("128B", "64B", "32B", "none")
FIRST_BITS = 0x3C01  # of element 0: the next after 1.0, so that none of them is 1, the identity's
SMEM_BYTES = 10240  # the tile, and room for a base up to 896 and a descriptor that reads past the tile's end
STEPS = 4
PRODUCT_COLUMNS = 8


def tile_values() -> npt.NDArray[np.float16]:
    """The tile: float16[64, 64], no two elements alike, from 1 to 16 and exact in float32 through any product here."""
    return (np.arange(ROWS * COLUMNS, dtype=np.uint16) + FIRST_BITS).view(np.float16).reshape(ROWS, COLUMNS)


def product_operand() -> npt.NDArray[np.float16]:
    """The B of the ordinary product, each column as a row (K-major): float16[8, 64], the integers -3 to 3."""
    column, k = np.arange(PRODUCT_COLUMNS)[:, None], np.arange(COLUMNS)
    return ((3 * k + 5 * column + k // 7) % 7 - 3).astype(np.float16)


def element_numbers(values: npt.NDArray[np.float32]) -> npt.NDArray[np.int16]:
    """Which element of the tile each value is: its number, -1 for 0 (no element was read), -2 for anything else."""
    narrow = values.astype(np.float16)
    number = narrow.view(np.uint16).astype(np.int32) - FIRST_BITS
    is_element = (narrow == values) & (number >= 0) & (number < ROWS * COLUMNS)
    return np.where(is_element, number, np.where(values == 0, -1, -2)).astype(np.int16)


def wgmma_tile_map(tile: str) -> TensorMap:
    """The map that brings the 64x64 tile into shared memory in that layout. Raises InputError for an unknown one."""
    if tile not in TILES:
        raise InputError("no layout of the tile", field="tile", value=tile, fix=f"use one of {', '.join(TILES)}")
    if tile in ("128B", "rows"):
        swizzle = "none" if tile == "rows" else tile
        return TensorMap.tiled("float16", (COLUMNS, ROWS), (128,), (COLUMNS, ROWS), swizzle=swizzle)
    width = (pattern(tile).span_bytes or 16) // 2
    dims = (width, ROWS, COLUMNS // width)
    return TensorMap.tiled("float16", dims, (128, 2 * width), dims, swizzle=tile)


def reading(descriptor: str, base: int = 0) -> list[MatrixDescriptor]:
    """The four descriptors, one for each 16 columns, that are right for the tile of that swizzle at `base`."""
    if descriptor not in DESCRIPTORS:
        known = ", ".join(DESCRIPTORS)
        raise InputError("no such descriptor", field="descriptor", value=descriptor, fix=f"use one of {known}")
    return matrix_descriptors(wgmma_tile_map(descriptor), base)


def _case(
    name: str, tile: str, readings: Sequence[Sequence[MatrixDescriptor]], *, base: int = 0, operand: str = "A"
) -> Case:  # fmt: skip
    return Case(
        f"wgmma/{name}", "wgmma",
        {
            "tensor_map": wgmma_tile_map(tile).to_dict(), "smem_base": base, "smem_bytes": SMEM_BYTES,
            "operand": operand, "readings": [_packed(steps) for steps in readings],
        },
    )  # fmt: skip


def _packed(steps: Sequence[MatrixDescriptor]) -> dict[str, Any]:
    """Four descriptors that differ in their start alone, as one entry of a case."""
    fields = steps[0]._asdict()
    return {**fields, "start_bytes": [step.start_bytes for step in steps]}


def descriptors_of(packed: Mapping[str, Any]) -> list[MatrixDescriptor]:
    """The descriptors of one entry of a case's `readings`."""
    return [MatrixDescriptor(**{**packed, "start_bytes": start}) for start in packed["start_bytes"]]


def wgmma_case(tile: str, operand: str = "A") -> Case:
    """That tile as operand A or B, read through each of DESCRIPTORS."""
    if operand not in ("A", "B"):
        raise InputError("no operand of wgmma", field="operand", value=operand, fix="use A or B")
    return _case(f"{operand}/{tile}", tile, [reading(descriptor) for descriptor in DESCRIPTORS], operand=operand)


# --- what the fields do -----------------------------------------------------------------------------------------------

BASES = tuple(range(128, 1024, 128))


def with_fields(tile: str, *, rows_down: int = 0, shift_bytes: int = 0, **fields: Any) -> list[MatrixDescriptor]:
    """The right descriptors of that tile, but for `fields`; `rows_down` and `shift_bytes` move every start."""
    pitch = pattern(tile).span_bytes or 16
    shift = rows_down * pitch + shift_bytes
    return [one._replace(start_bytes=one.start_bytes + shift, **fields) for one in reading(tile)]


# Tile → what is changed about its right descriptors → the descriptors.
FIELD_READINGS: dict[str, dict[str, list[MatrixDescriptor]]] = {
    "128B": {
        "leading 0": with_fields("128B", leading_bytes=0),
        "leading 2048": with_fields("128B", leading_bytes=2048),
        "stride 0": with_fields("128B", stride_bytes=0),
        "stride 512": with_fields("128B", stride_bytes=512),
        "stride 1008": with_fields("128B", stride_bytes=1008),
        "swizzle none": with_fields("128B", swizzle="none"),
        "swizzle none, leading 1024": with_fields("128B", swizzle="none", leading_bytes=1024),
        "swizzle 32B": with_fields("128B", swizzle="32B"),
        "swizzle 64B": with_fields("128B", swizzle="64B"),
        "16 bytes on": with_fields("128B", shift_bytes=16),
        **{f"{rows} rows down": with_fields("128B", rows_down=rows) for rows in (1, 2, 3, 4, 7, 8)},
        **{f"base offset {offset}": with_fields("128B", base_offset=offset) for offset in range(1, 8)},
        "3 rows down, base offset 3": with_fields("128B", rows_down=3, base_offset=3),
        "3 rows down, base offset 5": with_fields("128B", rows_down=3, base_offset=5),
    },
    "64B": {
        "leading 0": with_fields("64B", leading_bytes=0),
        "stride 256": with_fields("64B", stride_bytes=256),
        "3 rows down": with_fields("64B", rows_down=3),
        **{f"base offset {offset}": with_fields("64B", base_offset=offset) for offset in (1, 2, 3, 4)},
    },
    "32B": {
        "leading 0": with_fields("32B", leading_bytes=0),
        "5 rows down": with_fields("32B", rows_down=5),
        **{f"base offset {offset}": with_fields("32B", base_offset=offset) for offset in (1, 2, 3)},
    },
    "none": {
        "leading 128, stride 256": with_fields("none", leading_bytes=128, stride_bytes=256),
        "leading 0": with_fields("none", leading_bytes=0),
        "3 rows down": with_fields("none", rows_down=3),
        "base offset 1": with_fields("none", base_offset=1),
    },
}


def fields_case(tile: str) -> Case:
    """That tile read through the descriptors of FIELD_READINGS, in their order."""
    return _case(f"fields/{tile}", tile, list(FIELD_READINGS[tile].values()))


def base_case(base: int) -> Case:
    """The 128B tile at `base`: read with base offset 0, and with base / 128."""
    plain = reading("128B", base)
    named = [one._replace(base_offset=base // 128) for one in plain]
    return _case(f"base/{base}", "128B", [plain, named], base=base)


def wgmma_cases() -> Iterator[Case]:
    """Every tile through every descriptor, as either operand; then single fields; then tiles that begin elsewhere."""
    for operand in ("A", "B"):
        for tile in TILES:
            yield wgmma_case(tile, operand)
    for tile in FIELD_READINGS:
        yield fields_case(tile)
    for base in BASES:
        yield base_case(base)
