"""A front end's case: checked before a worker is asked, an observation with its provenance after; on a fake worker."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path

import pytest

from tmalab import observe
from tmalab.errors import HardwareError, InputError
from tmalab.experiment.case import Case
from tmalab.frontends import runner
from tmalab.frontends.front_end import FrontEnd
from tmalab.frontends.program import program_sha256
from tmalab.hardware import worker_client
from tmalab.recordings.live import run_live, source_sha256


def hang(**params) -> Case:
    return Case("test", "cute", {"program": "hang", **params})


@pytest.fixture
def installed(monkeypatch):
    monkeypatch.setattr(runner, "require", lambda name, exactly: "4.8.1")


@pytest.fixture
def fake_worker(monkeypatch, installed):
    here = str(Path(__file__).parent)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [here, os.environ.get("PYTHONPATH")])))
    worker = worker_client.Worker("fake_backend:FakeBackend")
    monkeypatch.setattr(runner, "_workers", [worker])
    yield worker
    worker.close()


def test_an_unknown_program_is_refused(installed):
    with pytest.raises(InputError, match="no such program"):
        runner.run_case(Case("test", "cute", {"program": "zebra"}))


def test_a_missing_package_is_said_before_a_worker_is_started(monkeypatch):
    monkeypatch.setattr(import_module("tmalab.frontends.front_end"), "find_spec", lambda module: None)
    monkeypatch.setattr(runner, "_workers", [None])
    with pytest.raises(HardwareError, match=r"pip install 'tmalab\[cute\]'"):
        runner.run_case(hang(armed_bytes=32768))


def test_an_observation_says_which_program_and_which_version(fake_worker):
    seen = runner.run_case(hang(armed_bytes=32768), repeats=7)
    assert seen.source == "live"
    assert seen["params"] == {"program": "hang", "armed_bytes": 32768, "repeats": 7}
    assert seen["package"] == {"name": "cute", "version": "4.8.1"}
    assert seen["ms"].shape == (3,)
    stamp = seen.provenance
    assert (stamp.gpu, stamp.kernel, stamp.repeats) == ("FAKE H200", "cute/hang.py", 7)
    assert stamp.kernel_sha256 == program_sha256("cute/hang") == source_sha256("cute/hang.py")


def test_a_fault_costs_the_worker_and_is_an_observation(fake_worker):
    seen = runner.run_case(hang(armed_bytes=1))
    assert (seen["completed"], seen["error"]) == (False, "LAUNCH_FAILED")
    assert runner.run_case(hang(armed_bytes=32768))["completed"]


def test_a_hang_meets_the_case_s_deadline(fake_worker):
    runner.run_case(hang(armed_bytes=32768))  # a warm worker is given no time to start in
    seen = runner.run_case(hang(armed_bytes=2, deadline_s=0.3))
    assert (seen["completed"], seen["error"]) == (False, "TIMEOUT")
    assert "in time" in seen["diagnosis"]


def test_an_error_of_ours_is_raised_again(fake_worker):
    with pytest.raises(InputError, match="no such program"):
        runner.run_case(hang(armed_bytes=3))


def test_a_live_case_goes_to_its_own_runner(monkeypatch):
    asked = []
    monkeypatch.setattr(runner, "run_case", lambda case, repeats: asked.append(("front end", case.probe, repeats)))
    hardware = import_module("tmalab.hardware.runner")
    monkeypatch.setattr(hardware, "run_case", lambda case, repeats: asked.append(("hardware", case.probe, repeats)))
    run_live(hang(armed_bytes=32768), repeats=2)
    run_live(Case("test", "transfer", {}))
    assert asked == [("front end", "cute", 2), ("hardware", "transfer", 1)]


def test_where_the_package_is_missing_a_live_session_reads_the_recording_and_says_so(monkeypatch):
    monkeypatch.setattr(import_module("tmalab.frontends.front_end"), "find_spec", lambda module: None)
    monkeypatch.setenv("TMALAB_SOURCE", "live")
    assert observe("cute/strips").source == "recorded"
    with pytest.raises(HardwareError, match=r"pip install 'tmalab\[cute\]'"):
        observe("cute/strips", live=True)


@pytest.mark.parametrize(("found", "asked"), [("13.3.5.0.6", False), ("13.3.4.3.1", True)])
def test_a_case_for_another_version_is_read_from_its_recording_in_a_live_session(monkeypatch, found, asked):
    monkeypatch.setenv("TMALAB_SOURCE", "live")
    monkeypatch.setattr(FrontEnd, "version", lambda self: found)
    ran = []
    monkeypatch.setattr(runner, "run_case", lambda case, repeats: ran.append(case) or "live")
    seen = observe("refusals/tall/cccl-3.4")
    assert (seen == "live") is bool(ran) is asked
