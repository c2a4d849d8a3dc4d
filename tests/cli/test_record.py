"""`tmalab record` and `tmalab record campaign` hand their options on and say what came of it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from tmalab.cli import main
from tmalab.errors import NoHopperGpuError
from tmalab.recordings.store import DATA


@pytest.fixture
def recorded(monkeypatch, tmp_path):
    asked: list[dict] = []

    def record(only, *, out, force):
        asked.append({"only": list(only), "out": out, "force": force})
        return [SimpleNamespace(provenance=SimpleNamespace(line=lambda: "Test GPU · driver 1.2"))]

    monkeypatch.setattr("tmalab.recordings.recorder.record", record)
    return asked


def test_everything_goes_into_the_package(recorded, capsys):
    assert main(["record"]) == 0
    assert recorded == [{"only": [], "out": DATA, "force": False}]
    assert "recorded 1 cases" in capsys.readouterr().out


def test_groups_and_folder_can_be_chosen(recorded, tmp_path):
    assert main(["record", "--only", "tile", "--only", "edges", "--out", str(tmp_path), "--force"]) == 0
    assert recorded == [{"only": ["tile", "edges"], "out": tmp_path, "force": True}]


def test_no_gpu_is_one_sentence(monkeypatch, capsys, tmp_path):
    def none_here(*args, **options):
        raise NoHopperGpuError("no NVIDIA driver library")

    monkeypatch.setattr("tmalab.recordings.recorder.record", none_here)
    assert main(["record", "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err == "tmalab record: no Hopper GPU: no NVIDIA driver library\n"


@pytest.mark.parametrize(("disagreements", "code"), [(0, 0), (3, 1)])
def test_a_campaign_answers_whether_all_agreed(monkeypatch, capsys, disagreements, code):
    asked: list[dict] = []

    def run_campaign(**options):
        asked.append(options)
        count = {"compared": 40, "disagreements": disagreements}
        return {
            "descriptors": count,
            "transfers": {"compared": 7, "disagreements": 0},
            "gpu": "Test GPU",
            "driver": "1.2",
        }

    monkeypatch.setattr("tmalab.recordings.campaign.run_campaign", run_campaign)
    words = ["--descriptors", "40", "--transfers", "7", "--seed", "3", "--workers", "2", "--out", "results"]
    assert main(["record", "campaign", *words]) == code
    assert asked == [
        {"descriptors": 40, "transfers": 7, "seed": 3, "workers": 2, "out": Path("results"), "force": False}
    ]
    assert f"40 descriptors compared, {disagreements} disagreements" in capsys.readouterr().out


def test_a_campaign_needs_a_folder(capsys):
    with pytest.raises(SystemExit):
        main(["record", "campaign"])
    assert "--out" in capsys.readouterr().err
