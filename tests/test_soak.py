"""The soak: what it launches is what it says, and what it once found on an H200 is what the book quotes."""

import json
import sys
from collections import Counter
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


@pytest.fixture(scope="module")
def soak():
    sys.path.insert(0, str(BENCHMARKS))
    try:
        import soak
    finally:
        sys.path.remove(str(BENCHMARKS))
    return soak


def test_a_third_is_faulty_and_the_model_foretells_which(soak):
    planned = soak.programme(300, 20, seed=5)
    assert Counter(kind for kind, _ in planned) == {"good": 200, "hang": 80, "kill": 20}
    for kind, case in planned:
        assert bool(soak.foretold_faults(case)) == (kind == "kill")
        assert ("expect_tx_bytes" in case.params) == (kind == "hang")
        assert kind != "hang" or case.params["wait_ns"] == 20_000_000


def test_what_it_found_is_whole():
    found = json.loads((BENCHMARKS / "soak.json").read_text(encoding="utf-8"))
    assert found["good"] + found["hang"] + found["kill"] == found["launches"] == 5000
    assert found["hang"] + found["kill"] == 5000 // 3
    assert found["kill"] >= 200
    assert found["complaints"] == []
    assert found["left"]["children"] == 0


@pytest.mark.gpu
def test_a_short_soak(soak):
    figures = soak.soak(300, 10, workers=2, seed=1)
    assert figures["complaints"] == []
