"""Without a GPU: what the probe "banks" is sent, what its cycles come to, and what the profiler's print means."""

import subprocess
from types import SimpleNamespace

import numpy as np
import pytest

from tmalab.errors import HardwareError, InputError
from tmalab.experiment.bank_patterns import Pattern, patterns_of
from tmalab.experiment.case import Case
from tmalab.hardware import bank_counters, ncu, runner
from tmalab.hardware.bank_times import OPERATIONS, arrays_of, per_access
from tmalab.hardware.banks_probe import FIRST_MATRIX, ROUNDS, UNROLLED, WARPS, pattern_table, shared_bytes
from tmalab.hardware.compile import KERNELS
from tmalab.hardware.gpu import GpuInfo
from tmalab.hardware.worker_client import Reply

GPU = GpuInfo("H200", "9.0", "580.1", "13.0", "13.0", "14.2", "13.0")
STRIDES = Case("s", "banks", {"family": "strides", "width_bytes": 4, "op": ["load", "store"]})
OFF = [None] * 31


# --- what is sent -----------------------------------------------------------------------------------------------------


def test_the_operations_are_numbered_as_the_kernel_numbers_them():
    text = (KERNELS / "bank_access.cuh").read_text(encoding="utf-8")
    for (op, width), number in OPERATIONS.items():
        (line,) = [line for line in text.splitlines() if f"if constexpr (OPERATION == {number}) " in line]
        if number >= FIRST_MATRIX:
            assert f"{op}(" in line
        else:
            names = {1: "_u8(", 2: "_u16(", 4: "_shared_u32(", 8: "_v2_u32(", 16: "_v4_u32("}
            assert f"{ {'load': 'ld', 'store': 'st'}[op] }_volatile" in line
            assert names[width] in line
    assert f"constexpr int UNROLLED = {UNROLLED};" in text


def test_a_masked_lane_is_off_and_every_lane_runs_an_ldmatrix():
    patterns = [Pattern((64, *OFF), 4, "load"), Pattern((*range(0, 128, 16), *[None] * 24), 16, "ldmatrix_x1")]
    table = pattern_table(*arrays_of(patterns))
    assert table["active"].tolist() == [1, 0xFFFFFFFF]
    assert table["operation"].tolist() == [2, 10]
    assert table.itemsize == 136
    assert table["addresses"][0].tolist() == [64] + [0] * 31


@pytest.mark.parametrize(("highest", "needed"), [(0, 1024), (1008, 1024), (1012, 2048), (232_432, 232_448)])
def test_shared_memory_reaches_past_the_highest_address(highest, needed):
    table = pattern_table(*arrays_of([Pattern((highest, *OFF), 4, "load")]))
    assert shared_bytes(table) == needed


def test_an_address_past_a_blocks_shared_memory_is_refused():
    with pytest.raises(InputError, match="232432"):
        arrays_of([Pattern((232_448, *OFF), 4, "load")])


# --- what comes back --------------------------------------------------------------------------------------------------


def times(cycles_an_access, latency):
    """full and chain, as a GPU without noise would give them, in three trials of which one is slow."""
    accesses = np.array(ROUNDS) * UNROLLED
    full = 150 + accesses[:, None] * WARPS * np.asarray(cycles_an_access)
    chain = 70 + accesses[:, None] * np.asarray(latency)
    slow = np.where(np.arange(len(ROUNDS)) == 2, 2048, 0)[:, None]
    return np.stack([full, full, full + slow], axis=2), np.stack([chain, chain, chain + slow], axis=2)


def test_cycles_are_medians_without_the_idle_loop():
    full, chain = times([1, 4], [28, 34])
    found = per_access(full, chain, np.array([2, 7]))
    assert found["cycles"].tolist() == [1, 4]
    assert found["spread"].tolist() == [1, 1]
    assert found["latency_cycles"][0] == 28
    assert np.isnan(found["latency_cycles"][1]), "nobody waits for a store"


class FakeWorker:
    def __init__(self, reply):
        self.reply, self.asked = reply, []

    def gpu(self):
        return GPU

    def ask(self, probe, items, *, deadline_s, arrays):
        self.asked.append((probe, items, arrays))
        return iter([self.reply])


@pytest.fixture
def worker(monkeypatch, tmp_path):
    monkeypatch.setenv("TMALAB_CACHE", str(tmp_path))
    full, chain = times([access.access().cycles for access in patterns_of(STRIDES.params)], [28] * 128)
    worker = FakeWorker(Reply({"completed": True, "error": None}, {"full": full, "chain": chain}))
    monkeypatch.setattr(runner, "shared_worker", lambda: worker)
    return worker


def test_an_observation_without_a_profiler_says_cycles(worker):
    seen = runner.run_case(STRIDES, repeats=3)
    ((probe, items, arrays),) = worker.asked
    assert (probe, items[0]["trials"], arrays["addresses"].shape) == ("banks", 3, (128, 32))
    assert seen["wavefronts"].tolist() == [access.access().count for access in patterns_of(STRIDES.params)]
    assert "ncu_wavefronts" not in seen.arrays
    assert seen["counted_by"] is None
    assert seen["idle_cycles"] == 150
    assert seen.provenance.kernel == "banks.cu"
    assert seen.provenance.repeats == 3


def test_an_observation_carries_what_was_counted_on_this_machine(worker, profiler):
    profiler(printed([(64 * n, 64 * n - 64) for n in range(1, 129)]))
    assert bank_counters.keep_bank_counts([STRIDES], GPU)
    seen = runner.run_case(STRIDES)
    assert seen["ncu_wavefronts"].tolist() == seen["wavefronts"].tolist() == list(range(1, 129))
    assert seen["ncu_conflicts"].tolist() == list(range(128))
    assert seen["counted_by"]["kernel"] == "banks_once.cu"


def test_a_fault_is_a_diagnosis(monkeypatch):
    reply = Reply({"completed": False, "error": "ILLEGAL_ADDRESS"}, fault=True)
    monkeypatch.setattr(runner, "shared_worker", lambda: FakeWorker(reply))
    seen = runner.run_case(STRIDES)
    assert seen["error"] == "ILLEGAL_ADDRESS"
    assert seen["diagnosis"]
    assert seen.arrays == {}


# --- the profiler -----------------------------------------------------------------------------------------------------


def printed(launches):
    """What ncu prints for loads of those wavefronts and conflicts."""
    lines = ['"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"']
    for number, (wavefronts, conflicts) in enumerate(launches):
        for metrics, value in ((bank_counters.WAVEFRONTS, wavefronts), (bank_counters.CONFLICTS, conflicts)):
            lines.append(f'"{number}","banks_once","{metrics["load"]}","","{value:,}"')
            lines.append(f'"{number}","banks_once","{metrics["store"]}","","0"')
    return "==PROF== Connected\n" + "\n".join(lines) + "\n"


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


def test_launches_are_read_in_their_order(profiler):
    asked = profiler(printed([(2048, 1984), (64, 0)]))
    counts = bank_counters.count_wavefronts(*arrays_of([Pattern((0, *OFF), 4, "load")] * 2))
    assert counts["ncu_wavefronts"].tolist() == [32, 1]
    assert counts["ncu_conflicts"].tolist() == [31, 0]
    assert asked[0][asked[0].index("--clock-control") + 1] == "none"


def test_cases_are_counted_once_and_each_gets_its_own(profiler, monkeypatch, tmp_path):
    monkeypatch.setenv("TMALAB_CACHE", str(tmp_path))
    one, two = (Case(name, "banks", {"patterns": [{"addresses": [at], "width_bytes": 4, "op": "load"}] * count})
                for name, at, count in (("one", 0, 1), ("two", 4, 2)))  # fmt: skip
    asked = profiler(printed([(64, 0), (128, 64), (192, 128)]))
    assert bank_counters.keep_bank_counts([one, two], GPU)
    assert bank_counters.keep_bank_counts([two], GPU)
    assert len(asked) == 1
    assert bank_counters.kept_bank_counts(one, GPU)["ncu_wavefronts"].tolist() == [1]
    assert bank_counters.kept_bank_counts(two, GPU)["ncu_wavefronts"].tolist() == [2, 3]


def test_no_profiler_is_no_count(monkeypatch, tmp_path):
    monkeypatch.setenv("TMALAB_CACHE", str(tmp_path))
    monkeypatch.setattr(ncu, "find_ncu", lambda: None)
    assert bank_counters.keep_bank_counts([STRIDES], GPU) is False


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("==ERROR== ERR_NVGPUCTRPERM - no permission\n", "0 of 1 launches: ==ERROR== ERR_NVGPUCTRPERM"),
        (printed([(64, 0), (64, 0)]), "2 of 1 launches"),
        (printed([(65, 0)]), "do not divide by 64"),
    ],
)
def test_what_the_profiler_cannot_have_counted_is_an_error(profiler, text, words):
    profiler(text)
    with pytest.raises(HardwareError, match=words):
        bank_counters.count_wavefronts(*arrays_of([Pattern((0, *OFF), 4, "load")]))
