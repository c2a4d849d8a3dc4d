"""Patterns are built again from their families, the same everywhere, and what no warp could run is refused."""

from __future__ import annotations

import hashlib
import json

import pytest

from tmalab.errors import InputError
from tmalab.experiment.bank_cases import bank_cases
from tmalab.experiment.bank_patterns import Pattern, patterns_of
from tmalab.model.matrix_access import MATRIX_OPS


def all_of(part: str) -> list[Pattern]:
    return [pattern for case in bank_cases() if part in case.name for pattern in patterns_of(case.params)]


def test_a_seed_makes_the_same_patterns_on_any_machine():
    """Were they others, the recordings would be of patterns that nobody can build again."""
    digests = {}
    for case in bank_cases():
        text = json.dumps([list(pattern) for pattern in patterns_of(case.params)])
        digests[case.name] = hashlib.sha256(text.encode()).hexdigest()[:12]
    assert digests == DIGESTS


DIGESTS = {
    "banks/random/load": "f1b559a0395c",
    "banks/random/store": "649a6b04b516",
    "banks/random/ldmatrix": "2a87e69ee831",
    "banks/random/stmatrix": "c9fcd977b47e",
    "banks/strides": "bc19db02b9b6",
    "banks/tiles/padded": "a1ea09646b47",
    "banks/matrices/padded": "c814176f6c11",
    "banks/tiles/swizzled": "5548acf80a30",
    "banks/matrices/swizzled": "56d97cda8b91",
}


def test_at_least_two_thousand_random_patterns_of_every_width_and_operation():
    random = set(all_of("random"))
    assert len(random) >= 2000
    assert {(pattern.op, pattern.width_bytes) for pattern in random} == {
        *((op, width) for op in ("load", "store") for width in (1, 2, 4, 8, 16)),
        *((op, 16) for op in MATRIX_OPS),
    }
    masked = [pattern for pattern in random if pattern.op in ("load", "store") and None in pattern.addresses]
    assert 600 < len(masked) < 1400
    merged = [one for one in random if one.op == "load" and 1 < one.width_bytes // 4 != one.access().return_cycles]
    assert len(merged) > 100


def test_the_structured_ones_are_all_there():
    strides = all_of("strides")
    assert len(strides) == 64 * 5 * 2
    assert Pattern(tuple(4 * 33 * lane for lane in range(32)), 4, "load") in strides
    tiles = all_of("tiles")
    column = tuple((128 * lane) ^ ((lane & 7) << 4) for lane in range(32))
    for op in ("load", "store"):
        assert Pattern(column, 16, op) in tiles
        assert Pattern(column, 4, op) in tiles
    padded = tuple(132 * lane for lane in range(32))
    assert Pattern(padded, 4, "load") in tiles
    diagonal = tuple(128 * lane + 4 * lane for lane in range(32))
    assert Pattern(diagonal, 4, "load") in tiles
    assert Pattern((*column[:8], *[None] * 24), 16, "stmatrix_x1") in all_of("matrices")


@pytest.mark.parametrize("case", list(bank_cases()), ids=lambda case: case.name)
def test_every_pattern_is_one_that_a_warp_can_run(case):
    for pattern in patterns_of(case.params):
        assert len(pattern.addresses) == 32
        assert 1 <= pattern.access().count <= 32


def test_a_listed_pattern_may_leave_out_the_last_lanes():
    (pattern,) = patterns_of({"patterns": [{"addresses": [0, None, 32], "width_bytes": 16, "op": "load"}]})
    assert pattern.addresses == (0, None, 32, *[None] * 29)
    assert pattern.access().count == 1


def test_a_tile_takes_lists_or_single_values_and_says_each_pattern_once():
    one = patterns_of({"family": "tiles", "row_bytes": 128, "access": "column", "width_bytes": 16})
    assert one == (Pattern(tuple(128 * lane for lane in range(32)), 16, "load"),)
    lists = {
        "family": "tiles",
        "row_bytes": [128],
        "access": ["column", "column"],
        "width_bytes": [16],
        "base": [0, 128],
    }
    assert len(patterns_of(lists)) == 2


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"family": "zebra"}, "random, strides, tiles"),
        ({}, "unknown family"),
        ({"patterns": []}, "no pattern"),
        ({"patterns": [7]}, r"patterns\[0\]"),
        ({"patterns": [{"addresses": [0], "width_bytes": 4}]}, r"patterns\[0\]"),
        ({"patterns": [{"addresses": [2], "width_bytes": 4, "op": "load"}]}, "multiple of the width"),
        ({"patterns": [{"addresses": [0], "width_bytes": 4, "op": "move"}]}, "load or store"),
        ({"patterns": [{"addresses": [0] * 8, "width_bytes": 4, "op": "ldmatrix_x1"}]}, "16 bytes"),
        ({"family": "random", "seed": 1, "count": 2}, "op=None: missing"),
        ({"family": "random", "seed": 1, "count": 2, "op": "move"}, "stmatrix_x4_trans"),
        ({"family": "random", "seed": 1.5, "count": 2, "op": "load"}, "not an integer"),
        ({"family": "strides", "width_bytes": 3, "op": "load"}, "unknown"),
        ({"family": "strides", "width_bytes": 4, "op": "load", "rows": 8}, "means nothing here"),
        ({"family": "tiles", "row_bytes": 128, "access": "spiral", "width_bytes": 4}, "row, column, diagonal"),
        ({"family": "tiles", "row_bytes": 8, "access": "row", "width_bytes": 16}, "no pattern"),
        ({"patterns": {1, 2}}, "not JSON"),
    ],
)
def test_what_is_no_family_is_refused(params, words):
    with pytest.raises(InputError, match=words):
        patterns_of(params)
