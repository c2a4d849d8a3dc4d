"""On a Hopper GPU: a warp's accesses cost what the model says, as pipe cycles, as latency and as the counters tell."""

import numpy as np
import pytest

from tmalab.errors import InputError
from tmalab.experiment.bank_patterns import patterns_of
from tmalab.experiment.case import Case
from tmalab.hardware import run_case
from tmalab.hardware.bank_counters import count_wavefronts
from tmalab.hardware.bank_times import arrays_of
from tmalab.hardware.ncu import find_ncu

pytestmark = pytest.mark.gpu

UNSEEN = {"family": "random", "seed": 99, "count": 400, "op": ["load", "store", "ldmatrix_x4", "stmatrix_x2_trans"]}


def test_random_patterns_that_no_recording_holds_cost_what_is_foretold():
    seen = run_case(Case("unseen", "banks", UNSEEN), repeats=5)
    foretold = [pattern.access() for pattern in patterns_of(UNSEEN)]
    np.testing.assert_allclose(seen["cycles"], [access.cycles for access in foretold], atol=0.45)
    late = seen["latency_cycles"] - [access.added_latency_cycles for access in foretold]
    for loads in ("load", "ldmatrix_x4"):
        of_op = late[[access.op == loads for access in foretold]]
        assert np.ptp(of_op) < 0.5, "one latency for all, but for what is foretold"


def test_the_counters_count_the_wavefronts_that_are_foretold():
    if find_ncu() is None:
        pytest.skip("no profiler here")  # of a GPU test: only the profiler is missing
    patterns = patterns_of({**UNSEEN, "count": 40})
    counts = count_wavefronts(*arrays_of(patterns))
    assert counts["ncu_wavefronts"].tolist() == [pattern.access().count for pattern in patterns]
    assert counts["ncu_conflicts"].tolist() == [pattern.access().conflicts for pattern in patterns]


def test_a_listed_pattern_with_one_lane():
    params = {"patterns": [{"addresses": [None, 64], "width_bytes": 16, "op": "store"}]}
    seen = run_case(Case("one lane", "banks", params), repeats=3)
    assert abs(seen["cycles"][0] - 1) < 0.2


def test_an_address_that_no_block_has_is_refused_before_the_launch():
    params = {"patterns": [{"addresses": [1 << 20], "width_bytes": 4, "op": "load"}]}
    with pytest.raises(InputError, match="past the shared memory"):
        run_case(Case("too far", "banks", params))
