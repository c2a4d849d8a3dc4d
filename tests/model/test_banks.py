"""The bank model: degrees, wavefronts and their tables, by hand, by another way of counting, and by what must hold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tmalab import model
from tmalab.errors import InputError
from tmalab.model.banks import NUM_BANKS, PHASE_LANES, WIDTHS, conflict_degree, warp_access

# --- by hand ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stride", range(1, 65))
def test_a_stride_in_words_conflicts_as_its_power_of_two(stride):
    assert conflict_degree([4 * stride * lane for lane in range(32)], 4) == np.gcd(stride, 32)


@pytest.mark.parametrize(
    ("name", "addresses", "width", "degree", "loads", "stores"),
    [
        ("one word for all", [64] * 32, 4, 1, 1, 1),
        ("a row of words", [4 * lane for lane in range(32)], 4, 1, 1, 1),
        ("a column of 128-byte rows", [128 * lane for lane in range(32)], 4, 32, 32, 32),
        ("the same, swizzled in chunks", [(128 * lane) ^ ((lane & 7) << 4) for lane in range(32)], 4, 4, 4, 4),
        ("padded by a word", [132 * lane for lane in range(32)], 4, 1, 1, 1),
        ("bytes of 8 words", list(range(32)), 1, 1, 1, 1),
        ("a half word each", [2 * lane for lane in range(32)], 2, 1, 1, 1),
        ("vectors of 8", [8 * lane for lane in range(32)], 8, 1, 2, 2),
        ("vectors of 16", [16 * lane for lane in range(32)], 16, 1, 4, 4),
        ("chunks of a column", [128 * lane for lane in range(32)], 16, 8, 32, 32),
        ("pairs of lanes, 16", [16 * (lane // 2) for lane in range(32)], 16, 1, 2, 4),
        ("pairs of lanes, 8", [8 * (lane // 2) for lane in range(32)], 8, 1, 1, 2),
        ("one lane", [48], 16, 1, 1, 1),
        ("a half warp of 16", [16 * lane for lane in range(16)], 16, 1, 2, 2),
    ],
)
def test_known_patterns(name, addresses, width, degree, loads, stores):
    assert conflict_degree(addresses, width) == degree
    assert warp_access(addresses, width).count == loads
    assert warp_access(addresses, width, op="store").count == stores


def test_the_table_of_a_conflict():
    access = warp_access([0, 128, 4, None, 0], 4)
    first, second = access.wavefronts
    assert first == ((0, 2, 4), (0, 1), (0, 1))
    assert second == ((1,), (32,), (0,))
    assert access.words == (0, 1, 32)
    assert access.words_by_bank()[:3] == ((0, 32), (1,), ())
    assert access.lanes_by_bank()[:3] == ((0, 1, 4), (2,), ())
    assert (access.count, access.min_count, access.extra, access.conflicts, access.degree) == (2, 1, 1, 1, 2)
    assert len(access.addresses) == 32


def test_a_load_that_returns_more_slowly_than_it_is_read():
    access = warp_access([16 * lane for lane in range(8)], 16)
    assert (access.count, access.cycles, access.return_cycles) == (1, 4, 4)
    assert warp_access([16 * lane for lane in range(8)], 16, op="store").cycles == 1
    assert access.added_latency_cycles == 3
    assert warp_access([128 * lane for lane in range(32)], 4).added_latency_cycles == 62


def test_the_public_names():
    assert model.conflict_degree is conflict_degree
    assert model.warp_access is warp_access
    assert type(conflict_degree(np.arange(0, 128, 4), 4)) is int


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("addresses", "width", "field", "words"),
    [
        ([], 4, "addresses", "no address"),
        ([0] * 33, 4, "addresses", "33 entries where 32"),
        ([None] * 32, 4, "addresses", "no lane takes part"),
        (7, 4, "addresses", "not a list"),
        ([0, -4], 4, r"addresses\[1\]", "before the start"),
        ([0, 6], 4, r"addresses\[1\]", "use 4 or 8"),
        ([8], 16, r"addresses\[0\]", "use 0 or 16"),
        ([True], 1, r"addresses\[0\]", "not an integer"),
        ([1.0], 1, r"addresses\[0\]", "not an integer"),
        (["4"], 4, r"addresses\[0\]", "not an integer"),
        ([0], 3, "width_bytes", "1, 2, 4, 8, 16"),
        ([0], True, "width_bytes", "1, 2, 4, 8, 16"),
        ([0], [4], "width_bytes", "1, 2, 4, 8, 16"),
    ],
)
@pytest.mark.parametrize("ask", [conflict_degree, warp_access])
def test_what_no_warp_could_do_is_refused_with_its_place(ask, addresses, width, field, words):
    with pytest.raises(InputError, match=words) as raised:
        ask(addresses, width)
    assert raised.value.fix
    assert field.replace("\\", "") == raised.value.field


def test_an_unknown_operation_names_where_the_others_are():
    with pytest.raises(InputError, match="matrix_access"):
        warp_access([0], 16, op="ldmatrix_x1")


# --- what must hold of any --------------------------------------------------------------------------------------------


@st.composite
def patterns(draw):
    width = draw(st.sampled_from(WIDTHS))
    span = draw(st.sampled_from((1, 4, 33, 256, 4096)))
    lane = st.one_of(st.none(), st.integers(0, span - 1)) if draw(st.booleans()) else st.integers(0, span - 1)
    units = draw(st.lists(lane, min_size=1, max_size=32).filter(lambda units: any(unit is not None for unit in units)))
    if draw(st.booleans()):  # lanes that agree two by two
        pair = draw(st.sampled_from((1, 2)))
        units = [units[lane & ~pair] for lane in range(len(units))]
        units = units if any(unit is not None for unit in units) else [0]
    return [None if unit is None else unit * width for unit in units], width


def words_of(address, width):
    return {byte // 4 for byte in range(address, address + width)}


def counted_otherwise(addresses, width, lanes):
    """Wavefronts of each phase: distinct words a bank, counted byte by byte."""
    depths = []
    for first in range(0, 32, lanes):
        words = set().union(*(words_of(a, width) for a in addresses[first : first + lanes] if a is not None))
        if words:
            depths.append(max(sum(word % 32 == bank for word in words) for bank in range(32)))
    return depths


@given(patterns(), st.sampled_from(("load", "store")))
@example(([16 * (lane // 2) for lane in range(32)], 16), "load")
@example(([0, None, 0, None], 8), "load")
def test_the_wavefronts_are_a_schedule_that_serves_every_lane_once(pattern, op):
    addresses, width = pattern
    access = warp_access(addresses, width, op=op)
    assert access.count == len(access.wavefronts)
    served = [lane for wavefront in access.wavefronts for lane in wavefront.lanes]
    assert sorted(served) == [lane for lane, address in enumerate(addresses) if address is not None]
    for lanes, words, banks in access.wavefronts:
        assert set(words) == set().union(*(words_of(addresses[lane], width) for lane in lanes))
        assert len(set(banks)) == len(words) <= NUM_BANKS, "no bank gives two words at once"
        assert sorted(word % NUM_BANKS for word in words) == list(banks)


@given(patterns(), st.sampled_from(("load", "store")))
def test_degree_and_count_are_what_counting_bytes_gives(pattern, op):
    addresses, width = pattern
    access = warp_access(addresses, width, op=op)
    depths = counted_otherwise(addresses, width, PHASE_LANES[width])
    assert conflict_degree(addresses, width) == access.degree == max(depths)
    merged = counted_otherwise(addresses, width, min(32, 2 * PHASE_LANES[width]))
    assert access.depths in (tuple(depths), tuple(merged))
    if op == "store" or width <= 4:
        assert access.count == sum(depths)
    assert access.min_count <= access.count <= sum(depths), "merging never costs"
    assert access.extra >= 0
    assert access.conflicts >= 0


@given(patterns(), st.integers(0, 64), st.permutations(range(4)))
def test_where_a_line_starts_and_in_which_order_phases_come_makes_no_difference(pattern, lines, order):
    addresses, width = pattern
    moved = [None if address is None else address + 128 * lines for address in addresses]
    assert warp_access(moved, width).count == warp_access(addresses, width).count
    padded = addresses + [None] * (32 - len(addresses))
    quarters = [address for quarter in order for address in padded[8 * quarter : 8 * quarter + 8]]
    if PHASE_LANES[width] == 8:
        assert warp_access(quarters, width, op="store").count == warp_access(addresses, width, op="store").count
        assert conflict_degree(quarters, width) == conflict_degree(addresses, width)


@given(patterns())
def test_a_lane_less_never_costs_more_as_a_store(pattern):
    addresses, width = pattern
    whole = warp_access(addresses, width, op="store").count
    for lane in range(len(addresses)):
        fewer = [None if other == lane else address for other, address in enumerate(addresses)]
        if any(address is not None for address in fewer):
            assert warp_access(fewer, width, op="store").count <= whole
