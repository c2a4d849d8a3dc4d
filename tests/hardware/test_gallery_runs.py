"""A gallery's case on a fake worker: both versions run, their launches added up, faults and stops kept apart."""

import pytest

from tmalab.errors import InputError
from tmalab.experiment.case import Case
from tmalab.experiment.gallery_cases import gallery_case
from tmalab.hardware import run_case
from tmalab.hardware.compile import kernel_sha256
from tmalab.hardware.gallery_runs import add_up, gallery_item

ITEM = {"text": '//@ launch = { grid = 8 }\nextern "C" __global__ void k() {}\n'}
CLEAN = {"error": None, "runs": 8, "right": 8, "wrong": 0, "stopped": 0, "wrong_bytes": None, "stops": [], "alike": 0}
STOP = {"line": 3, "pending_arrivals": 0, "surplus_bytes": -16}


@pytest.mark.usefixtures("fake_gpu")
def test_both_versions_are_run_and_the_kernel_is_named():
    seen = run_case(gallery_case("wait-skipped"), repeats=2)
    for version in ("broken", "fixed"):
        assert (seen[version]["launches"], seen[version]["runs"], seen[version]["right"]) == (2, 2048, 2048)
    assert seen.provenance.kernel == "gallery/wait_skipped.cu"
    assert seen.provenance.kernel_sha256 == kernel_sha256("gallery/wait_skipped")
    assert seen["error"] is None


def test_a_version_is_what_the_worker_gets():
    broken, fixed = gallery_item("gallery/wait_skipped", "broken"), gallery_item("gallery/wait_skipped", "fixed")
    assert "wait_for_phase" not in broken["text"]
    assert "wait_for_phase" in fixed["text"]
    assert broken["name"] == "wait_skipped.cu"


@pytest.mark.parametrize("kernel", ["gallery/nope", None, "transfer.cu"])
def test_an_unknown_kernel_is_named(kernel):
    with pytest.raises(InputError, match=r"^kernel="):
        run_case(Case("bad", "gallery", {"kernel": kernel}))


def test_runs_and_bytes_of_several_launches():
    wrong = {**CLEAN, "right": 6, "wrong": 2, "wrong_bytes": [4, 9]}
    worse = {**CLEAN, "right": 0, "wrong": 8, "wrong_bytes": [2, 5]}
    total = add_up(ITEM, [CLEAN, wrong, worse])
    assert (total["launches"], total["runs"], total["right"], total["wrong"]) == (3, 24, 14, 10)
    assert total["wrong_bytes"] == [2, 9]


def test_a_fault_refuses_all_runs_of_its_launch():
    total = add_up(ITEM, [CLEAN, {"error": "ILLEGAL_INSTRUCTION"}, {"error": "ILLEGAL_INSTRUCTION"}])
    assert (total["runs"], total["right"], total["refused"]) == (24, 8, 16)
    assert total["errors"] == {"ILLEGAL_INSTRUCTION": 2}


def test_stops_alike_are_counted_over_launches():
    stopped = {**CLEAN, "right": 0, "stopped": 8, "stops": [STOP], "alike": 7}
    other = {**stopped, "stops": [{**STOP, "surplus_bytes": 16}]}
    total = add_up(ITEM, [stopped, stopped, other])
    assert (total["stopped"], total["alike"], total["stops"]) == (24, 14, [STOP])
