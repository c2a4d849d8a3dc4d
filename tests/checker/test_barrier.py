"""Barrier programs through the checker: the answer in words, at its event, on the command line and on the page."""

import json

import pytest

from tmalab.checker import check_text
from tmalab.checker.barrier_rules import BARRIER_RULES
from tmalab.checker.page import page_answer
from tmalab.cli import main

HANG = [
    {"t": "init", "op": "init", "bar": "full", "count": 1},
    {"t": "p", "op": "arrive_expect_tx", "bar": "full", "bytes": 4096},
    {"t": "p", "op": "tma_load", "bar": "full", "bytes": 2048},
    {"t": "c", "op": "wait", "bar": "full", "parity": 0},
]
GOOD = [*HANG[:2], HANG[2] | {"bytes": 4096}, HANG[3]]


def ask(said, **options):
    return check_text(said if isinstance(said, str) else json.dumps(said), options)


@pytest.mark.parametrize("said", [{"events": HANG}, {"mode": "barrier_program", "events": HANG}, HANG])
def test_a_program_is_read_with_a_mode_without_one_and_as_a_bare_list(said):
    answer = ask(said)
    assert (answer.verdict, answer.legal, answer.exit_code) == ("hang", False, 1)
    [fault] = answer.faults
    assert (fault.rule, fault.field, fault.value, fault.limit) == (
        "expect_tx_equals_delivered",
        "events[3]",
        2048,
        4096,
    )
    assert "2048 are missing" in fault.message
    assert answer.numbers["first_bad_event"] == "events[3] (c: wait full parity 0)"
    assert answer.numbers["counts"] == {"full": "phase 0, 0 of 1 arrivals pending, tx-count 2048"}
    assert answer.numbers["run"][-1] == "hw: complete_tx full: 2048 bytes land: 0 arrivals and 2048 bytes to come"


def test_what_completes_is_legal_and_shows_its_run():
    answer = ask({"events": GOOD})
    assert (answer.verdict, answer.legal, answer.exit_code, answer.faults) == ("completes", True, 0, ())
    assert answer.numbers["expect_bytes"] == 4096


def test_a_malformed_event_is_pointed_at_in_the_text():
    text = '{"events": [\n  {"t": "p", "op": "arrive", "bar": "b"},\n  {"t": "p", "op": "arrivex", "bar": "b"}\n]}'
    error = ask(text).error
    assert (error.line, error.column, error.field) == (3, 3, "events[1].op")
    assert "did you mean arrive?" in str(error)


@pytest.mark.parametrize("said", [{"mode": "barrier_program"}, {"mode": "sync_story"}, {"events": 3}, {"events": "x"}])
def test_a_program_without_events_is_unreadable(said):
    answer = ask(said)
    assert answer.exit_code == 2
    assert answer.error.field == "events"


def test_a_story_is_in_order_contested_or_a_race():
    story = [{"t": "all", "op": "st_shared", "buf": "d"}, {"t": "all", "op": "fence_proxy_async"},
             {"t": "all", "op": "cta_sync"}, {"t": "t0", "op": "tma_store", "buf": "d"}]  # fmt: skip
    assert ask({"mode": "sync_story", "events": story}).verdict == "ok"
    late = [story[0], story[2], {"t": "t0", "op": "fence_proxy_async"}, story[3]]
    assert ask({"mode": "sync_story", "events": late}).verdict == "contested"
    assert ask({"mode": "sync_story", "events": [story[0], *story[2:]]}).verdict == "race"


@pytest.mark.parametrize(
    ("cluster", "count", "words", "verdict", "arrivals"),
    [
        (2, 2, "one to each cta", "completes", 2), (4, 4, "one to every CTA", "completes", 4),
        (2, 2, "to its own barrier only", "hang", 1), (2, 1, "local", "completes", 1),
        (2, 1, "one to each cta", "hang", 2), (3, 2, "one to each peer", "completes", 2),
        (2, 2, "to the leader", "hang", 2), (16, 16, "all", "completes", 16),
    ],
)  # fmt: skip
def test_a_barrier_of_a_cluster_counts_who_arrives(cluster, count, words, verdict, arrivals):
    said = {"mode": "cluster_barrier", "cluster": cluster, "init_count": count, "arrivals_per_cta": words}
    answer = ask(said)
    assert (answer.verdict, answer.numbers["arrivals_per_barrier"]) == (verdict, arrivals)
    assert "cluster_wide_arrival_count" in answer.rules


@pytest.mark.parametrize(
    ("change", "field"),
    [({"cluster": 0}, "cluster"), ({"cluster": "2"}, "cluster"), ({"init_count": None}, "init_count"),
     ({"arrivals_per_cta": "perhaps"}, "arrivals_per_cta"), ({"cluster": 17}, "cluster"),
     ({"arrivals_per_cta": ""}, "arrivals_per_cta"), ({"arrivals_per_cta": "0 to each"}, "arrivals_per_cta"),
     ({"arrivals_per_cta": "9999999 to each"}, "arrivals_per_cta")],
)  # fmt: skip
def test_a_cluster_that_cannot_be_is_refused(change, field):
    said = {"mode": "cluster_barrier", "cluster": 2, "init_count": 2, "arrivals_per_cta": "one to each cta"}
    answer = ask(said | change)
    assert (answer.exit_code, answer.error.field) == (2, field)


@pytest.mark.parametrize(
    ("words", "count", "verdict"),
    [("two to each cta", 4, "completes"), ("2 to each cta", 4, "completes"), ("4 to both ctas", 8, "completes"),
     ("two to each cta", 5, "hang"), ("twice to its own", 2, "completes"), ("one to both", 2, "completes")],
)  # fmt: skip
def test_a_number_of_arrivals_may_begin_what_is_said_of_a_cluster(words, count, verdict):
    answer = ask({"mode": "cluster_barrier", "cluster": 2, "init_count": count, "arrivals_per_cta": words})
    assert answer.verdict == verdict
    assert (answer.numbers["arrivals_per_barrier"] == count) == (verdict == "completes")


def test_the_command_line_says_it_in_words(tmp_path, capsys):
    file = tmp_path / "program.json"
    file.write_text(json.dumps({"events": HANG}), encoding="utf-8")
    assert main(["check", str(file), "--plain"]) == 1
    shown = " ".join(capsys.readouterr().out.split())
    for words in ("hangs: 1 thing wrong", "2048 are missing", "Fix: Arm for the 2048 bytes", "run: init: init full"):
        assert words in shown


def test_the_page_shows_what_goes_wrong_and_the_run():
    made = json.loads(page_answer(json.dumps({"events": HANG})))
    for words in ("Hangs: 1 thing wrong", "What goes wrong", "2048 are missing", "One run, step by step"):
        assert words in made["html"]
    assert 'href="rules.html#rule-expect_tx_equals_delivered"' in made["html"]


def test_a_long_run_is_cut_and_says_so():
    turns = [{"t": "w", "op": op, "bar": "b", **more} for k in range(60)
             for op, more in (("arrive", {}), ("wait", {"parity": k % 2}))]  # fmt: skip
    answer = ask({"events": [{"t": "init", "op": "init", "bar": "b", "count": 1}, *turns]})
    assert answer.verdict == "completes"
    assert answer.numbers["run"][0] == "… 61 steps before"
    assert len(answer.numbers["run"]) == 61


def test_every_rule_of_a_program_has_a_text():
    for title, text, source in BARRIER_RULES.values():
        assert title
        assert text.endswith(".")
        assert source


def story(*events, **options):
    return check_text(json.dumps({"mode": "sync_story", "events": list(events)}), options)


LOAD = {"t": "p", "op": "tma_load", "bar": "full", "buf": "a"}
SEES = [{"t": "c", "op": "wait", "bar": "full"}, {"t": "c", "op": "ld_shared", "buf": "a"}]


def test_a_wait_of_a_story_is_for_the_loads_that_nobody_arms():
    assert story(LOAD, *SEES).verdict == "ok"
    assert story(LOAD, {**LOAD, "buf": "b"}, *SEES).verdict == "ok"
    assert story(LOAD, SEES[1]).verdict == "race"
    assert story(LOAD, {**SEES[0], "bar": "other"}, SEES[1]).verdict == "race"


def test_waits_of_a_story_are_for_one_phase_after_another():
    release = [{"t": "c", "op": "arrive", "bar": "empty"}, {"t": "p", "op": "wait", "bar": "empty"}]
    assert story(LOAD, *SEES, *release, LOAD, *SEES).verdict == "ok"
    assert story(LOAD, *SEES, LOAD, *SEES).verdict == "race"


def test_what_a_story_tells_beyond_the_grammar_is_left_aside_where_that_is_asked_for():
    told = [LOAD, *SEES, {"t": "c", "op": "wgmma", "buf": "a"}]
    assert "unknown operation" in str(story(*told).error)
    answer = story(*told, keep_unknown=True)
    assert answer.verdict == "ok"
    assert answer.notes[0].message == "'wgmma' is not known and was left aside"
    assert story(*told, {"t": "c", "op": ["x"]}, keep_unknown=True).exit_code == 2
