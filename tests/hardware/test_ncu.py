"""What the profiler prints is read; where there is no profiler, or it may not look, that is said."""

import subprocess
from dataclasses import replace
from types import SimpleNamespace

import pytest

from tmalab.errors import HardwareError
from tmalab.hardware import ncu
from tmalab.hardware.gpu import GpuInfo

PRINTED = """==PROF== Connected to process 1053 (/usr/bin/python3.12)
==PROF== Disconnected from process 1053
"ID","Kernel Name","Section Name","Metric Name","Metric Unit","Metric Value"
"0","add_one_tma","Command line profiler metrics","sass__inst_executed_per_opcode","","89 (FADD: 8; LDS: 8; UTMALDG: 1)"
"0","add_one_tma","Command line profiler metrics","smsp__inst_executed.sum","inst","89"
"0","add_one_tma","Command line profiler metrics","smsp__thread_inst_executed.sum","inst","1,948"
"""


@pytest.fixture
def profiler(monkeypatch):
    def prints(text, code=0):
        monkeypatch.setattr(ncu, "find_ncu", lambda: "/opt/ncu")
        asked = []

        def run(command, **options):
            asked.append(command)
            return SimpleNamespace(stdout=text, stderr="", returncode=code)

        monkeypatch.setattr(subprocess, "run", run)
        return asked

    return prints


def test_counts_are_read(profiler):
    asked = profiler(PRINTED)
    assert ncu.count_instructions("tma") == {
        "instructions": 89, "thread_instructions": 1948, "opcodes": {"FADD": 8, "LDS": 8, "UTMALDG": 1},
    }  # fmt: skip
    assert asked[0][-3:] == ["-m", "tmalab.hardware.run_once", "tma"]
    assert asked[0][asked[0].index("--clock-control") + 1] == "none"


def test_counts_are_kept_for_this_gpu_and_kernel(profiler, monkeypatch, tmp_path):
    monkeypatch.setenv("TMALAB_CACHE", str(tmp_path))
    gpu = GpuInfo("H200", "9.0", "580.1", "13.0", "13.0", "14.2", "13.0")
    profiler(PRINTED)
    assert ncu.kept_counts("tma", gpu) is None
    assert ncu.keep_counts("tma", gpu) == ncu.kept_counts("tma", gpu)
    assert ncu.kept_counts("tma", gpu)["instructions"] == 89
    assert ncu.kept_counts("plain", gpu) is None
    assert ncu.kept_counts("tma", replace(gpu, driver="590.1")) is None


def test_no_profiler_is_no_count(monkeypatch):
    monkeypatch.setattr(ncu, "find_ncu", lambda: None)
    assert ncu.count_instructions("tma") is None


def test_no_permission_is_an_error_with_the_remedy(profiler):
    profiler("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n", 1)
    with pytest.raises(HardwareError, match="ERR_NVGPUCTRPERM") as raised:
        ncu.count_instructions("tma")
    assert "NVreg_RestrictProfilingToAdminUsers" in raised.value.fix
