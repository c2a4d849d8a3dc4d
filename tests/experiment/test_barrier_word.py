"""The layout of a barrier's word: what an H200 returned, and every count put in comes out again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tmalab.experiment.barrier_word import BarrierWord, decode_state, decode_word

MOST = (1 << 20) - 1
# Read on an H200 after inval: steps in words, the word, the counts that the steps leave.
READ = [
    ("init 1", 0x7FFFF800001FFFFE, BarrierWord(0, 1, 0, 1)),
    ("init 1, arrive", 0xFFFFF800001FFFFE, BarrierWord(1, 1, 0, 1)),
    ("init 2^20 - 1", 0x0000080000000002, BarrierWord(0, MOST, 0, MOST)),
    ("init 3, expect 16, arrive", 0x7FFFF3FFFE1FFFFA, BarrierWord(0, 2, 16, 3)),
    ("init 3, expect 2^20 - 1, arrive", 0x7FFFF200003FFFFA, BarrierWord(0, 2, MOST, 3)),
    ("init 3, complete 16, arrive", 0x7FFFF000021FFFFA, BarrierWord(0, 2, -16, 3)),
    ("init 1, complete 2^20 - 1", 0x7FFFF9FFFFFFFFFE, BarrierWord(0, 1, -MOST, 1)),
    ("init 10, arrive_drop, arrive", 0x7FFFC000001FFFEE, BarrierWord(0, 8, 0, 9)),
]


@pytest.mark.parametrize(("steps", "word", "counts"), READ, ids=[steps for steps, *_ in READ])
def test_words_that_were_read(steps, word, counts):
    assert decode_word(word) == counts


def packed(phase_parity, pending_count, tx_count, expected_count):
    """The drawing in the module's docstring, in the other direction."""
    fields = ((phase_parity, 63, 1), (-pending_count, 43, 20), (-tx_count, 21, 21), (-expected_count, 1, 20))
    return sum((value % (1 << width)) << at for value, at, width in fields)


@given(st.integers(0, 1), st.integers(1, MOST), st.integers(-MOST, MOST), st.integers(1, MOST))
def test_what_is_packed_comes_out(phase_parity, pending_count, tx_count, expected_count):
    word = packed(phase_parity, pending_count, tx_count, expected_count)
    assert decode_word(word) == BarrierWord(phase_parity, pending_count, tx_count, expected_count)
    state = decode_state(word >> 32)
    assert (state.phase_parity, state.pending_count) == (phase_parity, pending_count)
    assert state.least_tx_count <= tx_count <= state.most_tx_count
