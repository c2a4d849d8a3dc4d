"""Seven tiles on one barrier: the parities given, what a wait may do, and what the event machine finds."""

import pytest

from tmalab.experiment import parity_program
from tmalab.experiment.catalogue import cases
from tmalab.experiment.parity_program import PACES, RULES, TILES, barrier_after, case_name, outlooks, parity_given
from tmalab.model import BarrierProgram

both = pytest.mark.parametrize(("rule", "pace"), [(rule, pace) for rule in RULES for pace in PACES])


def test_the_parities_given():
    given = {rule: [parity_given(rule, tile) for tile in range(TILES)] for rule in RULES}
    assert given["right"] == [0, 1, 0, 1, 0, 1, 0]
    assert given["inverted"] == [1, 0, 1, 0, 1, 0, 1]
    assert given["loop index"] == [0, 1, 2, 3, 4, 5, 6]
    assert given["always 0"] == [0] * 7
    assert given["always 1"] == [1] * 7


def test_a_barrier_after_so_many_phases():
    for phases in range(TILES + 1):
        barrier = barrier_after(phases)
        assert barrier.phase == phases
        assert [barrier.test_wait(parity) for parity in (0, 1)] == [phases % 2 == 1, phases % 2 == 0]


@both
def test_a_case_of_the_catalogue_runs_it(rule, pace):
    case = cases()[case_name(rule, pace)]
    assert case.params["rule"] == rule.replace(" ", "_")


@both
def test_a_wait_may_fail_exactly_where_its_parity_or_one_before_it_was_wrong(rule, pace):
    found = outlooks(rule, pace)
    wrong = [parity_given(rule, tile) % 2 != tile % 2 for tile in range(TILES)]
    for tile, outlook in enumerate(found):
        assert outlook.never == wrong[tile]
        assert outlook.rightly == (not wrong[tile])
        early = {"in flight": wrong[tile], "landed": False, "pipeline": any(wrong[: tile + 1])}[pace]
        assert outlook.early == early


@both
def test_the_event_machine_says_the_same(rule, pace):
    outcomes = set(BarrierProgram(parity_program.parity_events(rule, pace)).run().outcomes)
    found = outlooks(rule, pace)
    assert ("race" in outcomes) == any(outlook.early for outlook in found)
    assert ("hang" in outcomes) == any(outlook.never for outlook in found)
    if rule in ("right", "loop index"):
        assert outcomes == {"completes"}
    if pace == "landed" and rule not in ("right", "loop index"):
        assert outcomes == {"hang"}
