"""The 128 bytes of an encoded tiled map, read back: which bits hold which field, and a map from its bytes.

    bits   0 ─ 56   68   71  75 77 79 80 81   96 ─ 239          256 ─ 415     416 ─ 430         440 ─ 479
          address  rank dtype  modes  tf32 L2 global_strides/16 global_dim-1  element_strides-1 box_dim-1

>>> bits_of("global_strides[0]"), bits_of("box_dim[2]")
(((96, 32), (224, 4)), ((456, 8),))

No manual gives these places. They were found on an H200 (driver 580.159.04, 2026-11-30) by encoding one map, changing
one field at a time and looking at what differs; every recorded encoding decodes to the map that was asked for. Another
driver may place them elsewhere: encode with the driver, and read this to understand what it wrote. No numpy is
imported here.
"""

from __future__ import annotations

from math import prod

from tmalab.errors import InputError, TensorMapError
from tmalab.model.swizzle import pattern
from tmalab.model.tensor_map import TensorMap
from tmalab.model.tensor_map_fields import INTERLEAVES, L2_PROMOTIONS, OOB_FILLS, SWIZZLES

ENCODED_BYTES = 128
_IM2COL_BYTE = 8  # its lowest bit is set in every recorded im2col encoding, and in no tiled one
_MOST_DIMENSIONS = 5
Bits = tuple[tuple[int, int], ...]  # (first bit, how many) of each piece, the lowest piece first

# Bit 0 is the lowest of byte 0.
_PLACES: dict[str, Bits] = {
    "address": ((0, 57),), "rank": ((68, 3),), "dtype": ((71, 4),), "interleave": ((75, 2),), "swizzle": ((77, 2),),
    "oob_fill": ((79, 1),), "tf32": ((80, 1),), "l2_promotion": ((81, 2),),
    **{f"global_strides[{dim}]": ((96 + 32 * dim, 32), (224 + 4 * dim, 4)) for dim in range(4)},
    **{f"global_dim[{dim}]": ((256 + 32 * dim, 32),) for dim in range(5)},
    **{f"element_strides[{dim}]": ((416 + 3 * dim, 3),) for dim in range(5)},
    **{f"box_dim[{dim}]": ((440 + 8 * dim, 8),) for dim in range(5)},
    # No fields: the driver works them out from the others.
    "box_bytes": ((512, 32),), "pattern_bytes": ((576, 32),),
}  # fmt: skip
FIELDS = tuple(_PLACES)
# The engine's own numbers, which are not the driver's enumerators from float32_ftz on; TF32 is a bit beside them.
_ELEMENT_TYPES = (
    "uint8", "uint16", "uint32", "int32", "uint64", "int64", "float16", "float32", "float32_ftz", "float64", "bfloat16",
)  # fmt: skip
_ROUNDED = {"float32": "tfloat32", "float32_ftz": "tfloat32_ftz"}
_KNOWN = sum((1 << count) - 1 << first for pieces in _PLACES.values() for first, count in pieces)


def bits_of(field: str) -> Bits:
    """Where a field, or an entry of one, stands: (first bit, number of bits) of each piece. Raises InputError."""
    found = _PLACES.get(field)
    if found is None:
        raise InputError(
            "no field of an encoded map", field="field", value=field, fix=f"use one of {', '.join(FIELDS)}"
        )
    return found


def read_bits(encoded: bytes, field: str) -> int:
    """The number that stands in a field's bits, as it is stored. Raises InputError for bytes that are no map's."""
    whole = int.from_bytes(_checked(encoded), "little")
    value = shift = 0
    for first, count in bits_of(field):
        value |= (whole >> first & (1 << count) - 1) << shift
        shift += count
    return value


def decode(encoded: bytes) -> TensorMap:
    """The tiled map that was encoded. Raises InputError for an im2col map's bytes, and where a number means nothing."""
    if is_im2col(encoded):
        fix = "give a tiled map's bytes: where an im2col map keeps its corners and counts is not known here"
        raise InputError("an im2col map's bytes", field="encoded", value="im2col", limit="tiled", fix=fix)
    rank = read_bits(encoded, "rank") + 1
    if rank > _MOST_DIMENSIONS:
        fix = "give a map's bytes"
        raise InputError("stands for nothing", field="rank", value=rank, limit=_MOST_DIMENSIONS, fix=fix)
    dtype = _word(encoded, "dtype", _ELEMENT_TYPES)
    if read_bits(encoded, "tf32"):
        dtype = _ROUNDED.get(dtype, dtype)
    return TensorMap.tiled(
        dtype,
        [read_bits(encoded, f"global_dim[{dim}]") + 1 for dim in range(rank)],
        [read_bits(encoded, f"global_strides[{dim}]") * 16 for dim in range(rank - 1)],
        [read_bits(encoded, f"box_dim[{dim}]") + 1 for dim in range(rank)],
        element_strides=[read_bits(encoded, f"element_strides[{dim}]") + 1 for dim in range(rank)],
        interleave=_word(encoded, "interleave", INTERLEAVES), swizzle=_word(encoded, "swizzle", SWIZZLES[:4]),
        l2_promotion=_word(encoded, "l2_promotion", L2_PROMOTIONS), oob_fill=_word(encoded, "oob_fill", OOB_FILLS),
        address=read_bits(encoded, "address"),
    )  # fmt: skip


def is_im2col(encoded: bytes) -> bool:
    """Whether the bytes are an im2col map's, whose corners and counts stand at places that are not known here."""
    return bool(_checked(encoded)[_IM2COL_BYTE] & 1)


def unknown_bits(encoded: bytes) -> list[int]:
    """The bits that are set and belong to no field, lowest first: none in any recorded encoding of a tiled map."""
    rest = int.from_bytes(_checked(encoded), "little") & ~_KNOWN
    return [bit for bit in range(8 * ENCODED_BYTES) if rest >> bit & 1]


def differing(one: bytes, other: bytes) -> list[str]:
    """The fields whose bits are not the same in both, in the order of FIELDS; `other` for bits of no field."""
    found = [field for field in FIELDS if read_bits(one, field) != read_bits(other, field)]
    return [*found, *(["other"] if unknown_bits(one) != unknown_bits(other) else [])]


def expected(tm: TensorMap) -> bytes:
    """What the driver is expected to write for a tiled map: each recorded encoding, to the byte.

    It is no encoder: where another driver places its fields nobody looked. Raises TensorMapError for a map that the
    driver refuses, and InputError for an im2col map or a type of which no encoding was recorded.
    """
    dtype = next((plain for plain, rounded in _ROUNDED.items() if rounded == tm.dtype), tm.dtype)
    if tm.kind != "tiled" or dtype not in _ELEMENT_TYPES:
        raise InputError("no such encoding was recorded", field="encoded", value=f"{tm.kind} {tm.dtype}")
    worked_out = {"box_bytes": box_bytes(tm), "pattern_bytes": pattern(tm.swizzle).repeat_bytes}
    stored = {
        "address": tm.address or 0, "rank": tm.rank - 1,
        "dtype": _ELEMENT_TYPES.index(dtype), "tf32": dtype != tm.dtype,
        "interleave": INTERLEAVES.index(tm.interleave), "swizzle": SWIZZLES.index(tm.swizzle),
        "l2_promotion": L2_PROMOTIONS.index(tm.l2_promotion), "oob_fill": OOB_FILLS.index(tm.oob_fill), **worked_out,
        **{f"global_strides[{dim}]": stride // 16 for dim, stride in enumerate(tm.global_strides)},
        **{f"global_dim[{dim}]": size - 1 for dim, size in enumerate(tm.global_dim)},
        **{f"element_strides[{dim}]": step - 1 for dim, step in enumerate(tm.element_strides)},
        **{f"box_dim[{dim}]": size - 1 for dim, size in enumerate(tm.box_dim)},
    }  # fmt: skip
    whole = 0
    for field, value in stored.items():
        for first, count in bits_of(field):
            whole |= (value & (1 << count) - 1) << first
            value >>= count
    return whole.to_bytes(ENCODED_BYTES, "little")


def box_bytes(tm: TensorMap) -> int:
    """What the driver writes into `box_bytes`: elements by whole element strides, which round down and not up.

    It is no transaction count: an element stride that is larger than its box makes it 0, and the copy still runs.
    Raises TensorMapError for a map that the driver refuses, since it writes nothing then.
    """
    if broken := tm.violations():
        raise TensorMapError(broken)
    return prod(size // step for size, step in zip(tm.box_dim, tm.element_strides, strict=True)) * tm.element.bytes


def _word(encoded: bytes, field: str, words: tuple[str, ...]) -> str:
    number = read_bits(encoded, field)
    if number >= len(words):
        raise InputError(
            "stands for nothing", field=field, value=number, limit=len(words) - 1, fix="give a map's bytes"
        )
    return words[number]


def _checked(encoded: bytes) -> bytes:
    if not isinstance(encoded, (bytes, bytearray)) or len(encoded) != ENCODED_BYTES:
        size = len(encoded) if isinstance(encoded, (bytes, bytearray)) else encoded
        raise InputError("not an encoded map", field="encoded", value=size, limit=ENCODED_BYTES, fix="give 128 bytes")
    return bytes(encoded)
