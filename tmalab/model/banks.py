"""Shared memory's 32 banks of 4 bytes: what a warp's loads and stores cost, foretold from their addresses.

    byte address ──// 4──▶ word ──% 32──▶ bank        two distinct words of one bank in one phase: a conflict

    width   1, 2, 4 bytes     8 bytes             16 bytes
    phase   32 lanes          16 lanes            8 lanes         (twice as many where a load of 8 or 16 merges)

>>> conflict_degree([4 * lane for lane in range(32)], 4), conflict_degree([128 * lane for lane in range(32)], 4)
(1, 32)
>>> warp_access([16 * lane for lane in range(32)], 16).count  # 512 bytes: four wavefronts at the least
4

Source: CUDA programming guide, Shared Memory, for the banks and the words that are broadcast; all else was measured on
an H200: the phases, which loads merge, and that a store does not.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tmalab.errors import InputError, wrong_length
from tmalab.model.tensor_map_fields import integer
from tmalab.model.wavefronts import BANK_BYTES, LANES, NUM_BANKS, WarpAccess, Wavefront, depth, phases_of, units

__all__ = [
    "BANK_BYTES", "LANES", "NUM_BANKS", "OPS", "WIDTHS", "WarpAccess", "Wavefront", "checked_addresses",
    "checked_width", "conflict_degree", "warp_access",
]  # fmt: skip

# Bytes that a lane moves → lanes that are looked at together.
PHASE_LANES = {1: 32, 2: 32, 4: 32, 8: 16, 16: 8}
WIDTHS = tuple(PHASE_LANES)
OPS = ("load", "store")
# Lanes that differ by one of these: if all such pairs of a load agree, two of its phases become one.
_MERGING_PAIRS = (1, 2)


def conflict_degree(addresses: Iterable[int | None], width_bytes: int) -> int:
    """How many distinct words one bank must give in one phase, at most: 1 is free of conflicts, 32 the worst.

    `addresses` are 1 to 32 byte addresses, lane 0 first; None is a lane that takes no part, as are those not given.
    Raises InputError for an address that is no multiple of `width_bytes`, or what is no address or width.
    """
    width_bytes = checked_width(width_bytes)
    return _degree(checked_addresses(addresses, width_bytes), width_bytes)


def _degree(checked: tuple[int | None, ...], width_bytes: int) -> int:
    wanted = units(checked, max(width_bytes, BANK_BYTES))
    return max(_depths(phases_of(wanted, PHASE_LANES[width_bytes]), wanted, width_bytes))


def _depths(phases: tuple[tuple[int, ...], ...], wanted: dict[int, int], width_bytes: int) -> tuple[int, ...]:
    unit_words = max(1, width_bytes // BANK_BYTES)
    return tuple(depth([wanted[lane] for lane in lanes], unit_words) for lanes in phases)


def warp_access(addresses: Iterable[int | None], width_bytes: int, *, op: str = "load") -> WarpAccess:
    """What one load or store of a warp costs: its wavefronts, with the lanes, words and banks of each.

    Two bytes of one word are one word: reading it is a broadcast, and of stores to it one wins, at no cost. Raises
    InputError as `conflict_degree` does, and for an unknown `op`.
    """
    if op not in OPS:
        fix = "use load or store; for ldmatrix and stmatrix, matrix_access"
        raise InputError("unknown operation", field="op", value=op, limit=OPS, fix=fix)
    width_bytes = checked_width(width_bytes)
    checked = checked_addresses(addresses, width_bytes)
    merges = op == "load" and width_bytes > BANK_BYTES and any(_agree(checked, pair) for pair in _MERGING_PAIRS)
    lanes = PHASE_LANES[width_bytes] * (2 if merges else 1)
    wanted = units(checked, max(width_bytes, BANK_BYTES))
    phases = phases_of(wanted, lanes)
    depths = _depths(phases, wanted, width_bytes)
    degree = _degree(checked, width_bytes) if merges else max(depths)
    return WarpAccess(op, width_bytes, checked, phases, depths, degree, LANES // lanes if op == "load" else 1)


def _agree(addresses: tuple[int | None, ...], pair: int) -> bool:
    """Whether lane i and lane i XOR `pair` want the same, or one of them nothing, all over the warp."""
    for lane in range(LANES):
        mine, other = addresses[lane], addresses[lane ^ pair]
        if mine != other and mine is not None and other is not None:
            return False
    return True


def checked_width(width_bytes: int) -> int:
    """The width as a plain int. Raises InputError where no lane can move so many bytes."""
    try:
        width = integer("width_bytes", width_bytes)
    except InputError:
        width = 0
    if width not in PHASE_LANES:
        fix = f"use one of {', '.join(map(str, WIDTHS))}"
        raise InputError("not a width that a lane can move", field="width_bytes", value=width_bytes, limit=16, fix=fix)
    return width


def checked_addresses(addresses: Iterable[int | None], width_bytes: int) -> tuple[int | None, ...]:
    """The addresses as 32 plain ints or None; the width was checked. Raises InputError with the lane and the fix."""
    try:
        given: list[Any] = list(addresses)
    except TypeError:
        raise InputError(
            "not a list of addresses", field="addresses", value=addresses, fix="give one byte address a lane"
        ) from None
    if not 1 <= len(given) <= LANES:
        message = "no address" if not given else wrong_length(len(given), LANES)
        raise InputError(message, field="addresses", value=given, limit=LANES, fix="give 1 to 32, one a lane")
    for lane, address in enumerate(given):
        if address is None:
            continue
        if type(address) is not int:
            address = given[lane] = integer(f"addresses[{lane}]", address)
        if address < 0 or address % width_bytes:
            raise _misplaced(lane, address, width_bytes)
    if all(address is None for address in given):
        raise InputError("no lane takes part", field="addresses", value=given, fix="give at least one address")
    return (*given, *[None] * (LANES - len(given)))


def _misplaced(lane: int, address: int, width_bytes: int) -> InputError:
    field = f"addresses[{lane}]"
    if address < 0:
        return InputError("before the start of shared memory", field=field, value=address, limit=0, fix="use 0 or more")
    below = address // width_bytes * width_bytes
    return InputError(
        f"not a multiple of the width; an access of {width_bytes} bytes would fault", field=field, value=address,
        limit=width_bytes, fix=f"use {below} or {below + width_bytes}, or a narrower access",
    )  # fmt: skip
