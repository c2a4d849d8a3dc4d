"""A warp's access, split into what the pipe of shared memory serves at once: `Wavefront`, `WarpAccess`, `serve`.

    32 lanes ──phases──▶ 32, 16 or 8 of them ──wavefronts──▶ at most one 4-byte word of each of the 32 banks

>>> serve([(0, 1, 2)], {0: 0, 1: 32, 2: 0}, 1)  # lanes 0 and 2 want word 0, lane 1 wants word 32: both are bank 0's
(Wavefront(lanes=(0, 2), words=(0,), banks=(0,)), Wavefront(lanes=(1,), words=(32,), banks=(0,)))

Which of two conflicting words is served first cannot be seen from outside: here it is the lower lane's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

NUM_BANKS = 32
BANK_BYTES = 4
LANES = 32
# Measured on H200: a dependent instruction waits 2 cycles longer for each further wavefront.
WAVEFRONT_LATENCY_CYCLES = 2


class Wavefront(NamedTuple):
    """What is served in one go. Each field is sorted; a word is byte address // 4, its bank is word % 32."""

    lanes: tuple[int, ...]
    words: tuple[int, ...]
    banks: tuple[int, ...]


@dataclass(frozen=True)
class WarpAccess:
    """One access of a warp. `addresses` has 32 entries, in bytes; None is a lane that takes no part.

    `phases` are the lanes that are looked at together, a phase without any left out, and `depths` the wavefronts of
    each. `degree` is `conflict_degree`. `return_cycles` are those that a load's words take back to the registers.
    """

    op: str
    width_bytes: int
    addresses: tuple[int | None, ...]
    phases: tuple[tuple[int, ...], ...]
    depths: tuple[int, ...]
    degree: int
    return_cycles: int = 1

    @property
    def count(self) -> int:
        """Wavefronts: what an H200's counters give for this access."""
        return sum(self.depths)

    @property
    def wavefronts(self) -> tuple[Wavefront, ...]:
        """Each wavefront, phase by phase: its lanes, words and banks. Made anew each time that it is asked for."""
        unit_bytes = max(self.width_bytes, BANK_BYTES)
        return serve(self.phases, units(self.addresses, unit_bytes), unit_bytes // BANK_BYTES)

    @property
    def conflicts(self) -> int:
        """Wavefronts beyond one a phase: what the profiler calls bank conflicts."""
        return self.count - len(self.phases)

    @property
    def words(self) -> tuple[int, ...]:
        """The distinct words that are read or written, sorted."""
        length = max(1, self.width_bytes // BANK_BYTES)
        firsts = {address // BANK_BYTES for address in self.addresses if address is not None}
        return tuple(sorted({first + i for first in firsts for i in range(length)}))

    @property
    def min_count(self) -> int:
        """The fewest wavefronts that could move these words: 32 of them in each."""
        return -(-len(self.words) // NUM_BANKS)

    @property
    def extra(self) -> int:
        """Wavefronts above `min_count`."""
        return self.count - self.min_count

    @property
    def cycles(self) -> int:
        """Cycles between two such accesses while the pipe is kept full."""
        return max(self.count, self.return_cycles)

    @property
    def added_latency_cycles(self) -> int:
        """Cycles that a dependent instruction waits longer than for a load of 4 bytes without conflict."""
        return self.return_cycles - 1 + WAVEFRONT_LATENCY_CYCLES * (self.count - 1)

    def words_by_bank(self) -> tuple[tuple[int, ...], ...]:
        """For each of the 32 banks, the distinct words that the whole access wants of it."""
        of_bank: list[list[int]] = [[] for _ in range(NUM_BANKS)]
        for word in self.words:
            of_bank[word % NUM_BANKS].append(word)
        return tuple(map(tuple, of_bank))

    def lanes_by_bank(self) -> tuple[tuple[int, ...], ...]:
        """For each of the 32 banks, the lanes that want a word of it."""
        of_bank: list[list[int]] = [[] for _ in range(NUM_BANKS)]
        for lane, address in enumerate(self.addresses):
            if address is not None:
                first = address // BANK_BYTES
                for word in range(first, first + max(1, self.width_bytes // BANK_BYTES)):
                    of_bank[word % NUM_BANKS].append(lane)
        return tuple(map(tuple, of_bank))


def units(addresses: Sequence[int | None], unit_bytes: int) -> dict[int, int]:
    """Lane → its address in units of `unit_bytes`, for the lanes that take part."""
    return {lane: address // unit_bytes for lane, address in enumerate(addresses) if address is not None}


def phases_of(active: Iterable[int], lanes: int) -> tuple[tuple[int, ...], ...]:
    """The active lanes, those of `lanes` neighbouring lanes together."""
    found: dict[int, list[int]] = {}
    for lane in active:
        found.setdefault(lane // lanes, []).append(lane)
    return tuple(map(tuple, found.values()))


def depth(wanted: Iterable[int], unit_words: int) -> int:
    """Distinct units that one group of banks must give: the wavefronts of one phase."""
    groups = NUM_BANKS // unit_words
    depths = [0] * groups
    for unit in set(wanted):
        depths[unit % groups] += 1
    return max(depths)


def serve(phases: Sequence[Sequence[int]], wanted: Mapping[int, int], unit_words: int) -> tuple[Wavefront, ...]:
    """The wavefronts of each phase in turn. `wanted[lane]` is the lane's address in units of `unit_words` words.

    A lane's 2 or 4 words lie in neighbouring banks, aligned, so that two units either share all of their banks or
    none: a lane is served whole, in one wavefront.
    """
    groups, found = NUM_BANKS // unit_words, []
    for lanes in phases:
        place: dict[int, int] = {}  # unit → its wavefront
        served = [0] * groups
        waves: list[tuple[list[int], list[int]]] = []
        for lane in lanes:
            unit = wanted[lane]
            wave = place.get(unit)
            if wave is None:
                wave = place[unit] = served[unit % groups]
                served[unit % groups] = wave + 1
                if wave == len(waves):
                    waves.append(([], []))
                waves[wave][1].append(unit)
            waves[wave][0].append(lane)
        found += [Wavefront(tuple(lanes), *_words_and_banks(taken, unit_words)) for lanes, taken in waves]
    return tuple(found)


def _words_and_banks(taken: list[int], unit_words: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    words = sorted(unit * unit_words + i for unit in taken for i in range(unit_words))
    return tuple(words), tuple(sorted(word % NUM_BANKS for word in words))
