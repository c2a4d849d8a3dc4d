"""The programs of "one tile, many front ends", each where its package is: compiled for sm_90 without a GPU, and read.

What they share (tile_common.py) needs numpy alone and is tested everywhere.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from tmalab.experiment.frontend_tile_cases import MEMORY, TASK, WAYS, task_map
from tmalab.experiment.memory import make_bytes
from tmalab.frontends.program import load_program, program_names
from tmalab.frontends.programs import tile_common as common


def task(way: str) -> dict:
    return {"way": way, **{name: list(value) if isinstance(value, tuple) else value for name, value in TASK.items()}}


@pytest.fixture
def ptx_of(program):
    """By front end and way: the lines of its PTX that move the tile or wait for it."""
    return lambda name, way: common.transfer_lines(program(name).compile_only(task(way)))


def copies(lines: list[str]) -> list[str]:
    return [line for line in lines if "cp.async.bulk.tensor.2d" in line]


def test_every_way_has_a_program():
    assert {f"{front_end}/tile" for front_end, _ in WAYS} <= set(program_names())


def test_the_programs_memory_is_the_cases():
    assert common.memory(task("host")).tobytes() == make_bytes(MEMORY).tobytes()
    assert common.task_map(task("host")) == task_map()
    assert common.task_map({**task("host"), "strides": [0, 1]}).global_strides == (0,)
    assert common.tile_bytes(task("host")) == task_map().transaction_bytes() == 4096


def test_what_a_thing_names_is_looked_through():
    places = {name: [("thing", SimpleNamespace, "no such")] for name in common.FEATURES}
    places["swizzle"] = [("function", lambda box, swizzle=0: None, "swizzle"), ("text", "swizzle_mode x", "swizzle")]
    found = common.exposed(places)
    assert list(found) == list(common.FEATURES)
    assert found["swizzle"] == {
        "found": ["function: swizzle", "text: swizzle_mode"], "looked": ["function", "text"],
    }  # fmt: skip
    assert found["im2col"] == {"found": [], "looked": ["thing"]}


def test_what_is_installed_is_weighed():
    found = common.installed("numpy", "no-such-distribution")
    assert found["packages"] == {"numpy": np.__version__}
    assert found["package_mb"] > 5
    assert common.installed("no-such-distribution", folders=[np])["package_mb"] > 5


def test_the_lines_that_matter_are_kept():
    text = "\t@%p2 cp.async.bulk.tensor.2d.x [%r2]; // note\n add.s32 %r1;\n\tfence.proxy.async;\n.loc 1 2 // mbarrier"
    assert common.transfer_lines(text) == ["@%p2 cp.async.bulk.tensor.2d.x [%r2];", "fence.proxy.async;"]


def test_triton_loads_the_tile_to_the_start_of_shared_memory(ptx_of):
    for way in ("host", "device"):
        lines = ptx_of("triton", way)
        assert len(copies(lines)) == 1
        made = [line for line in lines if "tensormap.replace" in line]
        assert bool(made) is (way == "device")
        text = load_program("triton/tile").compile_only(task(way))
        (register,) = {line.split("[")[1].split("]")[0] for line in copies(lines)}
        assert f"mov.b32 \t{register}, global_smem;" in text
    # Thirteen fields, one by one, and none for L2 promotion: what the map has there is 0.
    assert len(made) == 13
    assert not [line for line in made if "promotion" in line]


def test_triton_s_descriptors_name_no_swizzle(ptx_of):
    ptx_of("triton", "host")
    told = load_program("triton/tile").exposes()
    assert {name for name, what in told.items() if what["found"]} == {"fill", "reductions"}


def test_cuda_core_s_kernel_is_cuda_c_and_its_descriptor_says_nearly_all(ptx_of):
    assert len(copies(ptx_of("cudacore", "default"))) == 1
    told = load_program("cudacore/tile").exposes()
    assert {name for name, what in told.items() if what["found"]} == {
        "swizzle", "element_strides", "fill", "l2_promotion",
    }  # fmt: skip


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # numba's own, about numpy
def test_numba_says_none_of_it_and_takes_ptx(ptx_of):
    assert len(copies(ptx_of("numba", "inline"))) == 1
    assert not any(what["found"] for what in load_program("numba/tile").exposes().values())
