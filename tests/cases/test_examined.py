"""Cases that an examiner wrote before looking at the model: public reports restated, and what a stranger may write.

Each entry of `examined.json` says what must come out and why. Its verdict was decided from the PTX ISA and from what an
H200 did; `source` is the report that it restates, or `ours`. A list of verdicts means that the hardware shows each.
"""

import json
import random
from pathlib import Path

import pytest

from tmalab.checker import check_text
from tmalab.cli import main

CASES = json.loads(Path(__file__).with_name("examined.json").read_text(encoding="utf-8"))
ANSWERED = [case for case in CASES if "verdict" in case["expected"]]
REFUSED = [case for case in CASES if "error" in case["expected"]]
FIRST = ("init", "host")


def ask(said):
    return check_text(json.dumps(said), {"keep_unknown": True})


@pytest.mark.parametrize("case", ANSWERED, ids=lambda case: case["id"])
def test_the_verdict_is_what_was_written_before(case):
    answer, expected = ask(case["input"]), case["expected"]
    assert answer.error is None, answer.error
    assert answer.verdict in expected["verdict"] if isinstance(expected["verdict"], list) else [expected["verdict"]]
    if isinstance(expected["verdict"], str):
        assert answer.verdict == expected["verdict"], case["why"]
    assert expected.get("rule") is None or expected["rule"] in answer.rules
    if "degree" in expected:
        assert answer.numbers["degree"] == expected["degree"]
    if answer.verdict in ("hang", "race", "error"):
        assert all(fault.message and fault.fix and fault.source for fault in answer.faults)


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case["id"])
def test_what_has_no_meaning_is_refused_with_its_place(case, tmp_path, capsys):
    answer = ask(case["input"])
    assert answer.exit_code == 2
    assert answer.error.field == case["expected"]["error"]
    assert answer.error.fix
    file = tmp_path / "said.json"
    file.write_text(json.dumps(case["input"]), encoding="utf-8")
    assert main(["check", str(file)]) == 2
    assert case["expected"]["error"] in capsys.readouterr().err


PROGRAMS = [case for case in ANSWERED if case["input"]["mode"] == "barrier_program"]


@pytest.mark.parametrize("case", PROGRAMS, ids=lambda case: case["id"])
def test_fields_for_a_reader_change_nothing(case):
    events = [{**event, "line": at, "note": "loop", "loc": "a.cu"} for at, event in enumerate(case["input"]["events"])]
    assert ask({**case["input"], "events": events}).verdict == ask(case["input"]).verdict


ALONE = [case for case in PROGRAMS if not any(event["t"] == "all" for event in case["input"]["events"])]


@pytest.mark.parametrize("case", ALONE, ids=lambda case: case["id"])
def test_the_order_among_agents_changes_nothing(case):
    draw, events = random.Random(7), case["input"]["events"]
    ahead: dict[str, list[dict]] = {}
    for event in events:
        if event["t"] not in FIRST:
            ahead.setdefault(event["t"], []).append(event)
    mixed = [event for event in events if event["t"] in FIRST]
    while left := [agent for agent in ahead if ahead[agent]]:
        mixed.append(ahead[draw.choice(left)].pop(0))
    assert ask({**case["input"], "events": mixed}).verdict == ask(case["input"]).verdict


def test_there_are_many_and_each_says_why():
    assert len({case["id"] for case in CASES}) == len(CASES) > 200
    assert all(len(case["why"]) > 3 and case["source"] for case in CASES)
    assert sum(case["source"] != "ours" for case in CASES) > 80


@pytest.mark.parametrize("case", [PROGRAMS[0], REFUSED[0]], ids=lambda case: case["id"])
def test_a_whole_case_is_answered_as_its_input_is(case):
    whole, alone = check_text(json.dumps(case)), check_text(json.dumps(case["input"]))
    assert (whole.verdict, whole.rules) == (alone.verdict, alone.rules)
    if alone.error is not None:
        assert whole.error.offset - alone.error.offset == json.dumps(case).index(json.dumps(case["input"]))


def test_a_case_file_is_answered_entry_by_entry(tmp_path, capsys):
    file = tmp_path / "cases.json"
    file.write_text(json.dumps(ANSWERED, indent=1), encoding="utf-8")
    assert main(["check", str(file)]) == 1
    assert f"{len(ANSWERED)} checked" in capsys.readouterr().out
