"""The reuse and ordering experiments as programs: each store's fate told again, and the verdict that follows."""

from itertools import product

import pytest

from tmalab.experiment.store_cases import ORDERS
from tmalab.experiment.store_programs import fates, groups_of, order_events, reuse_events
from tmalab.model import BarrierProgram

WAITS = [("none", 0), *product(("read", "group"), range(4))]
COMBINATIONS = [
    (stores, commits, wait, n) for stores in range(1, 5) for commits in range(1 << stores) for wait, n in WAITS
]


def fate_again(stores, commits, wait, n, store):
    """Without groups: the commits that follow the store say all."""
    if wait == "none":
        return "no wait"
    after = (commits >> store).bit_count()
    return "open" if after == 0 else "covered" if after > n else "pending"


@pytest.mark.parametrize("stores", [1, 2, 3, 4])
def test_a_store_is_covered_when_more_than_n_commits_follow_it(stores):
    for combination in COMBINATIONS:
        if combination[0] == stores:
            told = tuple(fate_again(*combination, store) for store in range(stores))
            assert fates(*combination) == told


def test_the_groups_hold_what_came_since_the_commit_before():
    assert groups_of(4, 0b1010).committed == ((0, 1), (2, 3))
    assert groups_of(3, 0b001) == (((0,),), (1, 2))


@pytest.mark.parametrize("stores", [1, 2, 3, 4])
def test_only_a_wait_that_covers_every_store_lets_the_buffer_be_reused(stores):
    for combination in COMBINATIONS:
        if combination[0] == stores:
            outcome = BarrierProgram(reuse_events(*combination)).run()
            safe = set(fates(*combination)) == {"covered"}
            assert outcome.verdict == ("completes" if safe else "race"), combination
            assert (outcome.rule is None) == safe


@pytest.mark.parametrize(
    ("order", "verdict", "rule"),
    [
        ("whole", "completes", None), ("no-fence", "race", "fence_proxy_async_before_tma_read"),
        ("fence-by-issuer", "completes", None), ("fence-after-barrier", "completes", None),
        ("no-barrier", "race", "cta_sync_before_tma_read"), ("neither", "race", "fence_proxy_async_before_tma_read"),
    ],
)  # fmt: skip
def test_each_step_taken_from_the_order(order, verdict, rule):
    outcome = BarrierProgram(order_events(ORDERS[order])).run()
    assert (outcome.verdict, outcome.rule) == (verdict, rule)
    assert bool(outcome.notes) == (order in ("fence-by-issuer", "fence-after-barrier"))  # contested, and said to be
