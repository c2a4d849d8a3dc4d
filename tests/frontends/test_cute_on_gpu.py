"""CuTe DSL on a Hopper GPU, where the package is: every element, a hang that ends, a fault that costs little."""

from __future__ import annotations

import numpy as np
import pytest

from tmalab.experiment.catalogue import case as named_case
from tmalab.frontends.front_end import front_end
from tmalab.frontends.runner import run_case

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(front_end("cute").version() is None, reason="CuTe DSL is missing: pip install 'tmalab[cute]'"),
]


def test_every_element_of_the_strips_is_what_was_loaded():
    seen = run_case(named_case("cute/strips"), repeats=2)
    assert seen["completed"]
    assert seen["elements"] == 15_138_816
    assert seen["elements_differing"] == 0


@pytest.mark.parametrize(("case", "completes"), [("cute/armed/payload", True), ("cute/armed/allocation", False)])
def test_a_wait_for_the_allocation_ends_at_its_deadline(case, completes):
    seen = run_case(named_case(case))
    assert seen["phase_completed"] is completes
    assert not any(seen["differ"])


def test_four_warps_that_all_arrive_cost_the_worker_and_nothing_else():
    assert run_case(named_case("cute/warps/every-warp"))["error"] == "LAUNCH_FAILED"
    assert run_case(named_case("cute/warps/guarded"))["differ"] == 0


@pytest.mark.parametrize("case", ["cute/cluster", "cute/transposed/as-stored", "cute/residue/all-tiles"])
def test_other_arrangements_copy_every_element(case):
    seen = run_case(named_case(case))
    assert not np.any(seen["differ"])


def test_a_load_under_an_election_keeps_the_other_lanes_waiting():
    seen = run_case(named_case("cute/elected-twice"))
    assert seen["lane_done"][:, 0].all()
    assert not seen["lane_done"][:, 1:].any()
    assert run_case(named_case("cute/elected-twice/unbounded"))["error"] == "TIMEOUT"
