"""The campaign covers what was asked, goes on after an interruption, and writes results that can be read again."""

from __future__ import annotations

import gzip
import json
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from importlib import import_module
from types import SimpleNamespace
from typing import ClassVar

import pytest

from tmalab.errors import HardwareError, InputError
from tmalab.recordings import campaign


class InlinePool:
    """Stands for ProcessPoolExecutor: everything runs here, at once, and breaks when it is told to."""

    break_at: ClassVar[list[int]] = []
    asked: ClassVar[list[tuple]] = []

    def __init__(self, workers, **options):
        pass

    def submit(self, function, *task):
        future: Future = Future()
        if InlinePool.break_at and len(InlinePool.asked) >= InlinePool.break_at[0]:
            InlinePool.break_at.pop(0)
            future.set_exception(BrokenProcessPool())
            return future
        InlinePool.asked.append(task[:3])
        try:
            future.set_result(function(*task))
        except BaseException as error:
            future.set_exception(error)
        return future

    def shutdown(self, **options):
        pass


def compare_chunk(kind, seed, chunk, count, golden_every):
    """A chunk whose every 100th record disagrees."""
    golden = [{"case": f"{chunk}/{position}"} for position in range(0, count, golden_every)]
    wrong = [{"case": f"{chunk}/{position}", "kind": kind} for position in range(99, count, 100)]
    counts = {"accepted": count // 2, "rule box_dim_0": 3, "alone box_dim_0": 1, "bytes": 10}
    return {
        "kind": kind, "chunk": chunk, "count": count, "golden_every": golden_every, "counts": counts,
        "disagreements": wrong, "golden": golden,
    }  # fmt: skip


@pytest.fixture
def gpu(monkeypatch):
    """A machine with a GPU, as far as the campaign can tell."""
    InlinePool.break_at, InlinePool.asked = [], []
    info = SimpleNamespace(name="Test GPU", compute_capability="9.0", driver="1.2", cuda="13.0", nvrtc="13.0")
    monkeypatch.setattr(import_module("tmalab.hardware.gpu"), "find_gpu", lambda: info)
    monkeypatch.setattr(campaign, "ProcessPoolExecutor", InlinePool)
    monkeypatch.setattr(campaign, "as_completed", list)  # in the order of submission, where all are done at once
    monkeypatch.setattr(campaign, "compare_chunk", compare_chunk)
    monkeypatch.setattr(campaign, "CHUNKS", {"transfers": 20, "descriptors": 100})
    monkeypatch.setattr(campaign, "GOLDEN", {"transfers": 10, "descriptors": 10})
    return info


def run(out, **changes):
    return campaign.run_campaign(**{"descriptors": 250, "transfers": 50, "seed": 7, "out": out, **changes})


def golden_lines(path):
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


def test_every_record_is_compared_once(gpu, tmp_path):
    summary = run(tmp_path)
    assert summary["descriptors"]["compared"] == 250
    assert summary["transfers"]["compared"] == 50
    assert sorted(InlinePool.asked) == [("descriptors", 7, c) for c in range(3)] + [
        ("transfers", 7, c) for c in range(3)
    ]


def test_the_summary_says_where_it_comes_from_and_what_was_found(gpu, tmp_path):
    summary = run(tmp_path)
    assert json.loads((tmp_path / "summary.json").read_text()) == summary
    assert {name: summary[name] for name in ("schema", "seed", "gpu", "driver")} == {
        "schema": 1, "seed": 7, "gpu": "Test GPU", "driver": "1.2",
    }  # fmt: skip
    assert len(summary["code_sha256"]) == len(summary["kernel_sha256"]) == 64
    assert summary["descriptors"]["disagreements"] == 2
    assert summary["descriptors"]["rules"] == {"box_dim_0": [9, 3]}
    assert summary["descriptors"]["counts"] == {"accepted": 125, "bytes": 30}


def test_every_disagreement_is_a_line(gpu, tmp_path):
    run(tmp_path)
    lines = [json.loads(line) for line in (tmp_path / "disagreements.jsonl").read_text().splitlines()]
    assert lines == [{"case": f"{chunk}/99", "kind": "descriptors"} for chunk in (0, 1)]


def test_golden_records_come_behind_their_provenance(gpu, tmp_path):
    run(tmp_path)
    head, *records = golden_lines(tmp_path / "transfers.jsonl.gz")
    assert head["gpu"] == "Test GPU"
    assert head["records"] == len(records) == 10
    assert records[0] == {"case": "0/0"}


def test_the_same_campaign_writes_the_same_golden_records(gpu, tmp_path):
    for name in ("one", "two"):
        run(tmp_path / name)
    one, two = (golden_lines(tmp_path / name / "descriptors.jsonl.gz") for name in ("one", "two"))
    assert one[1:] == two[1:]


def test_an_interrupted_campaign_goes_on(gpu, tmp_path, monkeypatch):
    def interrupted(kind, seed, chunk, count, golden_every):
        if (kind, chunk) == ("descriptors", 1):
            raise KeyboardInterrupt
        return compare_chunk(kind, seed, chunk, count, golden_every)

    monkeypatch.setattr(campaign, "compare_chunk", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path)
    finished = len((tmp_path / campaign.JOURNAL).read_text().splitlines()) - 1
    assert finished == 4
    monkeypatch.setattr(campaign, "compare_chunk", compare_chunk)
    InlinePool.asked = []
    assert run(tmp_path)["descriptors"]["compared"] == 250
    assert len(InlinePool.asked) == 6 - finished


def interrupted_journal(tmp_path) -> list[str]:
    """The lines of a journal that a campaign of all six chunks would have left just before its end."""
    identity = campaign.campaign_identity(7, import_module("tmalab.hardware.gpu").find_gpu())
    listed = campaign.tasks(7, {"transfers": 50, "descriptors": 250})
    lines = [json.dumps(line) for line in [identity, *(compare_chunk(*task) for task in listed)]]
    (tmp_path / campaign.JOURNAL).write_text("\n".join(lines) + "\n")
    return lines


def test_a_torn_last_line_is_compared_again(gpu, tmp_path):
    lines = interrupted_journal(tmp_path)
    (tmp_path / campaign.JOURNAL).write_text("\n".join(lines)[:-20])
    run(tmp_path)
    assert len(InlinePool.asked) == 1


@pytest.mark.parametrize("changes", [{"seed": 8}, {"force": True}])
def test_another_campaign_starts_over(gpu, tmp_path, changes):
    interrupted_journal(tmp_path)
    run(tmp_path, **changes)
    assert len(InlinePool.asked) == 6


def test_changed_code_starts_over(gpu, tmp_path, monkeypatch):
    interrupted_journal(tmp_path)
    monkeypatch.setattr(campaign, "_code_sha256", lambda: "0" * 64)
    run(tmp_path)
    assert len(InlinePool.asked) == 6


def test_a_larger_campaign_keeps_the_chunks_that_are_whole(gpu, tmp_path):
    interrupted_journal(tmp_path)
    run(tmp_path, descriptors=400, transfers=50)
    # 400 descriptors have golden records elsewhere, so that all of theirs are new; the transfers stay
    assert {kind for kind, *_ in InlinePool.asked} == {"descriptors"}


def test_processes_that_die_cost_the_chunks_under_way(gpu, tmp_path):
    InlinePool.break_at = [2, 4]
    assert run(tmp_path)["transfers"]["compared"] == 50


def test_processes_that_always_die_are_given_up(gpu, tmp_path):
    InlinePool.break_at = [0] * 100
    with pytest.raises(HardwareError, match="died"):
        run(tmp_path)


@pytest.mark.parametrize("field", ["descriptors", "transfers", "workers"])
def test_negative_numbers_are_refused(gpu, tmp_path, field):
    with pytest.raises(InputError, match=f"{field}=-1"):
        run(tmp_path, **{field: -1})


def test_an_empty_campaign_is_one(gpu, tmp_path):
    summary = run(tmp_path, descriptors=0, transfers=0)
    assert summary["descriptors"] == {"compared": 0, "disagreements": 0, "rules": {}, "counts": {}}
