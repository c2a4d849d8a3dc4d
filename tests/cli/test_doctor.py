"""`tmalab doctor` says what works and why the rest does not, and never fails for want of a GPU."""

import json
from importlib.metadata import PackageNotFoundError

import pytest

from tmalab.cli import doctor, main
from tmalab.errors import HardwareError, NoHopperGpuError, RecordingError


def ability(name: str) -> doctor.Ability:
    return next(found for found in doctor.abilities() if found.name == name)


def test_it_lists_each_ability_once(capsys):
    assert main(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for found in doctor.abilities():
        assert sum(line.startswith(f"{'yes' if found.able else 'no':4} {found.name}  ") for line in lines) == 1


def test_json_says_the_same(capsys):
    assert main(["doctor", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["schema"] == doctor.SCHEMA
    assert [entry["name"] for entry in answer["abilities"]] == [found.name for found in doctor.abilities()]
    assert all(entry["able"] or entry["fix"] for entry in answer["abilities"])


def test_without_a_hopper_gpu_it_gives_the_reason_and_the_fix(monkeypatch):
    def none_here():
        raise NoHopperGpuError("driver too old: 470.1 speaks CUDA 11.4", fix="update the driver")

    monkeypatch.setattr("tmalab.hardware.find_gpu", none_here)
    live = ability("live experiments")
    assert (live.able, live.detail, live.fix) == (False, "driver too old: 470.1 speaks CUDA 11.4", "update the driver")


def test_without_nvrtc_it_says_so(monkeypatch):
    def missing():
        raise HardwareError("NVRTC cannot be loaded", fix="pip install 'tmalab[gpu]'")

    monkeypatch.setattr("tmalab.hardware.compile.nvrtc_version", missing)
    assert ability("compile kernels").fix == "pip install 'tmalab[gpu]'"


def test_a_cache_folder_that_cannot_be_written(monkeypatch, tmp_path):
    monkeypatch.setattr("tmalab.hardware.compile.nvrtc_version", lambda: "13.0")
    (tmp_path / "file").touch()  # in the way of a folder, for root too
    monkeypatch.setenv("TMALAB_CACHE", str(tmp_path / "file" / "cache"))
    found = ability("compile kernels")
    assert not found.able
    assert "cannot be written" in found.detail
    assert "TMALAB_CACHE" in found.fix


def test_damaged_recordings(monkeypatch):
    class Damaged:
        def provenances(self):
            raise RecordingError("the manifest is damaged", field="file", value="manifest.json", fix="install again")

    monkeypatch.setattr("tmalab.recordings.store.default_store", Damaged)
    found = ability("recordings")
    assert (found.able, found.fix) == (False, "install again")
    assert "manifest.json" in found.detail


@pytest.mark.parametrize(("name", "extra"), [(entry[0], entry[2]) for entry in doctor.PACKAGES])
def test_a_missing_package_names_the_extra_that_brings_it(name, extra, monkeypatch):
    def missing(distribution):
        raise PackageNotFoundError(distribution)

    monkeypatch.setattr("importlib.metadata.version", missing)
    found = ability(name)
    assert not found.able
    assert found.fix == f"pip install 'tmalab[{extra}]'"


def test_every_extra_that_it_names_exists():
    import tomllib
    from pathlib import Path

    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {extra for _, _, extra in doctor.PACKAGES} <= set(project["optional-dependencies"])


def test_a_missing_program(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda program: None)
    assert ability("tests in a browser").detail == "not on the PATH: chromium, node, npm"
