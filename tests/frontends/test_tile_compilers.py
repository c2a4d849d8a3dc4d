"""The tile by TileLang, Pallas, CuTe DSL and CCCL, each where it is: its instructions, and what its functions name."""

from __future__ import annotations

import shutil

import pytest

from tmalab import observe
from tmalab.experiment.frontend_tile_cases import TASK
from tmalab.frontends.programs.tile_common import transfer_lines

NAMES = {
    "tilelang": {"swizzle", "im2col", "multicast", "reductions"},
    "pallas": {"swizzle", "fill", "multicast", "reductions", "prefetch"},
    "cute": {"swizzle", "im2col", "multicast", "reductions", "prefetch"},
    "cccl": {"swizzle", "element_strides", "fill", "l2_promotion", "multicast", "reductions", "prefetch"},
}


def task(way: str = "default") -> dict:
    return {"way": way, **{name: list(value) if isinstance(value, tuple) else value for name, value in TASK.items()}}


@pytest.fixture
def compiled(program):
    """By a front end's name: the lines of its PTX. Two are C++ in the end, and want the CUDA toolkit's compiler."""

    def lines(name: str, way: str = "default") -> list[str]:
        tile = program(name)
        if name in ("cccl", "tilelang") and shutil.which("nvcc") is None:
            pytest.skip("needs nvcc, of the CUDA toolkit")
        return transfer_lines(tile.compile_only(task(way)))

    return lines


def order(lines: list[str], *signs: str) -> list[str]:
    """Which of the signs each line has, lines without one left out."""
    return [sign for line in lines for sign in signs if sign in line]


@pytest.mark.parametrize("name", NAMES)
def test_what_its_functions_name_is_what_was_recorded(name, program):
    told = program(name).exposes()
    assert {feature for feature, what in told.items() if what["found"]} == NAMES[name]


@pytest.mark.parametrize(
    "case", ["tilelang/tma_copy", "tilelang/copy", "pallas/default", "cute/default", "cccl/default"]
)
def test_the_recording_names_the_same(case):
    told = observe(f"frontends/{case}", live=False)["exposes"]
    assert {feature for feature, what in told.items() if what["found"]} == NAMES[case.split("/")[0]]


def test_tilelang_s_own_barrier_is_armed_by_one_and_arrived_at_by_all(compiled):
    signs = ("expect_tx", "cp.async.bulk.tensor.2d", "mbarrier.arrive.shared", "try_wait")
    assert order(compiled("tilelang", "tma_copy"), *signs) == list(signs)
    whole = compiled("tilelang", "copy")
    assert order(whole, "mbarrier.arrive.expect_tx", "cp.async.bulk.tensor.2d") == [
        "mbarrier.arrive.expect_tx", "cp.async.bulk.tensor.2d",
    ]  # fmt: skip


def test_pallas_hands_over_a_map_and_a_copy_of_four_dimensions(program):
    text = program("pallas").lower_only(task())
    assert "mosaic_gpu_init_tma_desc" in text
    seen = observe("frontends/pallas/default", live=False)
    assert order(seen["ptx"], "prefetch.tensormap", "cp.async.bulk.tensor.4d") == [
        "prefetch.tensormap", "cp.async.bulk.tensor.4d",
    ]  # fmt: skip


def test_cute_cuts_the_tensor_into_a_grid_and_takes_one_tile(compiled):
    lines = compiled("cute")
    assert order(lines, "cp.async.bulk.tensor.2d") == ["cp.async.bulk.tensor.2d"]
    seen = observe("frontends/cute/default", live=False)
    assert seen["given"]["tile index"] == [3, 2]
    assert seen["encode_calls"] == []


def test_cccl_s_instructions_are_named_after_ptx(compiled):
    lines = compiled("cccl")
    signs = ("mbarrier.init", "fence.mbarrier_init", "cp.async.bulk.tensor.2d", "arrive.expect_tx", "try_wait")
    assert order(lines, *signs) == list(signs)
