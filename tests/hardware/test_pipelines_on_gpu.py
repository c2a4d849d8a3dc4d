"""On a Hopper GPU: every tile comes whole through every ring, and a copy that no thread touches is a copy."""

import numpy as np
import pytest

from tmalab.experiment.case import Case
from tmalab.experiment.catalogue import case as named_case
from tmalab.experiment.pipeline_cases import pipeline_case
from tmalab.experiment.pipeline_runs import costs_of, moments_of
from tmalab.hardware import run_case

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("place", ["l2", "hbm", "all"])
def test_every_ring_reads_every_tile_whole_and_in_order(place):
    case = pipeline_case(place, 8192)
    seen = run_case(Case("x", case.probe, {**case.params, "stages": [1, 3, 8], "fma": [0, 128]}))  # raises if not whole
    for stages in (1, 3, 8):
        for fma in (0, 128):
            moments = moments_of(seen, stages, fma)
            assert (moments["full_seen"] >= moments["full"]).all()
            assert (moments["read_end"] > moments["full_seen"]).all()
            assert (moments["empty_seen"][stages:] >= moments["empty"][:-stages]).all()


def test_the_costs_are_there_for_every_ring():
    seen = run_case(named_case("pipeline/costs"))
    for place in ("l2", "hbm", "all"):
        for consumers in (1, 2):
            costs = costs_of(seen, place, 16384, 64, consumers)
            assert min(costs.load_cycles) > costs.issue_cycles >= 0
            assert min(costs.turn_cycles, costs.handoff_cycles, costs.work_cycles) > 0
    assert (np.diff(seen["load"], axis=-1) >= 0).all()  # sorted


def test_every_version_copies_every_word():
    case = named_case("pipeline/copy")
    seen = run_case(Case("x", case.probe, {**case.params, "bytes": 256 << 20}))
    assert seen["differ"] == [0] * len(case.params["versions"])
