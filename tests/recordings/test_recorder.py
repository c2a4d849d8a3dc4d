"""The recorder runs every case, keeps what an interrupted run saw, and changes the recordings in one step."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from types import SimpleNamespace

import pytest

from tmalab.errors import HardwareError, InputError, RecordingError
from tmalab.experiment import catalogue
from tmalab.experiment.cute_cases import cute_cases
from tmalab.experiment.frontend_tile_cases import frontend_tile_cases
from tmalab.recordings import recorder
from tmalab.recordings.store import Store

EDGES = [case.name for case in catalogue.group("edges")]


class FakeGpu:
    """A GPU that answers every case at once, until it is told to fail."""

    def __init__(self, seen, provenance):
        self.seen, self.asked, self.fail_after = seen, [], None
        self.info = SimpleNamespace(name=provenance.gpu, driver=provenance.driver, nvrtc=provenance.nvrtc)
        self.kernel_sha256 = provenance.kernel_sha256
        self.provenance = provenance

    def run_case(self, case, *, repeats=1):
        if self.fail_after is not None and len(self.asked) >= self.fail_after:
            raise KeyboardInterrupt
        self.asked.append(case.name)
        where = replace(
            self.provenance, gpu=self.info.name, driver=self.info.driver, kernel="transfer.cu",
            kernel_sha256=self.kernel_sha256, repeats=repeats,
        )  # fmt: skip
        return self.seen(len(self.asked), case=case, provenance=where)


@pytest.fixture
def gpu(monkeypatch, seen, provenance) -> FakeGpu:
    gpu = FakeGpu(seen, provenance)
    monkeypatch.setattr(import_module("tmalab.hardware.gpu"), "find_gpu", lambda: gpu.info)
    monkeypatch.setattr(import_module("tmalab.hardware.ncu"), "kept_counts", lambda variant, info: {"instructions": 9})
    monkeypatch.setattr(import_module("tmalab.hardware.bank_counters"), "keep_bank_counts", lambda cases, info: True)
    monkeypatch.setattr(import_module("tmalab.hardware.runner"), "run_case", gpu.run_case)
    monkeypatch.setattr(import_module("tmalab.frontends.runner"), "run_case", gpu.run_case)
    monkeypatch.setattr(import_module("tmalab.frontends.front_end"), "find_spec", lambda module: module)
    monkeypatch.setattr(import_module("tmalab.hardware.compile"), "kernel_sha256", lambda name: gpu.kernel_sha256)
    return gpu


def test_everything_is_recorded_in_the_catalogues_order(gpu, tmp_path):
    recorder.record(out=tmp_path / "data")
    assert gpu.asked == list(catalogue.cases())
    assert list(Store(tmp_path / "data").cases()) == list(catalogue.cases())
    assert len(list((tmp_path / "data").glob("*.npz"))) == len(catalogue.GROUPS)


def test_one_group_leaves_the_others_alone(gpu, tmp_path):
    recorder.record(["edges"], out=tmp_path / "data")
    recorder.record(["barrier,fault"], out=tmp_path / "data")
    groups = {name.split("/")[0] for name in Store(tmp_path / "data").cases()}
    assert groups == {"edges", "barrier", "fault"}


def test_a_front_end_that_is_not_here_keeps_its_recordings_unless_it_is_named(gpu, monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(catalogue.GROUPS, "cute", cute_cases)  # whatever is in the catalogue
    recorder.record(["cute", "edges"], out=tmp_path / "data")
    gpu.asked = []
    monkeypatch.setattr(import_module("tmalab.frontends.front_end"), "find_spec", lambda module: None)
    recorder.record(out=tmp_path / "data")
    assert not [name for name in gpu.asked if name.startswith("cute/")]
    assert {case.name for case in cute_cases()} <= set(Store(tmp_path / "data").cases())
    assert "cute stays as it was recorded" in capsys.readouterr().err
    with pytest.raises(HardwareError, match=r"pip install 'tmalab\[cute\]'"):
        recorder.record(["cute"], out=tmp_path / "data")


def test_a_group_of_several_front_ends_is_recorded_where_one_of_them_is(gpu, monkeypatch, tmp_path):
    monkeypatch.setitem(catalogue.GROUPS, "frontends", frontend_tile_cases)
    recorder.record(["frontends"], out=tmp_path / "data")
    before, gpu.asked = Store(tmp_path / "data").cases(), []
    monkeypatch.setattr(
        import_module("tmalab.frontends.front_end"), "find_spec", lambda module: module if module == "triton" else None
    )
    recorder.record(["frontends"], out=tmp_path / "data")
    raw = ["frontends/raw/load", "frontends/raw/descriptor"]
    assert gpu.asked == [*raw, *[name for name in before if name.startswith("frontends/triton/")]]
    assert Store(tmp_path / "data").cases() == before


def test_an_unknown_group_is_refused_before_anything_runs(gpu, tmp_path):
    with pytest.raises(InputError, match="tile, add_one"):
        recorder.record(["edges", "zebra"], out=tmp_path / "data")
    assert gpu.asked == []


def interrupt_at(gpu: FakeGpu, count: int, out) -> None:
    gpu.fail_after = count
    with pytest.raises(KeyboardInterrupt):
        recorder.record(["edges"], out=out)
    gpu.fail_after, gpu.asked = None, []


def test_an_interrupted_run_leaves_the_recordings_and_is_gone_on_with(gpu, tmp_path):
    out = tmp_path / "data"
    recorder.record(["barrier"], out=out)
    gpu.asked = []
    interrupt_at(gpu, 4, out)
    assert {name.split("/")[0] for name in Store(out).cases()} == {"barrier"}
    recorder.record(["edges"], out=out)
    assert gpu.asked == EDGES[4:]
    assert set(Store(out).cases()) > set(EDGES)
    assert not (tmp_path / "data.partial").exists()


def test_a_run_interrupted_twice_is_gone_on_with(gpu, tmp_path, monkeypatch):
    monkeypatch.setattr(recorder, "_SAVE_EVERY_S", 0)
    interrupt_at(gpu, 3, tmp_path / "data")
    interrupt_at(gpu, 2, tmp_path / "data")
    recorder.record(["edges"], out=tmp_path / "data")
    assert gpu.asked == EDGES[5:]


def test_force_measures_everything_anew(gpu, tmp_path):
    interrupt_at(gpu, 4, tmp_path / "data")
    recorder.record(["edges"], out=tmp_path / "data", force=True)
    assert gpu.asked == EDGES


@pytest.mark.parametrize("what", ["kernel", "driver", "gpu"])
def test_what_another_kernel_driver_or_gpu_saw_is_not_kept(gpu, tmp_path, what):
    interrupt_at(gpu, 4, tmp_path / "data")
    if what == "kernel":
        gpu.kernel_sha256 = "cd" * 32
    else:
        setattr(gpu.info, {"driver": "driver", "gpu": "name"}[what], "another")
    recorder.record(["edges"], out=tmp_path / "data")
    assert gpu.asked == EDGES


def test_a_damaged_working_folder_is_started_over(gpu, tmp_path):
    interrupt_at(gpu, 4, tmp_path / "data")
    for path in (tmp_path / "data.partial").glob("*.npz"):
        path.write_bytes(path.read_bytes()[:-1])
    recorder.record(["edges"], out=tmp_path / "data")
    assert gpu.asked == EDGES


def test_a_second_whole_run_measures_everything_again(gpu, tmp_path):
    recorder.record(["edges"], out=tmp_path / "data")
    gpu.asked = []
    recorder.record(["edges"], out=tmp_path / "data")
    assert gpu.asked == EDGES


def test_executed_instructions_are_counted_once_for_add_one(gpu, tmp_path, monkeypatch):
    counted = []
    ncu = import_module("tmalab.hardware.ncu")
    monkeypatch.setattr(ncu, "kept_counts", lambda variant, info: {} if variant == "tma" else None)
    monkeypatch.setattr(ncu, "keep_counts", lambda variant, info: counted.append(variant) or {"instructions": 9})
    recorder.record(["barrier"], out=tmp_path / "data")
    assert counted == []
    recorder.record(["add_one"], out=tmp_path / "data")
    assert counted == ["plain", "cp_async"]


def no_permission(variant, info):
    raise HardwareError("ncu read no counters: no permission")


@pytest.mark.parametrize(("count", "said"), [(lambda *_: None, "Nsight Compute"), (no_permission, "no permission")])
def test_recording_goes_on_without_a_profiler_and_says_so(gpu, tmp_path, monkeypatch, capsys, count, said):
    monkeypatch.setattr(import_module("tmalab.hardware.ncu"), "kept_counts", lambda variant, info: None)
    monkeypatch.setattr(import_module("tmalab.hardware.ncu"), "keep_counts", count)
    assert len(recorder.record(["add_one"], out=tmp_path / "data")) == 3
    assert said in capsys.readouterr().err


def test_wavefronts_are_counted_for_the_cases_that_have_patterns(gpu, tmp_path, monkeypatch):
    counted = []
    counters = import_module("tmalab.hardware.bank_counters")
    monkeypatch.setattr(counters, "keep_bank_counts", lambda cases, info: counted.append(cases) or True)
    recorder.record(["edges"], out=tmp_path / "data")
    assert counted == []
    recorder.record(["banks"], out=tmp_path / "data")
    assert counted == [catalogue.group("banks")]


@pytest.mark.parametrize(("count", "said"), [(lambda *_: False, "Nsight Compute"), (no_permission, "no permission")])
def test_cycles_are_recorded_without_a_profiler_too(gpu, tmp_path, monkeypatch, capsys, count, said):
    monkeypatch.setattr(import_module("tmalab.hardware.bank_counters"), "keep_bank_counts", count)
    assert len(recorder.record(["banks"], out=tmp_path / "data")) == len(catalogue.group("banks"))
    assert said in capsys.readouterr().err


def test_progress_goes_to_standard_error(gpu, tmp_path, capsys):
    recorder.record(["edges"], out=tmp_path / "data")
    out, err = capsys.readouterr()
    assert out == ""
    assert f"{len(EDGES)}/{len(EDGES)}" in err


def test_a_folder_that_cannot_be_written_is_named(gpu, tmp_path):
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(RecordingError, match=r"file=.*--out"):
        recorder.record(["barrier"], out=tmp_path / "file" / "data")


def test_times_are_measured_more_often_than_bytes():
    assert recorder.REPEATS["add_one"] >= 20
    assert recorder.REPEATS["transfer"] >= 2
