"""On a Hopper GPU: barriers count as the manual says, tiles come whole, and what is done too early shows."""

import numpy as np
import pytest

from tmalab.experiment.barrier_word import decode_state, decode_word
from tmalab.experiment.barrier_word_cases import MARK
from tmalab.experiment.case import Case
from tmalab.experiment.catalogue import case as named_case
from tmalab.hardware import run_case

pytestmark = pytest.mark.gpu


def run(name, repeats=1, **changes):
    found = named_case(name)
    return run_case(Case(found.name, found.probe, {**found.params, **changes}), repeats=repeats)


def steps_of(name):
    """For each launch of a case of barrier_ops: (step, what it returned) in block cluster 0."""
    seen = run(name)
    for steps, results in zip(seen.case.params["launches"], seen["results"][:, 0].tolist(), strict=True):
        yield list(zip(steps, results, strict=False))


def test_pending_count_the_word_and_the_state_agree_on_the_arrivals():
    for launch in steps_of("counts/arrivals"):
        count = launch[1][0][1]
        state, pending, word = launch[2][1], launch[3][1], launch[5][1]
        assert pending == count == decode_state(state >> 32).pending_count
        left = count - 1 or count  # the last arrival completes the phase, and the next awaits them all
        assert decode_word(word).pending_count == left
        assert decode_word(word).expected_count == count
        assert decode_word(word).phase_parity == (count == 1)


@pytest.mark.parametrize(("name", "sign"), [("counts/bytes", 1), ("counts/bytes-early", -1)])
def test_the_word_holds_every_byte_and_the_state_knows_them_to_within_2048(name, sign):
    for launch in steps_of(name):
        tx_count = sign * launch[1][0][1]
        assert decode_word(launch[4][1]).tx_count == tx_count
        state = decode_state(launch[2][1] >> 32)
        assert state.least_tx_count <= tx_count <= state.most_tx_count


@pytest.mark.parametrize("name", ["counts/reads", "counts/reads-from-the-other-block"])
def test_no_reading_sees_a_barrier_at_work_and_every_one_sees_it_after_inval(name):
    for launch in steps_of(name):
        words = [value for (op, *_), value in launch if op.startswith(("LD", "ATOM", "BULK"))]
        assert words[:-1] == [MARK] * 3
        assert decode_word(words[-1]).tx_count == 4096


def test_an_arrival_too_many_is_a_fault_and_the_next_experiment_works():
    seen = run("facts/arrive-too-often/bytes-pending")
    assert seen["error"] == "LAUNCH_FAILED"
    assert "arrival" in seen["diagnosis"]
    assert run("counts/phases")["completed"]


@pytest.mark.parametrize("warmth", ["warm", "cold-data", "cold"])
@pytest.mark.parametrize("watched", ["one-barrier", "twin", "counted"])
def test_both_tiles_are_whole_when_the_wait_returns(warmth, watched):
    seen = run(f"timeline/two-loads/{warmth}/{watched}", repeats=10)
    assert seen["completed"]
    assert not seen["missing_words"].any()
    assert (seen["waits"][:, 0, 1] > seen["steps"][:, -1]).all()


def test_half_a_tile_is_what_a_barrier_armed_in_halves_may_let_through():
    for safe in ("before", "between-late", "after-late", "halves-two-arrivals", "halves-arrive-last-late"):
        assert not run(f"timeline/order/{safe}", repeats=20)["missing_words"].any(), safe
    assert (run("timeline/order/halves-arrive-first-late", repeats=20)["missing_words"] == 512).all()


@pytest.mark.parametrize("name", ["64x8-128B-by-32/warm", "64x64-none/cold", "256x128-none/warm"])
def test_every_piece_of_a_tile_lands(name):
    seen = run(f"landing/{name}", repeats=3)
    assert (seen["landed"] > seen["landed_before"]).all()
    assert (seen["last"] >= seen["first"]).all()


@pytest.mark.parametrize("pace", ["early", "late", "free"])
def test_the_right_parity_reads_every_tile(pace):
    answers = run(f"parity/{pace}/right", repeats=5)["answers"]
    np.testing.assert_array_equal(answers[:, :, 8:10], np.arange(1, 8)[None, :, None].repeat(5, 0).repeat(2, 2))


def test_the_inverted_parity_waits_for_nothing_early_and_for_ever_late():
    early, late = (run(f"parity/{pace}/inverted", repeats=5)["answers"] for pace in ("early", "late"))
    assert (early[:, :, 8] < np.arange(1, 8)).all()
    assert early[:, :, 5].all()
    assert not late[:, :, 5].any()


def test_a_wait_protects_the_groups_that_it_names_and_no_others():
    seen = run("reuse/stores-4", repeats=5)
    lines = seen["new_lines"]
    waits = [tuple(wait) for wait in seen["waits"]]
    for kind in ("read", "group"):
        for n in range(4):
            at = lines[0b1111, waits.index((kind, n))]  # a commit after each store
            assert not at[:, : 4 - n].any(), (kind, n)
        assert not lines[0b1000, waits.index((kind, 0))].any()  # one commit for all
        assert lines[0b0001, waits.index((kind, 0))][:, 3].all()  # the last store is in no group
    assert lines[0b1111, waits.index(("none", 0))][:, 3].all()


def test_the_whole_order_is_safe_and_a_late_warp_needs_the_barrier():
    few = {"blocks": 256, "rounds": 4}
    assert run("ordering/store/whole", **few)["wrong_runs"] == 0
    assert run("ordering/store-late/whole", **few)["wrong_runs"] == 0
    assert run("ordering/fetch/whole", **few)["wrong_runs"] == 0
    assert run("ordering/store-late/no-barrier", **few)["wrong_runs"] > 0


def test_the_clocks_tick_and_cost():
    seen = run("timeline/clocks", repeats=2)
    assert seen["tick_ns"] > 0
    assert 0.5 < seen["cycles_per_ns"] < 4
    assert set(seen["cost_cycles"]) >= {"clock64", "globaltimer", "stamp", "stamp_ns", "test_wait", "try_wait"}
