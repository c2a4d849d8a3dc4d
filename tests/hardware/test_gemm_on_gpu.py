"""On a Hopper GPU: every rung multiplies ragged shapes, and one whose bytes do not come gives up and says so."""

import secrets
from dataclasses import replace

import pytest

from tmalab.experiment.case import Case
from tmalab.experiment.gemm_cases import BEST, RAGGED, RAGGED_SHAPES, gemm_case, ragged_case
from tmalab.experiment.gemm_plan import RUNGS, gemm_plan
from tmalab.hardware import run_case
from tmalab.model.tensor_map import TensorMap

pytestmark = pytest.mark.gpu

SHAPES = [(name, *RAGGED) for name in RUNGS] + [(BEST, *shape) for shape in RAGGED_SHAPES if shape != RAGGED]


def fresh(case):
    """The same experiment on inputs that nobody saw before; a failure tells their seed."""
    seed = secrets.randbelow(1 << 31)
    print(f"{case.name}, seed {seed}")
    return Case(case.name, case.probe, {**case.params, "seed": seed})


@pytest.mark.parametrize(("name", "m", "n", "k"), SHAPES)
@pytest.mark.parametrize("time", [1, 2])
def test_a_rung_multiplies_what_does_not_divide_its_tile(name, m, n, k, time):
    seen = run_case(fresh(ragged_case(name, m, n, k)))
    assert seen["error"] is None
    assert seen["waiting_for"] is None
    assert seen["relative_error"] < 1e-2
    assert (seen["nan"], seen["unwritten"], seen["outside_touched"]) == (0, 0, 0)
    stores_chunks = RUNGS[name].box_c is not None  # a TMA store writes whole 16 bytes
    assert seen["last_chunk_touched"] == (-n % 8 * m if stores_chunks else 0)


@pytest.mark.parametrize("name", RUNGS)
def test_a_rung_is_timed_beside_cublas(name):
    seen = run_case(fresh(gemm_case(name, 2048, 2048, 2048)), repeats=3)
    assert seen["local_bytes"] == 0
    assert seen["relative_error"] < 1e-2
    assert seen["cublas_relative_error"] < 1e-2
    assert seen["ours_ns"].shape == seen["cublas_ns"].shape == (3,)
    waits = seen["waits"][1]
    done = waits[waits[:, 0] >= 0]
    assert len(done) >= 2048 // 64
    assert (done[:, 0] <= done[:, 1]).all()


@pytest.mark.parametrize("name", [name for name in RUNGS if name != "plain-loads"])
def test_a_rung_whose_bytes_do_not_come_gives_up_and_says_so(name):
    """In a process of its own would be safer; the probe is the worker's, and the test stands in for the worker."""
    from tmalab.hardware.cuda_device import CudaDevice
    from tmalab.hardware.gemm_matrices import Matrices
    from tmalab.hardware.gemm_probe import GemmProbe, load

    device = CudaDevice()
    plan = gemm_plan(name, 300, 296, 640)
    short = TensorMap.tiled("bfloat16", (640, 300), (1280,), (64, 64), swizzle=plan.rung.swizzle)  # half of A's tile
    shape = {"m": 300, "n": 296, "k": 640, "lda": 640, "ldb": 640, "ldc": 296}
    seen = GemmProbe(device).checked(load(device, replace(plan, map_a=short)), Matrices(device, shape, 1))
    # In a cluster the other block's producer may be the first that has waited too long: for a stage that nobody frees.
    first = ("full", 0), ("empty", plan.rung.stages)
    assert (seen["waiting_for"]["barrier"], seen["waiting_for"]["step"]) in first[: plan.rung.cluster]
