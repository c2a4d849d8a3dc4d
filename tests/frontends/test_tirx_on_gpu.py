"""TIRx on a Hopper GPU, where the package is: each kind of program once, against the model's bytes."""

from __future__ import annotations

import numpy as np
import pytest

from tmalab.experiment.catalogue import case as named_case
from tmalab.experiment.tirx_cases import foretold
from tmalab.frontends.front_end import front_end
from tmalab.frontends.runner import run_case

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(front_end("tirx").version() is None, reason="TIRx is missing: pip install 'tmalab[tirx]'"),
]


@pytest.mark.parametrize("host", ["llvm", "cuda_host"])
def test_the_guides_kernel_is_right_through_both_launchers(host):
    seen = run_case(named_case(f"tirx/add_one/{host}/nvrtc"), repeats=2)
    assert (seen["differ"], seen["elements"]) == (0, 256)
    assert len(seen["descriptors"]) == 2


@pytest.mark.parametrize("name", ["two-by-four", "over-the-edge", "fill-nan-bfloat16", "tf32", "interleave-32"])
def test_boxes_are_the_models(name):
    seen = run_case(named_case(f"tirx/boxes/{name}"), repeats=2)
    assert not seen["late"]
    assert np.array_equal(seen["smem"], foretold(seen))


@pytest.mark.parametrize("name", ["store-over-the-edge", "add-float16", "inc"])
def test_stores_are_the_models(name):
    seen = run_case(named_case(f"tirx/stores/{name}"))
    assert np.array_equal(seen["memory"], foretold(seen))


def test_a_reduction_that_ptx_does_not_have_costs_the_worker_and_nothing_else():
    assert run_case(named_case("tirx/stores/max-float32"))["error"] == "ILLEGAL_INSTRUCTION"
    assert np.array_equal((seen := run_case(named_case("tirx/multicast")))["smem"], foretold(seen))


def test_a_packed_format_is_refused_by_the_driver():
    assert "invalid argument" in run_case(named_case("tirx/boxes/packed"))["raised"]["message"]
