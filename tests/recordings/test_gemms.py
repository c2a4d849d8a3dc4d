"""What the recordings of the ladder say, held to: every product right, every rung timed beside cuBLAS, the climb."""

from statistics import geometric_mean

import numpy as np
import pytest

from tmalab import observe
from tmalab.experiment import catalogue
from tmalab.experiment.gemm_cases import (
    LADDER,
    LADDER_SIZE,
    RAGGED,
    fenced_case,
    gemm_case,
    ladder_cases,
    ragged_case,
)
from tmalab.experiment.gemm_fastest import fastest_rung
from tmalab.experiment.gemm_plan import RUNGS, plan_of

CASES = catalogue.group("gemm")
TIMED = [case for case in CASES if case.params.get("timed", True)]


def ladder(name):
    return observe(gemm_case(name, *[LADDER_SIZE] * 3))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_product_is_right(case):
    seen = observe(case)
    assert seen["completed"]
    assert seen["waiting_for"] is None
    assert seen["relative_error"] < 1e-2
    assert (seen["nan"], seen["unwritten"], seen["outside_touched"], seen["local_bytes"]) == (0, 0, 0, 0)


@pytest.mark.parametrize("case", TIMED, ids=lambda case: case.name)
def test_every_rung_was_timed_beside_the_best_of_cublas(case):
    seen, plan = observe(case), plan_of(case.params)
    ours, theirs = np.median(seen["ours_ns"]), np.median(seen["cublas_ns"])
    assert len(seen["ours_ns"]) == len(seen["cublas_ns"]) == seen.provenance.repeats == 31
    assert seen["ratio"] == pytest.approx(theirs / ours, abs=1e-3)
    assert seen["tflops"] == pytest.approx(plan.flops / ours / 1e3, rel=1e-3)
    assert seen["cublas_relative_error"] < 1e-2
    heuristics = seen["cublas"]["heuristics_ns"]
    assert seen["cublas"]["chosen"] == int(np.argmin(heuristics))
    assert 1 <= len(heuristics) <= 8


def test_every_rung_was_counted_and_traced():
    for case in ladder_cases(CASES):
        seen = observe(case)
        assert 0 < seen["counters"]["tensor_pct"] <= 100
        waits = seen["waits"][1]
        assert (waits[:128] >= 0).all(), "128 steps of 64 are 8192"
        assert (np.diff(waits[:128, 1]) > 0).all()


def test_each_idea_is_seen_where_it_acts():
    counters = {name: ladder(name)["counters"] for name in LADDER}
    conflicts = {name: found["shared_conflicts"] / found["shared_wavefronts"] for name, found in counters.items()}
    assert conflicts["plain-loads"] > 0.8
    assert conflicts["tma"] > 0.8
    assert all(share < 0.01 for name, share in conflicts.items() if name not in ("plain-loads", "tma"))
    assert counters["persistent"]["l2_hit_pct"] > counters["consumers"]["l2_hit_pct"] + 15, "a good order"
    assert counters["persistent"]["dram_bytes"] < 0.7 * counters["consumers"]["dram_bytes"]
    assert counters["cluster"]["l2_sectors"] < 0.9 * counters["persistent"]["l2_sectors"], "one read for two blocks"
    epilogue = {name: np.median(np.diff(ladder(name)["epilogues"][:, :2])) for name in ("cluster", "store")}
    assert epilogue["store"] < epilogue["cluster"] / 2, "the engine writes in the background"
    assert counters["store"]["tensor_pct"] > 97


def test_a_rung_that_reads_from_a_deep_pipeline_waits_for_less():
    """Cycles a step of block 0, in the middle of its first tile; the products alone take 512 and 1024."""

    def step(name):
        return np.median(np.diff(ladder(name)["waits"][1, 16:112, 1]))

    assert step("wgmma") > 1500
    assert 512 <= step("stages") < 800
    assert 1024 <= step("store") < 1100


def test_a_fence_of_the_whole_gpu_costs_a_quarter():
    assert observe(fenced_case())["tflops"] < 0.8 * ladder("cluster")["tflops"]


def test_a_gpu_at_work_lowers_its_clock():
    assert ladder("plain-loads")["cycles_per_ns"] > 1.7
    assert ladder("store")["cycles_per_ns"] < 1.6


def test_a_store_writes_whole_chunks_where_plain_stores_do_not():
    rows, columns, _ = RAGGED
    for name in LADDER:
        rung = RUNGS[name]
        assert observe(ragged_case(name, *RAGGED))["last_chunk_touched"] == (-columns % 8 * rows if rung.box_c else 0)


def test_the_best_rung_keeps_up_with_cublas():
    cubes = [(size, size, size) for size in (2048, 4096, 6144, 8192, 16384)]
    ratios = {cube[0]: observe(gemm_case(fastest_rung(*cube), *cube))["ratio"] for cube in cubes}
    assert min(ratios.values()) >= 0.95
    assert geometric_mean(ratios.values()) > 0.985
    assert min(ratios[size] for size in (6144, 8192, 16384)) > 0.995
