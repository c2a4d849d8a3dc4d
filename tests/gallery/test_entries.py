"""Every entry: real reports, a fix that is small and computed, and a verdict that fits what the H200 did."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tmalab.experiment import catalogue
from tmalab.experiment.gallery_cases import NAMES
from tmalab.gallery import ENTRIES, GROUPS, entry
from tmalab.gallery.verdict import events_of
from tmalab.hardware.compile import gallery_names
from tmalab.hardware.kernel_file import parse_kernel_file
from tmalab.recordings.observe import observe

CASES = json.loads((Path(__file__).parent.parent / "cases" / "cases.json").read_text(encoding="utf-8"))
# Reports that were read for an entry and that are no case: nobody has to answer them.
READ = {
    "NVIDIA/Fuser#1967", "NVIDIA/cutlass#2002", "NVIDIA/cutlass#2364", "facebookexperimental/triton#1105",
    "tile-ai/tilelang#2583", "triton-lang/triton#11731",
}  # fmt: skip
SOURCES = {case["source"] for case in CASES} | READ
EACH = pytest.mark.parametrize("found", ENTRIES, ids=lambda found: found.id)


def test_there_are_at_least_thirty_and_each_is_shown_once():
    assert len(ENTRIES) >= 30
    assert [found.id for entries in GROUPS.values() for found in entries] == [found.id for found in ENTRIES]
    assert {found.kernel for found in ENTRIES} == set(gallery_names())
    assert [found.case for found in ENTRIES] == catalogue.group("gallery")


@EACH
def test_what_it_explains_was_really_reported(found):
    assert set(found.reports) <= SOURCES


def test_the_public_barrier_and_store_reports_are_explained():
    explained = {report for found in ENTRIES for report in found.reports}
    broken = {
        case["source"]
        for case in CASES
        if case["input"]["mode"] == "barrier_program" and case["expected"]["verdict"] in ("hang", "race", "error")
    }
    assert broken <= explained


@EACH
def test_the_fix_is_a_few_lines(found):
    changed = [line for line in found.diff() if line[:1] in "+-"]
    assert 1 <= len(changed) <= 10
    assert all(len(line) <= 120 for line in found.source("broken").splitlines() if not line.startswith("//"))


@EACH
def test_both_versions_hold_nothing_of_the_other_and_nothing_of_the_model(found):
    for version in ("broken", "fixed"):
        source = found.source(version)
        assert not {"BROKEN", "//:", "//?"} & set(source.replace("(", " ").split())
        assert parse_kernel_file(source).kernel == found.id.replace("-", "_")
    assert found.source("broken") != found.source("fixed")


@EACH
def test_the_tool_calls_the_mended_kernel_right(found):
    assert found.verdict("fixed").word == "completes"


@EACH
def test_the_verdict_fits_what_the_h200_did(found):
    seen = observe(found.case, live=False)
    assert found.verdict("broken").fits(seen["broken"])
    assert seen["fixed"]["right"] == seen["fixed"]["runs"] >= 64
    assert seen["broken"]["launches"] == seen["fixed"]["launches"] >= 3


def test_verdicts_of_every_kind_are_there():
    words = {found.verdict("broken").word for found in ENTRIES}
    assert words >= {"hang", "race", "error", "refused", "fault", "wrong bytes"}


def test_a_race_that_was_never_seen_is_not_claimed():
    unseen = [found for found in ENTRIES if observe(found.case, live=False)["broken"]["right"]
              == observe(found.case, live=False)["broken"]["runs"]]  # fmt: skip
    assert {found.verdict("broken").word for found in unseen} <= {"race", "completes"}
    assert all(found.symptom.startswith(("Perhaps nothing", "Nothing was seen")) for found in unseen)


def test_events_are_read_as_the_machine_takes_them():
    text = "x();  //: t0 arrive_expect_tx bar=full bytes=8192\n//: all wait bar=full parity=0\n"
    assert events_of(text) == [
        {"t": "t0", "op": "arrive_expect_tx", "bar": "full", "bytes": 8192},
        {"t": "all", "op": "wait", "bar": "full", "parity": 0},
    ]


def test_an_unknown_entry_names_those_that_are():
    with pytest.raises(ValueError, match="use one of expect-too-many"):
        entry("no-such-fault")
    assert len(NAMES) == len(set(NAMES))
