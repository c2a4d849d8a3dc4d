"""The XOR that spreads a box over the banks: bits of a shared address are flipped by higher bits of the same address.

    128B     address  … 9 8 7 │ 6 5 4 │ 3 2 1 0          64B: bits 4-5 by 7-8          32B: bit 4 by bit 7
                      row phase─XOR▶chunk╯ byte in its chunk

>>> [swizzled(128 * row + 16 * 5, "128B") % 128 // 16 for row in range(8)]
[5, 4, 7, 6, 1, 0, 3, 2]
>>> explain(128 * 3 + 16 * 5, "128B").words
'chunk 5 XOR row 3 = 6'

The address is the absolute one, from the start of shared memory: a box that does not begin at a multiple of the
pattern begins in the middle of it. Plain operators, so an int and a numpy array go through the same function; no
numpy is imported here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

from tmalab.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

CHUNK_BYTES = 16
LINE_BYTES = 128  # one 4-byte word of each of the 32 banks

Address = TypeVar("Address", int, "npt.NDArray[np.int64]")


class Pattern(NamedTuple):
    """One swizzle mode. `span_bytes` is the longest row it allows; the pattern repeats after `repeat_bytes`.

    Each of `flips` is (mask, shift): the address bits under `mask`, moved down by `shift`, flip the bits they meet.
    """

    span_bytes: int
    repeat_bytes: int
    flips: tuple[tuple[int, int], ...]
    measured: bool


# Source: PTX ISA, Swizzling Modes. The first four were measured on an H200 too; the atom modes need sm_100 and were
# read only: whole 32 or 64-byte atoms move, and FLIP_8B also swaps the halves of each chunk in every second line.
PATTERNS = {
    "none": Pattern(0, CHUNK_BYTES, (), True),
    "32B": Pattern(32, 256, ((0x080, 3),), True),
    "64B": Pattern(64, 512, ((0x180, 3),), True),
    "128B": Pattern(128, 1024, ((0x380, 3),), True),
    "128B_ATOM_32B": Pattern(128, 512, ((0x180, 2),), False),
    "128B_ATOM_32B_FLIP_8B": Pattern(128, 512, ((0x180, 2), (0x080, 4)), False),
    "128B_ATOM_64B": Pattern(128, 256, ((0x080, 1),), False),
}


def pattern(swizzle: str) -> Pattern:
    """The pattern of a swizzle mode. Raises InputError for an unknown word."""
    found = PATTERNS.get(swizzle) if isinstance(swizzle, str) else None
    if found is None:
        raise InputError("unknown swizzle", field="swizzle", value=swizzle, fix=f"use one of {', '.join(PATTERNS)}")
    return found


def span_bytes(swizzle: str) -> int:
    """Bytes to which a narrower row is padded: 32, 64 or 128; 0 without swizzle, where nothing is padded."""
    return pattern(swizzle).span_bytes


def swizzled(address: Address, swizzle: str) -> Address:
    """Where the byte that a linear layout has at `address` really stands, both from the start of shared memory.

    `address` is an int or an integer array, and what comes back is of its kind. It is its own inverse: the same
    call says which linear address a byte of shared memory belongs to.
    """
    found = address
    for mask, shift in pattern(swizzle).flips:
        found = found ^ ((address & mask) >> shift)
    return found


class Explanation(NamedTuple):
    """One address through the swizzle, for a figure: `chunk` and `phase` in, `swizzled_chunk` out, and the sentence.

    `row` is the 128-byte line within the pattern that the address lies in, `phase` the part of it that takes part in
    the XOR, in chunks.
    """

    address: int
    swizzled_address: int
    row: int
    chunk: int
    phase: int
    swizzled_chunk: int
    words: str


def explain(address: int, swizzle: str) -> Explanation:
    """What the XOR does to the chunk at `address`, in numbers and in words."""
    lands = swizzled(address, swizzle)
    chunk, moved = (where % LINE_BYTES // CHUNK_BYTES for where in (address, lands))
    row = address % pattern(swizzle).repeat_bytes // LINE_BYTES
    phase = chunk ^ moved
    words = f"chunk {chunk} stays" if swizzle == "none" else f"chunk {chunk} XOR row {phase} = {moved}"
    if swizzle.startswith("128B_ATOM"):
        words = f"chunk {chunk} XOR {phase} (row {row}, atoms of {swizzle[10:13]}) = {moved}"
    return Explanation(address, lands, row, chunk, phase, moved, words)
