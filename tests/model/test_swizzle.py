"""The XOR, against the tables that PTX ISA prints and against what must hold for any address."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tmalab.errors import InputError
from tmalab.model.swizzle import PATTERNS, explain, pattern, swizzled

# PTX ISA, Swizzling Modes: which 16-byte chunk of a 128-byte line stands at each place, line after line.
PRINTED = {
    "none": ["01234567"],
    "32B": ["01234567", "10325476"],
    "64B": ["01234567", "10325476", "23016745", "32107654"],
    "128B": ["01234567", "10325476", "23016745", "32107654", "45670123", "54761032", "67452301", "76543210"],
    "128B_ATOM_32B": ["01234567", "23016745", "45670123", "67452301"],
    "128B_ATOM_64B": ["01234567", "45670123"],
}
ADDRESSES = st.integers(0, 1 << 40)
MODES = st.sampled_from(list(PATTERNS))


@pytest.mark.parametrize("mode", PRINTED)
def test_the_tables_of_the_manual(mode):
    lines = PRINTED[mode]
    for line in range(4 * len(lines)):
        for place, chunk in enumerate(lines[line % len(lines)]):
            assert swizzled(128 * line + 16 * int(chunk), mode) == 128 * line + 16 * place


def test_flip_8b_is_the_32_byte_atom_with_the_halves_of_a_chunk_swapped_in_every_second_line():
    for address in range(0, 2048, 8):
        plain = swizzled(address, "128B_ATOM_32B")
        assert swizzled(address, "128B_ATOM_32B_FLIP_8B") == (plain ^ 8 if address // 128 % 2 else plain)


def test_what_was_measured_says_so():
    assert {mode for mode, found in PATTERNS.items() if found.measured} == {"none", "32B", "64B", "128B"}


@given(ADDRESSES, MODES)
def test_it_is_its_own_inverse_and_stays_in_its_span(address, mode):
    lands = swizzled(address, mode)
    assert swizzled(lands, mode) == address
    assert lands // max(pattern(mode).span_bytes, 1) == address // max(pattern(mode).span_bytes, 1)
    assert lands % 8 == address % 8


@given(ADDRESSES, MODES)
def test_it_follows_the_absolute_address_and_repeats(address, mode):
    repeat = pattern(mode).repeat_bytes
    assert swizzled(address + repeat, mode) == swizzled(address, mode) + repeat
    lines = {swizzled(start, mode) - start for start in range(0, repeat, 16)}
    assert mode == "none" or len(lines) > 1  # … and no shorter piece of it does


@pytest.mark.parametrize("mode", PATTERNS)
def test_an_array_goes_the_way_of_each_int(mode):
    addresses = np.arange(0, 4096, 4)
    assert swizzled(addresses, mode).tolist() == [swizzled(int(address), mode) for address in addresses]


def test_words():
    assert explain(128 * 3 + 16 * 5, "128B").words == "chunk 5 XOR row 3 = 6"
    assert explain(128 * 11 + 16 * 5, "128B").words == "chunk 5 XOR row 3 = 6"
    assert explain(128 * 3 + 16 * 5, "32B").words == "chunk 5 XOR row 1 = 4"
    assert explain(16 * 5, "none").words == "chunk 5 stays"
    found = explain(128 * 1 + 16 * 2, "128B_ATOM_32B")
    assert (found.swizzled_chunk, found.words) == (0, "chunk 2 XOR 2 (row 1, atoms of 32B) = 0")


@given(ADDRESSES, MODES)
def test_an_explanation_adds_up(address, mode):
    found = explain(address, mode)
    assert found.chunk ^ found.phase == found.swizzled_chunk
    assert found.swizzled_address == swizzled(address, mode)
    assert found.swizzled_address // 16 % 8 == found.swizzled_chunk


@pytest.mark.parametrize("word", ["96B", "128b", None, 128, "x" * 10**7])
def test_an_unknown_word(word):
    with pytest.raises(InputError, match="unknown swizzle"):
        swizzled(0, word)
