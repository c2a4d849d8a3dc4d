"""`tmalab run`: compile errors first, then the GPU; the outcome in words and as an exit code; on a fake worker."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tmalab.cli import main
from tmalab.hardware import worker_client
from tmalab.hardware.compile import GALLERY

pytest.importorskip("cuda.bindings.nvrtc", reason="NVRTC's bindings are not installed")

SOURCE = """\
//@ launch = { grid = 4, block = 32 }
//@ buffers.b = { pattern = "fill", value = 0, bytes = 4096 }
//@ arguments = ["b", 7]
#include "ptx.cuh"
#include "bounded_wait.cuh"
OUTCOME
extern "C" __global__ void mine(float* b, int n) {
  __shared__ u64 full_barrier;
  mbarrier_init(&full_barrier, n);
  if (!wait_for_phase(&full_barrier, 0, 1000)) b[0] = 1;
}
"""
STOP = {
    "barrier": "full_barrier", "line": 10, "thread": 0, "address": 0, "phase_parity": 0, "count": 7,
    "pending_arrivals": 7, "armed_bytes": 0, "surplus_bytes": 0,
}  # fmt: skip


@pytest.fixture(autouse=True)
def _fake_gpu(monkeypatch, tmp_path):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent.parent / "hardware"))
    monkeypatch.setenv("TMALAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(worker_client, "BACKEND", "fake_backend:FakeBackend")
    monkeypatch.setattr(worker_client, "_pool", [])
    yield
    worker_client.close_worker()


@pytest.fixture
def kernel(tmp_path):
    """Writes the source with one line in it that tells the fake worker what comes out."""

    def write(outcome: str = "") -> str:
        path = tmp_path / "mine.cu"
        path.write_text(SOURCE.replace("OUTCOME", outcome), encoding="utf-8")
        return str(path)

    return write


def test_all_runs_right(kernel, capsys):
    assert main(["run", kernel(), "--watch"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("mine.cu: mine on FAKE H200")
    assert "4 runs: 4 right, 0 wrong, 0 stopped at the deadline of 2 s" in out


def test_a_deadline_names_barrier_line_and_what_is_missing(kernel, capsys):
    values = json.dumps({"right": 0, "stopped": 4, "stops": [STOP], "alike": 4, "completed": False})
    assert main(["run", kernel(f"// values {values}"), "--watch", "--deadline", "0.5"]) == 1
    out = capsys.readouterr().out
    assert "4 stopped at the deadline of 0.5 s" in out
    assert "line 10, thread 0 waits for full_barrier, phase of parity 0: 0 of 7 arrivals came, 7 are missing." in out


def test_wrong_bytes_are_counted(kernel, capsys):
    values = json.dumps({"right": 3, "wrong": 1, "wrong_bytes": [16, 16]})
    assert main(["run", kernel(f"// values {values}")]) == 1
    assert "a wrong run has 16 wrong bytes" in capsys.readouterr().out


def test_a_fault_costs_another_process_only(kernel, capsys):
    assert main(["run", kernel("// fault ILLEGAL_INSTRUCTION"), "--watch"]) == 1
    assert "the launch raised ILLEGAL_INSTRUCTION" in capsys.readouterr().out


def test_as_json(kernel, capsys):
    assert main(["run", kernel(), "--watch", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["schema"], found["file"], found["runs"], found["right"]) == (1, "mine.cu", 4, 4)


def test_an_error_of_the_source_comes_before_the_question_for_a_gpu(kernel, capsys, monkeypatch):
    monkeypatch.setattr(worker_client, "BACKEND", "fake_backend:NoGpuBackend")
    assert main(["run", kernel("int wrong = ;"), "--watch"]) == 2
    error = capsys.readouterr().err
    assert re.search(r"mine\.cu\(6\): error", error)
    assert "cardboard" not in error


def test_without_a_gpu_the_reason_is_said(kernel, capsys, monkeypatch):
    monkeypatch.setattr(worker_client, "BACKEND", "fake_backend:NoGpuBackend")
    assert main(["run", kernel(), "--watch"]) == 2
    assert "no Hopper GPU: it is made of cardboard" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('["b", 7]', '["c"]', "arguments[0]='c'"),
        ("grid = 4", "grid = 0", "launch.grid=0"),
        ("//@ launch = {", "//@ launch = ", "no TOML"),
        ('extern "C" ', "", "launch.kernel"),
        ("//@ arguments", "//@ argument", "argument="),
    ],
)
def test_a_launch_that_cannot_be_read_is_named(kernel, capsys, old, new, says):
    path = Path(kernel())
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    assert main(["run", str(path), "--watch"]) == 2
    assert says in capsys.readouterr().err


def test_a_header_beside_the_file_is_found(kernel, tmp_path):
    (tmp_path / "mine.cuh").write_text("constexpr int MINE = 3;\n", encoding="utf-8")
    assert main(["run", kernel('#include "mine.cuh"\nstatic_assert(MINE == 3);'), "--watch"]) == 0


def test_the_gallery_s_own_kernels_run_so_in_both_versions(capsys):
    path = str(GALLERY / "expect_too_many.cu")
    for defines in ([], ["-D", "BROKEN"]):
        assert main(["run", path, "--watch", *defines]) == 0
    assert capsys.readouterr().out.count("1024 runs: 1024 right") == 2


def test_a_deadline_is_a_time(kernel, capsys):
    assert main(["run", kernel(), "--deadline", "0"]) == 2
    assert "--deadline=0.0" in capsys.readouterr().err
