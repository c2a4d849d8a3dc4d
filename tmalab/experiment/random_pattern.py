"""Random accesses of a warp: scattered and regular, with lanes that agree, lanes masked off, and words of one bank.

    op, width ─▶ where lanes go (scattered, few, grouped, strided, …) ─▶ which take part ─▶ 32 addresses or None

>>> from random import Random
>>> addresses = random_addresses(Random(1), 8)
>>> len(addresses), all(address is None or address % 8 == 0 for address in addresses)
(32, True)

Scattered addresses alone would never show what merges or broadcasts: most kinds here are regular on purpose, and then
disturbed.
"""

from __future__ import annotations

from random import Random

LANES = 32
_SPAN_BYTES = 16 << 10  # of the scattered ones
_STRIDES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 24, 31, 32, 33, 36, 64)
_PAIRS = (1, 2, 4, 8, 16, 3, 5, 6, 24)  # XOR of two lanes that want the same
KINDS = ("scattered", "few", "line", "shuffled", "groups", "pairs", "strided", "disturbed")


def random_addresses(rng: Random, width_bytes: int, *, masked: bool = True) -> tuple[int | None, ...]:
    """32 byte addresses below 36 KiB, each a multiple of `width_bytes`; with `masked` some lanes may be None."""
    units = _UNITS[rng.choice(KINDS)](rng, width_bytes)
    active = _active(rng) if masked else [True] * LANES
    return tuple(unit * width_bytes if on else None for unit, on in zip(units, active, strict=True))


def _scattered(rng: Random, width_bytes: int) -> list[int]:
    return [rng.randrange(_SPAN_BYTES // width_bytes) for _ in range(LANES)]


def _few(rng: Random, width_bytes: int) -> list[int]:
    count = rng.choice((1, 2, 4, 8, 16, 32, 64, 128))
    return [rng.randrange(count) for _ in range(LANES)]


def _line(rng: Random, width_bytes: int) -> list[int]:
    """Within one, two or four lines of 128 bytes."""
    count = 128 * rng.choice((1, 2, 4)) // width_bytes
    return [rng.randrange(count) for _ in range(LANES)]


def _shuffled(rng: Random, width_bytes: int) -> list[int]:
    return rng.sample(range(LANES), LANES)


def _groups(rng: Random, width_bytes: int) -> list[int]:
    """Neighbouring lanes that want the same."""
    lanes = rng.choice((2, 4, 8, 16))
    places = [rng.randrange(rng.choice((32, 64, 1024))) for _ in range(LANES // lanes)]
    if rng.random() < 0.5:
        places = list(range(len(places)))
    return [places[lane // lanes] for lane in range(LANES)]


def _pairs(rng: Random, width_bytes: int) -> list[int]:
    """Lanes whose numbers differ by one XOR want the same."""
    pair, span = rng.choice(_PAIRS), rng.choice((32, 128, 1024))
    places = list(range(LANES)) if rng.random() < 0.5 else [rng.randrange(span) for _ in range(LANES)]
    return [places[min(lane, lane ^ pair)] for lane in range(LANES)]


def _strided(rng: Random, width_bytes: int) -> list[int]:
    stride, start = rng.choice(_STRIDES), rng.randrange(LANES)
    return [start + stride * lane for lane in range(LANES)]


def _disturbed(rng: Random, width_bytes: int) -> list[int]:
    """One after another, but for a few lanes."""
    units = list(range(LANES))
    for _ in range(rng.randint(1, 6)):
        units[rng.randrange(LANES)] = rng.randrange(rng.choice((32, 64, 256)))
    return units


_UNITS = {
    "scattered": _scattered, "few": _few, "line": _line, "shuffled": _shuffled, "groups": _groups, "pairs": _pairs,
    "strided": _strided, "disturbed": _disturbed,
}  # fmt: skip


def _active(rng: Random) -> list[bool]:
    """Which lanes take part: all, some at random, a prefix, a half or a quarter, every second, or one."""
    kind = rng.choices(("all", "some", "prefix", "part", "second", "one"), (45, 20, 10, 10, 7, 8))[0]
    lanes = range(LANES)
    share, prefix, size = rng.choice((0.1, 0.3, 0.5, 0.7, 0.9, 0.97)), rng.randint(1, LANES), rng.choice((8, 16))
    start, bit, one = rng.randrange(0, LANES, size), rng.choice((1, 2)), rng.randrange(LANES)
    active = {
        "all": [True] * LANES,
        "some": [rng.random() < share for _ in lanes],
        "prefix": [lane < prefix for lane in lanes],
        "part": [start <= lane < start + size for lane in lanes],
        "second": [lane & bit == 0 for lane in lanes],
        "one": [lane == one for lane in lanes],
    }[kind]
    active[one] = active[one] or not any(active)
    return active
