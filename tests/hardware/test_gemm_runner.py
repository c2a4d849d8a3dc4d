"""What is made of a product's times, of its counters and of a wait that gave up; and cuBLAS' structures. No GPU."""

import subprocess
from types import SimpleNamespace

import numpy as np
import pytest

from tmalab.errors import HardwareError, InputError
from tmalab.experiment.case import Case
from tmalab.experiment.gemm_cases import gemm_case
from tmalab.experiment.observation import Provenance
from tmalab.hardware import gemm_counters, gemm_runner, ncu
from tmalab.hardware.gpu import GpuInfo
from tmalab.hardware.worker_client import Reply

GPU = GpuInfo("H200", "9.0", "580.1", "13.0", "13.0", "14.2", "13.0")
SEEN = {"error": None, "waiting_for": None, "completed": True, "sms": 132, "cycles_per_ns": 1.5}
CASE = gemm_case("store", 8192, 8192, 8192)


def provenance(gpu, kernel, repeats):
    return Provenance(gpu.name, "9.0", gpu.driver, gpu.cuda, gpu.nvrtc, f"{kernel}.cu", "0" * 64, "2026-01-01", repeats)


def observe(values, case=CASE, **arrays):
    asked = []

    def ask(probe, items, deadline_s):
        asked.append((probe, items, deadline_s))
        return [Reply({**SEEN, **values}, arrays)], GPU

    seen = gemm_runner.run_gemm(case, 3, 2.0, ask, provenance)
    ((probe, (item,), deadline_s),) = asked
    assert (probe, item["repeats"]) == ("gemm", 3)
    assert deadline_s > 30
    return seen


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("TMALAB_CACHE", str(tmp_path))


def test_rates_are_of_the_medians():
    ours, theirs = np.array([1.4e6, 1.3e6, 9e6], np.float32), np.array([1.54e6, 1.5e6, 1.6e6], np.float32)
    seen = observe({}, ours_ns=ours, cublas_ns=theirs)
    flops = 2 * 8192**3
    assert seen["ratio"] == pytest.approx(1.1)
    assert seen["tflops"] == pytest.approx(flops / 1.4e6 / 1e3, abs=0.01)
    assert seen["share_of_datasheet"] == pytest.approx(seen["tflops"] / 989.4, abs=1e-4)
    assert seen["share_of_clock"] == pytest.approx(seen["tflops"] / (132 * 4096 * 1.5 / 1e3), abs=1e-4)
    assert seen["counters"] is None
    assert seen.provenance.kernel == "gemm/09_store.cu"
    assert 0 < seen["source_lines"] < 200


def test_a_product_that_was_only_checked_has_no_rates():
    seen = observe({"relative_error": 0.002})
    assert "tflops" not in seen.values
    assert seen["diagnosis"] is None


def test_a_wait_that_gave_up_is_told():
    waiting = {"barrier": "full", "block": 7, "step": 12, "parity": 1}
    seen = observe({"waiting_for": waiting, "completed": False})
    assert seen["diagnosis"] == (
        "block 7 waited 200 ms for the full barrier at its step 12 (parity 1), and gave up: the result is not one"
    )


def test_a_fault_is_diagnosed():
    seen = observe({"error": "ILLEGAL_INSTRUCTION", "completed": False, "detail": ""})
    assert "ILLEGAL_INSTRUCTION" in seen["diagnosis"]


@pytest.mark.parametrize(("changed", "field"), [({"k": 4095}, "lda"), ({"m": 0}, "m"), ({"rung": "none"}, "rung")])
def test_a_wrong_shape_is_refused_before_the_worker_is_asked(changed, field):
    case = Case("wrong", "gemm", {**CASE.params, **changed})
    with pytest.raises(InputError) as raised:
        gemm_runner.run_gemm(case, 1, 2.0, lambda *asked: pytest.fail("asked"), provenance)
    assert raised.value.field == field


# --- counters ---------------------------------------------------------------------------------------------------------


def printed(launches):
    lines = ['"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"']
    for number in range(launches):
        lines += [f'"{number}","gemm","{metric}","x","1,23{number}.5"' for metric in gemm_counters.METRICS.values()]
    return "==PROF== noise\n" + "\n".join([*lines, '"0","gemm","unknown__metric","x","n/a"']) + "\n"


@pytest.fixture
def profiler(monkeypatch):
    def prints(text):
        asked = []

        def run(command, **options):
            asked.append(command)
            return SimpleNamespace(stdout=text, stderr="==ERROR== no permission", returncode=1)

        monkeypatch.setattr(ncu, "find_ncu", lambda: "/opt/ncu")
        monkeypatch.setattr(subprocess, "run", run)
        return asked

    return prints


def test_counters_are_kept_for_each_rung(profiler):
    cases = [gemm_case(name, 8192, 8192, 8192) for name in ("tma", "wgmma")]
    asked = profiler(printed(2))
    assert gemm_counters.keep_gemm_counts(cases, GPU)
    assert asked[0][-5:] == ["8192", "8192", "8192", "tma", "wgmma"]
    assert asked[0][asked[0].index("--clock-control") + 1] == "none"
    assert gemm_counters.kept_gemm_counts(cases[1], GPU)["l2_hit_pct"] == 1231.5
    assert gemm_counters.keep_gemm_counts(cases, GPU), "counted already"
    assert len(asked) == 1
    assert observe({}, cases[0], ours_ns=np.ones(1), cublas_ns=np.ones(1))["counters"]["dram_bytes"] == 1230.5


def test_a_profiler_that_may_not_look_says_so(profiler):
    profiler("")
    with pytest.raises(HardwareError, match=r"counted 0 of 1 launches: ==ERROR== no permission"):
        gemm_counters.count(8, 8, 8, ["tma"])


def test_no_profiler_is_no_count(monkeypatch):
    monkeypatch.setattr(ncu, "find_ncu", lambda: None)
    assert gemm_counters.count(8, 8, 8, ["tma"]) is None
    assert not gemm_counters.keep_gemm_counts([CASE], GPU)
