"""`tmalab observe` prints the recording, its source and its bytes, and finds names."""

from __future__ import annotations

import base64
import json

import numpy as np
import pytest

from tmalab.cli import main
from tmalab.cli.observe import dump
from tmalab.experiment import catalogue
from tmalab.experiment.observation import Observation, Provenance
from tmalab.recordings.store import Store

NAME = "edges/fill-nan"
SMEM = np.arange(1024, dtype=np.uint8)


@pytest.fixture(autouse=True)
def _recordings(tmp_path, monkeypatch):
    provenance = Provenance("Test GPU", "9.0", "1.2", "13.0", "13.0", "transfer.cu", "ab" * 32, "2026-01-02", 2)
    values = {"completed": True, "error": None}
    mask = {"smem": SMEM > 250}
    store = Store(tmp_path)
    store.write({"edges": [Observation(catalogue.case(NAME), {"smem": SMEM}, values, provenance, "live", mask)]})
    monkeypatch.setattr("tmalab.recordings.observe.default_store", lambda: store)
    monkeypatch.setattr("tmalab.recordings.store.default_store", lambda: store)
    monkeypatch.delenv("TMALAB_SOURCE", raising=False)


def test_an_observation_comes_with_its_provenance(capsys):
    assert main(["observe", NAME]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"{NAME}: recorded\nTest GPU (sm_90) · driver 1.2")
    assert "completed        True" in out
    assert "uint8[1024]" in out
    assert "20 undefined" in out


def test_the_bytes_are_printed_when_asked_for(capsys):
    assert main(["observe", NAME, "--dump"]) == 0
    assert "000010  10 11 12 13" in capsys.readouterr().out


def test_json_holds_everything(capsys):
    assert main(["observe", NAME, "--json"]) == 0
    read = json.loads(capsys.readouterr().out)
    assert (read["schema"], read["source"], read["case"]["name"]) == (1, "recorded", NAME)
    assert base64.b64decode(read["arrays"]["smem"]["base64"]) == SMEM.tobytes()
    assert sum(base64.b64decode(read["undefined"]["smem"]["base64"])) == 20


def test_the_list_marks_what_is_recorded(capsys):
    assert main(["observe", "--list", "edges"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert f"* {NAME}" in lines
    assert "  edges/fill-zero" in lines
    assert all(line[2:].startswith("edges/") for line in lines)


def test_a_list_of_nothing_is_a_no(capsys):
    assert main(["observe", "--list", "zebra"]) == 1
    assert "begins with 'zebra'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["edges/fill_nan"], NAME),
        (["edges/fill-zero"], "tmalab record --only edges"),
        ([NAME, "--repeats", "0"], "repeats=0"),
        ([], "give a case's name"),
    ],
)
def test_what_cannot_be_shown_is_said_on_standard_error(capsys, words, said):
    assert main(["observe", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err


def test_a_timeline_is_written_as_perfetto_reads_it(tmp_path, monkeypatch, capsys):
    shipped = Store()
    monkeypatch.setattr("tmalab.recordings.observe.default_store", lambda: shipped)
    file = tmp_path / "trace.json"
    assert main(["observe", "timeline/two-loads/warm/one-barrier", "--trace", str(file)]) == 0
    events = json.loads(file.read_text(encoding="utf-8"))["traceEvents"]
    assert {"load A", "load B", "wait"} <= {event["name"] for event in events}
    assert main(["observe", "timeline/two-loads/warm/one-barrier", "--trace", str(tmp_path)]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_what_has_no_timeline_is_no_trace(tmp_path, capsys):
    assert main(["observe", NAME, "--trace", str(tmp_path / "trace.json")]) == 2
    assert "no timeline" in capsys.readouterr().err


def test_like_lines_are_printed_once():
    lines = list(dump(np.zeros(80, np.uint8)))
    assert lines == ["    000000  " + "00 " * 15 + "00", "    *", "    000050"]
    assert len(list(dump(np.array([0] * 48 + [1] * 16, np.uint8)))) == 4
