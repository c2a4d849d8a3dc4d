"""Barrier programs: variations of the public cases, each single fault of a pipeline, and what must always hold."""

import importlib.util
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tmalab import model
from tmalab.errors import InputError
from tmalab.model.barrier_outcome import WORST
from tmalab.model.barrier_program import BarrierProgram
from tmalab.model.pipeline_program import pipeline_events


def beside(name):
    """A module that lies beside this one: pytest's importlib mode has no package for it."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


program = beside("barrier_notation").program
VARIATIONS = beside("barrier_variations").VARIATIONS


def run(text, **options):
    return BarrierProgram(program(text), **options).run()


@pytest.mark.parametrize(("verdicts", "rule", "text"), [v[1:] for v in VARIATIONS], ids=[v[0] for v in VARIATIONS])
def test_a_variation_of_the_public_cases(verdicts, rule, text):
    outcome = run(text)
    assert outcome.verdict in verdicts, outcome.why
    assert rule is None or rule in {finding.rule for finding in (*outcome.findings, *outcome.notes)}


@pytest.mark.parametrize("text", [v[3] for v in VARIATIONS], ids=[v[0] for v in VARIATIONS])
def test_the_search_finds_what_the_proof_says(text):
    proved, searched = run(text), BarrierProgram(program(text)).run(prove=False)
    assert (proved.verdict, set(proved.outcomes)) == (searched.verdict, set(searched.outcomes))
    assert searched.bounded is None


# Names of a cluster say where things are, and `all` has a place in the order of every thread.
PLAIN = [v for v in VARIATIONS if not any(word in v[3] for word in ("cta0", "cta1", "multicast", "cluster"))]
NO_ALL = [v for v in VARIATIONS if not any(event["t"] == "all" for event in program(v[3]))]


@pytest.mark.parametrize("text", [v[3] for v in PLAIN], ids=[v[0] for v in PLAIN])
def test_names_decide_nothing(text):
    events = program(text)
    kept = ("all", "hw", "init", "host")
    named = {(key, event[key]) for event in events for key in ("t", "bar", "buf", "desc") if key in event}
    new = {(key, name): name if key == "t" and name in kept else f"{name}_x" for key, name in named}
    other = [{key: new.get((key, value), value) for key, value in event.items()} for event in events]
    before, after = BarrierProgram(events).run(), BarrierProgram(other).run()
    assert (before.verdict, before.outcomes, before.first_bad) == (after.verdict, after.outcomes, after.first_bad)


@pytest.mark.parametrize("text", [v[3] for v in NO_ALL], ids=[v[0] for v in NO_ALL])
def test_only_the_order_of_each_agent_counts(text):
    events = program(text)
    agents = list(dict.fromkeys(event["t"] for event in events))
    mixed = [event for agent in reversed(agents) for event in events if event["t"] == agent]
    assert BarrierProgram(mixed).run().verdict == BarrierProgram(events).run().verdict


# --- the answer -------------------------------------------------------------------------------------------------------

TWO_LOADS = """init init full 1; p arrive_expect_tx full 4096; p tma_load full 2048 a; p tma_load full 2048 b
    hw complete_tx full 2048; hw complete_tx full 2048; c wait full 0; c ld_shared a"""


def test_the_run_tells_every_step_with_the_counts_before_and_after():
    outcome = run(TWO_LOADS)
    assert outcome.verdict == "completes"
    assert outcome.states == 0, "the order of one run proves it"
    assert [(step.agent, step.event, step.op) for step in outcome.trace] == [
        ("init", 0, "init"), ("p", 1, "arrive_expect_tx"), ("p", 2, "tma_load"), ("p", 3, "tma_load"),
        ("hw", 4, "complete_tx"), ("hw", 5, "complete_tx"), ("c", 6, "wait"), ("c", 7, "ld_shared"),
    ]  # fmt: skip
    armed, first, second = outcome.trace[1], outcome.trace[4], outcome.trace[5]
    assert (armed.before[:], armed.after[:]) == ((0, 1, 1, 0), (0, 0, 1, 4096))
    assert (first.after[:], second.after[:]) == ((0, 0, 1, 2048), (1, 1, 1, 0))


def test_a_hang_says_what_was_armed_what_came_and_what_is_missing():
    outcome = run(TWO_LOADS.replace("p tma_load full 2048 b", "").replace("; hw complete_tx full 2048;", ";", 1))
    assert outcome.verdict == "hang"
    assert "armed for 4096 bytes, 2048 arrived; 2048 are missing" in outcome.why
    assert "2048" in outcome.fix
    assert (outcome.first_bad, outcome.blocked) == (4, {"c": 4})
    assert outcome.counts["full"][:] == (0, 0, 1, 2048)
    assert outcome.numbers["pending"] == 2048


def test_an_early_wait_shows_the_run_in_which_it_is_early():
    outcome = run("init init b 1; p arrive_expect_tx b 64; p tma_load b 64; p wait b 1")
    last = outcome.trace[-1]
    assert (last.op, last.event, last.before[:]) == ("wait", 3, (0, 0, 1, 64))
    assert outcome.first_bad == 3


def test_an_arrival_too_many_faults_on_an_h200_in_some_order_or_in_all():
    certain = run("init init b 1; p arrive_expect_tx b 64; p arrive b")
    assert (certain.verdict, certain.rule) == ("error", "arrivals_within_count")
    maybe = run("init init b 1; p arrive_expect_tx b 64; p tma_load b 64; p arrive b; c wait b 0")
    assert maybe.verdict == "race"
    assert "error" in maybe.outcomes
    assert "LAUNCH_FAILED" in " ".join(finding.message for finding in maybe.findings)


def test_a_fence_by_the_issuer_alone_is_contested_and_not_called_a_bug():
    outcome = run("all st_shared d; all cta_sync; t0 fence_proxy_async; t0 tma_store d")
    assert outcome.verdict == "completes"
    assert [note.rule for note in outcome.notes] == ["fence_proxy_async_before_tma_read", "store_read_before_exit"]
    assert outcome.notes[0].message.startswith("contested:")
    assert run("all st_shared d; t0 fence_proxy_async; all cta_sync; t0 tma_store d").verdict == "race", (
        "before the barrier the issuer's fence covers only its own writes"
    )


def test_a_story_takes_barriers_that_nobody_initialises_as_given():
    text = "c0 wait cta0.done 0; c0 tma_load full 64 union multicast; c1 ld_shared union"
    assert BarrierProgram(program(text), story=True).run().rule == "multicast_waits_for_all_destination_ctas"
    assert run(text).verdict == "error"
    mended = f"c1 ld_shared union; c0 arrive cta0.done; c1 arrive cta0.done; {text.split('; c1', maxsplit=1)[0]}"
    assert BarrierProgram(program(mended), story=True).run().verdict == "completes"


def test_a_story_may_leave_numbers_out_and_a_program_may_not():
    events = [{"t": "c0", "op": "wait", "bar": "cta0.done"}, {"t": "c0", "op": "tma_load", "bar": "b", "buf": "s"}]
    assert BarrierProgram(events, story=True).run().verdict == "completes"
    with pytest.raises(InputError, match="parity"):
        BarrierProgram(events)


def test_a_search_that_is_cut_short_says_where():
    events = pipeline_events(iterations=6)
    outcome = BarrierProgram(events).run(budget=100, prove=False)
    assert outcome.bounded is not None
    assert "after 101 states" in outcome.bounded
    assert BarrierProgram(events).run(prove=False).bounded is None


# --- a pipeline, and each of its faults -------------------------------------------------------------------------------

SHAPES = [(1, 1, 3), (2, 1, 5), (2, 2, 5), (3, 2, 7)]


@pytest.mark.parametrize(("stages", "consumers", "turns"), SHAPES)
def test_without_any_one_event_a_pipeline_does_what_an_engineer_expects(stages, consumers, turns):
    events = pipeline_events(num_stages=stages, consumers=consumers, iterations=turns)
    turn = -1
    for at, event in enumerate(events):
        turn += event["t"] == "producer" and event["op"] == "wait"
        used_again = turn + stages < turns
        expected = {
            "init": {"error"}, "arrive_expect_tx": {"hang"}, "tma_load": {"hang"}, "ld_shared": {"completes"},
            "arrive": {"hang"} if used_again else {"completes"},
            "wait": {"race"} if event["t"] != "producer" or turn >= stages else {"completes"},
        }[event["op"]]  # fmt: skip
        outcome = BarrierProgram(events[:at] + events[at + 1 :]).run()
        assert outcome.verdict in expected, f"without {at} {event} (turn {turn}): {outcome.verdict}, {outcome.why}"
        assert outcome.bounded is None


def test_a_fault_far_into_a_long_pipeline_is_found_though_the_search_is_cut_short():
    """The steps at which the proof fails are put off in turn, so that the bad order is found without a search."""
    events = pipeline_events(num_stages=3, consumers=2, iterations=12)
    for at, event in enumerate(events):
        without = events[:at] + events[at + 1 :]
        whole, cut = BarrierProgram(without).run(), BarrierProgram(without).run(budget=40)
        assert cut.verdict == whole.verdict, f"without {at} {event}: {cut.verdict} and not {whole.verdict}"


CHANGES = [
    ("arrive_expect_tx", {"bytes": 4096 + 64}, {"hang"}),
    ("arrive_expect_tx", {"bytes": 4096 - 64}, {"race", "hang"}),
    ("arrive_expect_tx", {"bytes": 0}, {"race", "hang"}),
    ("tma_load", {"bytes": 4096 + 64}, {"race", "hang"}),
    ("tma_load", {"bytes": 2048}, {"hang"}),
    ("arrive", {"op": "arrive", "count": 2}, {"race", "error"}),
]


@pytest.mark.parametrize(("op", "change", "expected"), CHANGES)
def test_with_one_number_changed_a_pipeline_does_what_an_engineer_expects(op, change, expected):
    events = pipeline_events(num_stages=2, consumers=2, iterations=5)
    for at, event in enumerate(events):
        last = event["op"] == "arrive" and not any(e["op"] == "wait" and e["bar"] == event["bar"] for e in events[at:])
        if event["op"] == op and not last:
            outcome = BarrierProgram([*events[:at], event | change, *events[at + 1 :]]).run()
            assert outcome.verdict in expected, f"{at} {event} {change}: {outcome.verdict}, {outcome.why}"


@pytest.mark.parametrize(
    ("bar", "count", "expected"),
    [("full0", 2, {"hang"}), ("empty0", 3, {"hang"}), ("empty0", 1, {"race"}), ("full1", 0, {"error"})],
)
def test_with_another_count_at_init(bar, count, expected):
    events = pipeline_events(num_stages=2, consumers=2, iterations=5)
    changed = [event | {"count": count} if event["op"] == "init" and event["bar"] == bar else event for event in events]
    assert BarrierProgram(changed).run().verdict in expected


def test_with_one_parity_flipped_no_pipeline_completes_in_every_order():
    events = pipeline_events(num_stages=2, consumers=2, iterations=6)
    for at, event in enumerate(events):
        if event["op"] == "wait":
            flipped = [*events[:at], event | {"parity": 1 - event["parity"]}, *events[at + 1 :]]
            outcome = BarrierProgram(flipped).run()
            assert outcome.verdict in ("race", "hang"), f"{at} {event}"


def test_without_the_fence_or_the_sync_of_a_store():
    legal = (
        "all st_shared d; all fence_proxy_async; all cta_sync; t0 tma_store d; t0 commit_group; t0 wait_group 0 read"
    )
    events = program(f"{legal}; all cta_sync; {legal}")
    assert BarrierProgram(events).run().verdict == "completes"
    for at, event in enumerate(events):
        # What a store needs, up to the second one; st_shared and the last group's end are missed by nobody.
        needed = event["op"] in ("fence_proxy_async", "cta_sync") or (
            at < 6 and event["op"] in ("commit_group", "wait_group")
        )
        outcome = BarrierProgram(events[:at] + events[at + 1 :]).run()
        assert outcome.verdict == ("race" if needed else "completes"), f"{at} {event} {outcome.why}"


# --- what must always hold --------------------------------------------------------------------------------------------

PIPELINES = st.builds(
    pipeline_events, num_stages=st.integers(1, 4), consumers=st.integers(1, 3), iterations=st.integers(1, 9),
    loads=st.integers(1, 3), tx_bytes=st.sampled_from((0, 48, 3072)),
)  # fmt: skip
CALM = settings(deadline=None, suppress_health_check=list(HealthCheck))


@CALM
@given(PIPELINES)
def test_a_legal_pipeline_always_completes_and_needs_no_search(events):
    outcome = BarrierProgram(events).run()
    assert (outcome.verdict, outcome.outcomes, outcome.states) == ("completes", ("completes",), 0)


@CALM
@given(PIPELINES, st.data())
def test_a_second_wait_of_a_reader_for_the_same_phase_harms_nothing(events, data):
    waits = [at for at, event in enumerate(events) if event["op"] == "wait" and event["t"].startswith("consumer")]
    at = data.draw(st.sampled_from(waits))
    assert BarrierProgram([*events[: at + 1], events[at], *events[at + 1 :]]).run().verdict == "completes"


@CALM
@given(PIPELINES, st.data())
def test_a_fault_is_no_better_for_a_wait_that_is_added(events, data):
    """Adding a producer's wait back to a program that lacks it mends it: the verdict gets no worse."""
    gone = data.draw(st.sampled_from([at for at, event in enumerate(events) if event["op"] == "wait"]))
    broken = BarrierProgram(events[:gone] + events[gone + 1 :]).run(budget=5000)
    whole = BarrierProgram(events).run()
    assert WORST.index(whole.verdict) >= WORST.index(broken.verdict)


@CALM
@given(st.lists(st.sampled_from((16, 64, 128)), min_size=1, max_size=4), st.data())
def test_the_sum_of_the_loads_is_what_must_be_armed(sizes, data):
    armed = sum(sizes) + data.draw(st.sampled_from((-16, 0, 16)))
    loads = [f"p tma_load full {size} b{at}" for at, size in enumerate(sizes)]
    place = data.draw(st.integers(0, len(loads)))
    lines = [*loads[:place], f"p arrive_expect_tx full {armed}", *loads[place:]]
    reads = [f"c ld_shared b{at}" for at in range(len(sizes))]
    outcome = run("; ".join(["init init full 1", *lines, "c wait full 0", *reads]))
    if armed == sum(sizes):
        assert outcome.verdict == "completes"
    elif armed > sum(sizes):
        assert outcome.verdict == "hang"
    else:
        assert outcome.verdict in ("race", "hang")


@pytest.mark.parametrize(
    "wrong", [{"num_stages": 0}, {"consumers": -1}, {"iterations": True}, {"loads": 3}, {"tx_bytes": -4}]
)
def test_a_pipeline_that_cannot_be_is_refused(wrong):
    with pytest.raises(InputError) as caught:
        pipeline_events(**wrong)
    assert caught.value.fix


def test_the_model_exports_it():
    assert model.BarrierProgram is BarrierProgram
    assert model.Outcome is type(BarrierProgram([]).run())


def test_reads_that_no_proxy_fence_parts_from_the_next_load_are_told_once():
    ring = """
    init init full 1; init init empty 1
    p arrive_expect_tx full 64; p tma_load full 64 a; c wait full 0; c ld_shared a; {fence} c arrive empty
    p wait empty 0; p arrive_expect_tx full 64; p tma_load full 64 a; c wait full 1; c ld_shared a"""
    rule = "fence_proxy_async_before_tma_write"
    bare, fenced = run(ring.format(fence="")), run(ring.format(fence="c fence_proxy_async;"))
    assert bare.verdict == fenced.verdict == "completes"
    assert [note.event for note in bare.notes if note.rule == rule] == [9]
    assert rule not in {note.rule for note in fenced.notes}


@pytest.mark.parametrize(("between", "noted"), [([], True), ([{"t": "p", "op": "inval", "bar": "b"}], False)])
def test_a_second_init_wants_an_inval_before_it(between, noted):
    init = {"t": "p", "op": "init", "bar": "b", "count": 1}
    arrive, wait = {"t": "p", "op": "arrive", "bar": "b"}, {"t": "p", "op": "wait", "bar": "b", "parity": 0}
    outcome = BarrierProgram([init, arrive, wait, *between, init, arrive, wait]).run()
    assert outcome.verdict == "completes"
    assert [note.rule == "mbarrier_initialised_once" for note in outcome.notes] == [True] * noted
