"""One mbarrier against what PTX says of it: counts, phases, parities, states, limits."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tmalab.errors import TmaLabError
from tmalab.model.bulk_group import BulkGroups
from tmalab.model.mbarrier import MOST, MBarrier, MBarrierError

CALM = settings(deadline=None)


def test_a_phase_needs_both_counts_at_zero():
    barrier = MBarrier.init(2).arrive_expect_tx(64)
    assert barrier.counts == (0, 1, 2, 64)
    assert barrier.complete_tx(64).counts == (0, 1, 2, 0)
    assert barrier.arrive().counts == (0, 0, 2, 64)
    assert barrier.arrive().complete_tx(64).counts == (1, 2, 2, 0)


def test_bytes_may_land_before_they_are_expected():
    early = MBarrier.init(1).complete_tx(4096)
    assert early.tx_count == -4096
    assert early.arrive_expect_tx(4096).phase == 1


def test_an_expect_that_brings_the_count_to_zero_completes_the_phase():
    late = MBarrier.init(1).complete_tx(4096).arrive()  # the arrival alone does not: bytes are owed
    assert (late.phase, late.pending_count, late.tx_count) == (0, 0, -4096)
    assert late.expect_tx(4096).counts == (1, 1, 1, 0)


def test_fewer_armed_than_delivered_passes_zero_and_stays():
    barrier = MBarrier.init(1).arrive_expect_tx(2048).complete_tx(4096)
    assert (barrier.phase, barrier.tx_count) == (0, -2048)


def test_parity_asks_for_the_phase_before_the_one_that_goes_on():
    barrier = MBarrier.init(1)
    for phase in range(6):
        assert barrier.phase == phase
        assert barrier.counts.parity == phase % 2
        assert not barrier.test_wait(phase % 2)
        assert barrier.test_wait((phase + 1) % 2)
        assert barrier.test_wait(phase + 3), "one bit of the operand counts, as on an H200"
        barrier = barrier.arrive()


def test_a_state_is_of_this_phase_or_of_the_one_before():
    barrier = MBarrier.init(2)
    token = barrier.token
    assert token == (0, 2)
    assert not barrier.arrive().test_wait_token(token)
    assert barrier.arrive().arrive().test_wait_token(token)
    with pytest.raises(MBarrierError) as caught:
        barrier.arrive(2).arrive(2).test_wait_token(token)
    assert caught.value.rule == "mbarrier_state_too_old"


def test_a_dropped_arrival_is_expected_no_more():
    barrier = MBarrier.init(3).arrive_drop()
    assert barrier.counts == (0, 2, 2, 0)
    assert barrier.arrive(2).counts == (1, 2, 2, 0)


@pytest.mark.parametrize(
    ("rule", "value", "limit", "wrong"),
    [
        ("mbarrier_count_range", 0, MOST, lambda: MBarrier.init(0)),
        ("mbarrier_count_range", MOST + 1, MOST, lambda: MBarrier.init(MOST + 1)),
        ("mbarrier_count_range", 2, 1, lambda: MBarrier.init(1).arrive_drop(2)),
        ("arrivals_within_count", 1, 0, lambda: MBarrier.init(1).arrive_expect_tx(64).arrive()),
        ("arrivals_within_count", 3, 2, lambda: MBarrier.init(2).arrive(3)),
        ("arrivals_within_count", 0, 2, lambda: MBarrier.init(2).arrive(0)),
        ("tx_count_range", MOST + 1, MOST, lambda: MBarrier.init(1).expect_tx(MOST + 1)),
        ("tx_count_range", MOST + 64, MOST, lambda: MBarrier.init(1).expect_tx(MOST).expect_tx(64)),
        ("tx_count_range", -MOST - 1, MOST, lambda: MBarrier.init(1).complete_tx(MOST).complete_tx(1)),
        ("tx_count_range", -1, MOST, lambda: MBarrier.init(1).complete_tx(-1)),
        ("mbarrier_must_be_initialised", None, None, lambda: MBarrier.init(1).inval().arrive()),
        ("mbarrier_must_be_initialised", None, None, lambda: MBarrier.init(1).inval().test_wait(0)),
    ],
)  # fmt: skip
def test_what_ptx_leaves_undefined_is_refused_with_rule_value_limit_and_fix(rule, value, limit, wrong):
    with pytest.raises(MBarrierError) as caught:
        wrong()
    error = caught.value
    assert isinstance(error, TmaLabError)
    assert (error.rule, error.value, error.limit) == (rule, value, limit)
    assert error.fix


def test_the_limits_themselves_are_legal():
    assert MBarrier.init(MOST).arrive(MOST).phase == 1
    assert MBarrier.init(1).arrive_expect_tx(MOST).complete_tx(MOST).phase == 1


@CALM
@given(
    st.integers(1, 4),
    st.lists(st.tuples(st.sampled_from(("arrive", "expect", "land")), st.integers(0, 3)), max_size=40),
)
def test_counts_stay_within_their_ranges_and_every_phase_adds_up(count, steps):
    barrier, arrived, owed, phases = MBarrier.init(count), 0, 0, 0
    for op, size in steps:
        if op == "arrive" and barrier.pending_count:
            after, arrived = barrier.arrive(), arrived + 1
        elif op == "expect":
            after, owed = barrier.expect_tx(16 * size), owed + 16 * size
        elif op == "land":
            after, owed = barrier.complete_tx(16 * size), owed - 16 * size
        else:
            continue
        if after.phase > barrier.phase:
            assert (arrived, owed) == (count, 0), "a phase ends with all its arrivals and no byte owed"
            assert after.counts == (barrier.phase + 1, count, count, 0)
            arrived, phases = 0, phases + 1
        assert 0 <= after.pending_count == count - arrived
        assert after.tx_count == owed
        barrier = after
    assert barrier.phase == phases


@CALM
@given(st.integers(1, 3), st.permutations([("arrive", 0), ("land", 48), ("land", 16), ("expect", 64)]))
def test_arrivals_last_or_not_the_same_operations_end_one_phase_when_the_arrival_is_last(count, steps):
    barrier = MBarrier.init(count)
    ordered = [step for step in steps if step[0] != "arrive"]
    for op, size in ordered:
        barrier = barrier.expect_tx(size) if op == "expect" else barrier.complete_tx(size)
    assert barrier.arrive(count).phase == 1


# --- bulk groups ------------------------------------------------------------------------------------------------------


def test_a_wait_covers_all_but_the_newest_groups():
    groups = BulkGroups()
    for name in "abcd":
        groups = groups.store(name).commit()
    assert [groups.covered(n) for n in range(5)] == [
        ("a", "b", "c", "d"), ("a", "b", "c"), ("a", "b"), ("a",), (),
    ]  # fmt: skip
    assert groups.covered(99) == ()
    assert [groups.needed_n(name) for name in "abcd"] == [3, 2, 1, 0]


def test_a_store_in_no_group_is_covered_by_no_wait():
    groups = BulkGroups().store("a").commit().store("b")
    assert groups.covered(0) == ("a",)
    assert groups.needed_n("b") is None
    assert BulkGroups().store("a").covered(0) == ()


def test_a_commit_with_nothing_open_is_an_empty_group():
    groups = BulkGroups().store("a").commit().commit()
    assert groups.covered(1) == ("a",)
    assert groups.needed_n("a") == 1


@CALM
@given(st.lists(st.sampled_from("sc"), max_size=30), st.integers(0, 5))
def test_a_store_is_covered_just_when_n_is_at_most_what_it_needs(steps, n):
    groups, stores = BulkGroups(), 0
    for step in steps:
        groups, stores = (groups.store(stores), stores + 1) if step == "s" else (groups.commit(), stores)
    for store in range(stores):
        needed = groups.needed_n(store)
        assert (store in groups.covered(n)) == (needed is not None and n <= needed)
