"""The bank model against an H200: every recorded pattern, in wavefronts, conflicts, cycles and latency."""

from __future__ import annotations

import numpy as np
import pytest

from tmalab.experiment.bank_patterns import patterns_of
from tmalab.hardware.compile import kernel_sha256
from tmalab.recordings.banks import measured_pattern, measured_patterns
from tmalab.recordings.store import default_store

STORE = default_store()
CASES = [case for case in STORE.cases().values() if case.probe == "banks"]
# A chain also waits for an addition, and for what the pipe takes at the least.
FASTEST_LATENCY = {"load": 28.38, "ldmatrix": 28.69}

each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


@pytest.fixture
def both(case):
    seen = STORE.get(case)
    assert seen is not None
    return seen, [pattern.access() for pattern in patterns_of(case.params)]


def test_what_the_issue_asks_for_is_recorded():
    random = [case for case in CASES if case.params.get("family") == "random"]
    assert sum(len(patterns_of(case.params)) for case in random) >= 2000
    assert {"banks/strides", "banks/tiles/padded", "banks/tiles/swizzled"} <= {case.name for case in CASES}


@each_case
def test_the_counters_saw_the_wavefronts_and_conflicts_that_are_foretold(both):
    seen, foretold = both
    np.testing.assert_array_equal(seen["ncu_wavefronts"], [access.count for access in foretold])
    np.testing.assert_array_equal(seen["ncu_conflicts"], [access.conflicts for access in foretold])
    np.testing.assert_array_equal(seen["wavefronts"], seen["ncu_wavefronts"])


@each_case
def test_the_full_pipe_takes_the_cycles_that_are_foretold(both):
    """The clock alone tells one more wavefront or less: what was measured lies within a tenth of a cycle."""
    seen, foretold = both
    np.testing.assert_allclose(seen["cycles"], [access.cycles for access in foretold], rtol=0, atol=0.1)
    assert (seen["spread"] < 0.15).all()


@each_case
def test_a_dependent_load_waits_as_long_as_is_foretold(both):
    seen, foretold = both
    for latency, access in zip(seen["latency_cycles"], foretold, strict=True):
        fastest = FASTEST_LATENCY.get(access.op.split("_")[0])
        assert np.isnan(latency) == (fastest is None)
        if fastest is not None:
            assert abs(latency - fastest - access.added_latency_cycles) < 0.1


@each_case
def test_the_profiler_ran_the_kernel_that_is_here(both):
    seen, _ = both
    assert seen["counted_by"] == {"kernel": "banks_once.cu", "kernel_sha256": kernel_sha256("banks_once")}


def test_a_pattern_is_looked_up_by_what_it_is():
    patterns = measured_patterns()
    assert sum(len(patterns_of(case.params)) for case in CASES) > len(patterns) > 4500
    case = next(case for case in CASES if case.name == "banks/random/store")
    pattern = patterns_of(case.params)[5]
    found = measured_pattern(pattern)
    assert found is not None
    assert found.wavefronts == pattern.access().count
    assert found.conflicts == pattern.access().conflicts
    assert found.latency_cycles is None
    assert found.observation["cycles"].tolist().count(found.cycles) >= 1
    assert measured_pattern(pattern._replace(addresses=(4096 * 12, *[None] * 31))) is None
