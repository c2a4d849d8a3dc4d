"""The 64 bits of an mbarrier as an H200 lays them out, found by experiment (the catalogue's group `counts`).

    63      62 … 43            42   41 … 21    20 … 1     0
    phase   pending arrivals   0    tx-count   expected   0       all three counts negated, two's complement
    ╰── bits 63 to 32 are what an arrive's state holds: the tx-count in steps of 2048 bytes ──╯

>>> decode_word(0x7FFFE3FE001FFFF6)
BarrierWord(phase_parity=0, pending_count=4, tx_count=4096, expected_count=5)
>>> decode_state(0x7FFFE3FE)
BarrierState(phase_parity=0, pending_count=4, least_tx_count=2049, most_tx_count=4096)

The manual calls the object opaque: another chip may do otherwise. The word in shared memory is current only after
`mbarrier.inval`, after some thirty other barriers have been used, or in the next launch; the state always is.
"""

from __future__ import annotations

from dataclasses import dataclass

_COUNT_BITS, _TX_BITS = 20, 21
_TX_AT, _PENDING_AT, _PHASE_AT = 21, 43, 63
TX_STEP_BYTES = 1 << (32 - _TX_AT)  # of a state, whose lower half is not the barrier's


@dataclass(frozen=True)
class BarrierWord:
    """A barrier's whole word. `tx_count` is negative where bytes came before they were expected."""

    phase_parity: int
    pending_count: int
    tx_count: int
    expected_count: int


@dataclass(frozen=True)
class BarrierState:
    """What an arrive returned: the counts just before it. The bytes are known to within 2048."""

    phase_parity: int
    pending_count: int
    least_tx_count: int
    most_tx_count: int


def _negated(bits: int, width: int) -> int:
    """The count that `width` bits hold as its negative, as an unsigned number."""
    return -bits % (1 << width)


def decode_word(word: int) -> BarrierWord:
    """The counts in the 64 bits. Measured on an H200 for counts 1 to 2^20 - 1 and bytes -(2^20 - 1) to 2^20 - 1."""
    negative_tx = (word >> _TX_AT) % (1 << _TX_BITS)
    return BarrierWord(
        word >> _PHASE_AT & 1,
        _negated(word >> _PENDING_AT, _COUNT_BITS),
        (1 << _TX_BITS) - negative_tx if negative_tx >> (_TX_BITS - 1) else -negative_tx,
        _negated(word >> 1, _COUNT_BITS),
    )


def decode_state(upper: int) -> BarrierState:
    """The counts in the upper 32 bits of a state; as `mbarrier.pending_count` answers, before the arrive."""
    whole = decode_word(upper << 32)
    most = whole.tx_count
    return BarrierState(whole.phase_parity, whole.pending_count, most - (TX_STEP_BYTES - 1), most)
