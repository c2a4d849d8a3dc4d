"""The grammar of barrier programs: what is read, and what is refused, in words and at its place."""

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tmalab.errors import InputError
from tmalab.model.barrier_events import MOST_EVENTS, OPS, read_events
from tmalab.model.barrier_program import BarrierProgram

CALM = settings(deadline=None, suppress_health_check=list(HealthCheck))
GOOD = {"t": "p", "op": "arrive_expect_tx", "bar": "b", "bytes": 64}


@pytest.mark.parametrize(
    ("events", "field", "words"),
    [
        (None, "events", "not a list"),
        ("wait", "events", "not a list"),
        ({"t": "p"}, "events", "not a list"),
        ([3], "events[0]", "not an object"),
        ([GOOD, {"op": "wait", "bar": "b", "parity": 0}], "events[1].t", "missing"),
        ([GOOD | {"t": 3}], "events[0].t", "not a name"),
        ([GOOD | {"t": ""}], "events[0].t", "not a name"),
        ([GOOD | {"op": "arrivex"}], "events[0].op", "did you mean arrive?"),
        ([GOOD | {"op": "frobnicate"}], "events[0].op", "use one of init, arrive"),
        ([{"t": "p", "op": "arrive_expect_tx", "bar": "b"}], "events[0].bytes", "needs bar and bytes"),
        ([{"t": "p", "op": "arrive_expect_tx", "bar": "b", "byts": 4}], "events[0]", "did you mean bytes?"),
        ([GOOD | {"bytes": "64"}], "events[0].bytes", "not an integer"),
        ([GOOD | {"bytes": 64.0}], "events[0].bytes", "not an integer"),
        ([GOOD | {"bytes": True}], "events[0].bytes", "not an integer"),
        ([GOOD | {"bytes": -16}], "events[0].bytes", "negative"),
        ([GOOD | {"bytes": 1 << 70}], "events[0].bytes", "64 bits"),
        ([GOOD | {"bar": 7}], "events[0].bar", "not a name"),
        ([{"t": "c", "op": "wait", "bar": "b", "parity": -1}], "events[0].parity", "0 or 1"),
        ([{"t": "c", "op": "wait", "bar": "b", "parity": "0"}], "events[0].parity", "0 or 1"),
        ([{"t": "c", "op": "wait_group", "n": -1}], "events[0].n", "negative"),
        ([{"t": "c", "op": "wait_group"}], "events[0].n", "missing"),
        ([{"t": "c", "op": "wait_group", "n": 0, "read": 2}], "events[0].read", "neither yes nor no"),
        ([{"t": "c", "op": "st_shared"}], "events[0].buf", "missing"),
        ([{"t": "h", "op": "memcpy_desc"}], "events[0].desc", "missing"),
        ([{"t": "hw", "op": "wait", "bar": "b", "parity": 0}], "events[0].op", "only completes"),
        ([{"t": "init", "op": "wait", "bar": "b", "parity": 0}], "events[0].op", "cannot wait"),
        ([{"t": "c", "op": "tma_load", "bar": "b", "bytes": 4, "multicast": [16]}], "events[0].multicast", "0 to 15"),
        ([{"t": "c", "op": "tma_load", "bar": "b", "bytes": 4, "multicast": "x"}], "events[0].multicast", "list of"),
        ([GOOD] * (MOST_EVENTS + 1), "events", "the model takes"),
    ],
)  # fmt: skip
def test_what_has_no_meaning_is_refused_at_its_place(events, field, words):
    with pytest.raises(InputError) as caught:
        BarrierProgram(events)
    assert caught.value.field == field
    assert words in str(caught.value)
    assert caught.value.fix


def test_fields_for_who_draws_are_carried_along():
    [event] = read_events([GOOD | {"ptx": "mbarrier.arrive.expect_tx", "line": 12}])
    assert event.said["line"] == 12
    assert (event.agent, event.op, event.bar, event.amount) == ("p", "arrive_expect_tx", "b", 64)


def test_no_events_complete():
    assert BarrierProgram([]).run().verdict == "completes"


FIELD = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 70), st.text(max_size=4), st.lists(st.integers(), max_size=2)
)
NAMES = ("bar", "bytes", "count", "parity", "n", "read", "buf", "desc", "flag", "multicast", "x")
ANY_EVENT = st.fixed_dictionaries(
    {
        "t": st.sampled_from(("p", "c", "hw", "all", "init", "host", "c0", 4)),
        "op": st.sampled_from((*OPS, "nop", None)),
    },
    optional=dict.fromkeys(NAMES, FIELD),
)


@CALM
@given(st.one_of(st.lists(ANY_EVENT, max_size=6), FIELD), st.booleans())
@example([{"t": "p", "op": ["wait"]}], True)
def test_whatever_is_given_is_answered_or_refused_as_input(events, story):
    try:
        outcome = BarrierProgram(events, story=story).run(budget=500)
    except InputError:
        return
    assert outcome.verdict in ("completes", "hang", "race", "error")


LEGAL = {
    "bar": st.sampled_from(("a", "cta1.a")), "bytes": st.sampled_from((0, 16, 48, 64)), "count": st.integers(0, 2),
    "parity": st.integers(0, 1), "n": st.integers(0, 1), "read": st.booleans(), "buf": st.sampled_from("st"),
    "address": st.just(8), "desc": st.just("d"), "flag": st.just("f"), "multicast": st.sampled_from((0, 1, [0, 1])),
}  # fmt: skip


@st.composite
def legal_event(draw):
    op = draw(st.sampled_from(tuple(OPS)))
    agent = "hw" if op == "complete_tx" else draw(st.sampled_from(("p", "c", "c1", "all")))
    event = {"t": agent, "op": op}
    for field in OPS[op]:
        if field[-1] != "?" or draw(st.booleans()):
            event[field.rstrip("?")] = draw(LEGAL[field.rstrip("?")])
    return event


INITS = [{"t": "init", "op": "init", "bar": bar, "count": 1} for bar in ("a", "cta1.a")]


@CALM
@given(st.lists(legal_event(), max_size=9))
def test_every_program_of_the_grammar_gets_one_answer_with_its_reasons(events):
    outcome = BarrierProgram(INITS + events).run(budget=3000)
    assert outcome.verdict == outcome.outcomes[0]
    assert list(outcome.outcomes[1:]) == sorted(outcome.outcomes[1:], key=("error", "race", "hang", "completes").index)
    assert {finding.verdict for finding in outcome.findings} <= set(outcome.outcomes)
    if outcome.verdict == "completes":
        assert not outcome.findings
    else:
        first = outcome.findings[0]
        assert (outcome.why, outcome.rule, outcome.fix) == (first.message, first.rule, first.fix)
        assert first.fix
        assert first.verdict == outcome.verdict
    for step in outcome.trace:
        assert step.before is None or step.before.pending_count >= 0
        assert step.after is None or 0 <= step.after.pending_count <= step.after.expected_count
    assert outcome.to_dict()["verdict"] == outcome.verdict


@CALM
@given(st.lists(legal_event(), max_size=8))
@example([{"t": "all", "op": "arrive", "bar": "a"}, {"t": "p", "op": "arrive_expect_tx", "bar": "a", "bytes": 16}])
@example([{"t": "hw", "op": "complete_tx", "bar": "a", "bytes": 16}, {"t": "p", "op": "inval", "bar": "a"}])
@example([{"t": "c", "op": "init", "bar": "a", "count": 1}, {"t": "p", "op": "arrive", "bar": "a"}])
def test_what_one_run_proves_every_interleaving_does(events):
    """The proof against the search: where the order of one run is said to suffice, the search finds nothing else."""
    program = BarrierProgram(INITS + events)
    proved, searched = program.run(budget=3000), program.run(budget=3000, prove=False)
    assert proved.verdict == searched.verdict or searched.bounded
    assert set(proved.outcomes) == set(searched.outcomes) or searched.bounded
