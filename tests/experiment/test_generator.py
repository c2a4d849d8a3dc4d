"""The generator repeats itself, reaches every edge, and makes transfers that fit."""

from __future__ import annotations

import hashlib
import json
from collections import Counter

import pytest

from tmalab.experiment import generator
from tmalab.experiment.random_descriptor import CORNER_LIMITS, PACKED_DTYPES
from tmalab.experiment.random_transfer import MEMORY_BYTES, REDUCTIONS, SMEM_BYTES, tensor_extent_bytes
from tmalab.model.element_types import ELEMENT_TYPES
from tmalab.model.launch_rules import launch_violations
from tmalab.model.tensor_map import TensorMap
from tmalab.model.tensor_map_fields import INTERLEAVES, SWIZZLES

DESCRIPTORS = generator.descriptors(seed=1, chunk=0, count=6000)
TRANSFERS = generator.transfers(seed=1, chunk=0, count=1200)
PARAMS = [case.params for case in TRANSFERS]


def test_a_chunk_is_the_same_whenever_it_is_made():
    assert generator.descriptors(1, 0, 50) == DESCRIPTORS[:50]
    assert generator.transfers(1, 0, 20) == TRANSFERS[:20]


def test_seeds_and_chunks_are_streams_of_their_own():
    assert generator.descriptors(1, 1, 20) != DESCRIPTORS[:20]
    assert generator.descriptors(2, 0, 20) != DESCRIPTORS[:20]


def test_the_numbers_of_this_version_do_not_change():
    """A golden record names seed, chunk and position: changing a distribution means changing VERSION, and this."""
    assert generator.VERSION == "v1"
    written = json.dumps([tensor_map.to_dict() for tensor_map in DESCRIPTORS])
    assert hashlib.sha256(written.encode()).hexdigest()[:16] == "c422fd1cb910752a"


# --- descriptors -----------------------------------------------------------------------------------------------------


def test_about_half_of_the_descriptors_are_legal():
    legal = sum(not tensor_map.violations() for tensor_map in DESCRIPTORS)
    assert 0.4 < legal / len(DESCRIPTORS) < 0.65


def test_most_illegal_descriptors_break_one_rule():
    """Only a rule that is broken alone is tested: beside another the driver would refuse the descriptor anyway."""
    broken = [{violation.rule for violation in tensor_map.violations()} for tensor_map in DESCRIPTORS]
    assert sum(len(rules) == 1 for rules in broken) > 0.6 * sum(map(bool, broken))


@pytest.mark.parametrize(
    ("field", "words"),
    [("dtype", list(ELEMENT_TYPES)), ("interleave", INTERLEAVES), ("swizzle", SWIZZLES), ("kind", ["tiled", "im2col"])],
)
def test_every_word_occurs(field, words):
    counts = Counter(getattr(tensor_map, field) for tensor_map in DESCRIPTORS)
    assert set(counts) == set(words)
    assert set(PACKED_DTYPES) < set(ELEMENT_TYPES)


@pytest.mark.parametrize("rank", range(7))
def test_every_rank_occurs(rank):
    assert any(tensor_map.rank == rank for tensor_map in DESCRIPTORS)


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("global_dim", (0, 1, 2**32 - 1, 2**32, 2**32 + 1, 2**64 - 1)),
        ("global_strides", (0, 8, 16, 2**40 - 16, 2**40, 2**64 - 16)),
        ("box_dim", (0, 1, 255, 256, 257, 2**32 - 1)),
        ("element_strides", (0, 1, 8, 9, 2**32 - 1)),
        ("lower_corner", [limit + step for pair in CORNER_LIMITS.values() for limit in pair for step in (-1, 0, 1)]),
        ("upper_corner", [limit + step for pair in CORNER_LIMITS.values() for limit in pair for step in (-1, 0, 1)]),
    ],
)
def test_every_limit_is_met_from_both_sides(field, values):
    met = {entry for tensor_map in DESCRIPTORS for entry in getattr(tensor_map, field)}
    assert set(values) <= met


def test_all_numbers_fit_the_drivers_types():
    for tensor_map in DESCRIPTORS:
        assert all(0 <= value < 2**64 for value in (*tensor_map.global_dim, *tensor_map.global_strides))
        assert all(0 <= value < 2**32 for value in (*tensor_map.box_dim, *tensor_map.element_strides))
        assert all(-(2**31) <= value < 2**31 for value in (*tensor_map.lower_corner, *tensor_map.upper_corner))


# --- transfers -------------------------------------------------------------------------------------------------------


def test_every_map_is_legal_and_fits():
    for params in PARAMS:
        tensor_map = TensorMap.from_dict(params["tensor_map"])
        assert tensor_map.violations() == []
        end = params.get("address_offset", 0) + tensor_extent_bytes(params["tensor_map"])
        assert end <= params["memory"]["bytes"] <= MEMORY_BYTES
        assert params["smem_base"] + tensor_map.footprint_bytes() <= params["smem_bytes"] <= SMEM_BYTES


def test_loads_stores_and_reductions_all_occur():
    counts = Counter((params["tensor_map"]["kind"], params["direction"]) for params in PARAMS)
    assert set(counts) == {("tiled", "load"), ("im2col", "load"), ("tiled", "store"), ("tiled", "reduce")}
    assert min(counts.values()) > 100


def test_coordinates_lie_before_inside_and_past():
    loads = [params for params in PARAMS if params["direction"] == "load" and params["tensor_map"]["kind"] == "tiled"]
    pairs = [
        pair for params in loads for pair in zip(params["coords"], params["tensor_map"]["global_dim"], strict=True)
    ]
    assert any(coord < 0 for coord, _ in pairs)
    assert any(coord > size for coord, size in pairs)
    assert sum(0 <= coord < size for coord, size in pairs) > 0.6 * len(pairs)


def test_shared_bases_are_any_multiple_of_128():
    residues = {params["smem_base"] % 1024 for params in PARAMS}
    assert set(range(0, 1024, 128)) <= residues


def test_few_transfers_are_foretold_to_fault_and_of_many_kinds():
    foretold = [
        launch_violations(
            TensorMap.from_dict(params["tensor_map"]), params["coords"], direction=params["direction"],
            op=params["op"], smem_base=params["smem_base"], offsets=params["offsets"], smem_bytes=params["smem_bytes"],
            descriptor_space=params.get("descriptor_space", "param"),
            descriptor_align=params.get("descriptor_align", 64),
        )
        for case in [*TRANSFERS, *generator.transfers(seed=2, chunk=0, count=2000)]
        for params in [case.params]
    ]  # fmt: skip
    assert 0.004 < sum(map(bool, foretold)) / len(foretold) < 0.03
    assert len({violation.rule for violations in foretold for violation in violations}) >= 5


def test_stores_never_write_a_byte_twice():
    """Which of two writes comes last is nobody's promise, so that comparing would compare luck."""
    for params in PARAMS:
        if params["direction"] != "load":
            fields = params["tensor_map"]
            unit = {"16B": 16, "32B": 32}.get(fields["interleave"], ELEMENT_TYPES[fields["dtype"]].bytes)
            reach = fields["global_dim"][0] * unit
            for size, stride in zip(fields["global_dim"][1:], fields["global_strides"], strict=True):
                assert size == 1 or stride >= reach
                reach = max(reach, size * stride if size > 1 else 0)


def test_reductions_are_mostly_pairs_that_exist():
    pairs = [(params["tensor_map"]["dtype"], params["op"]) for params in PARAMS if params["direction"] == "reduce"]
    existing = [pair for pair in pairs if pair[1] in REDUCTIONS.get(pair[0], ())]
    assert len(existing) > 0.97 * len(pairs)
    assert {(dtype, op) for dtype, ops in REDUCTIONS.items() for op in ops} <= {
        (case.params["tensor_map"]["dtype"], case.params["op"]) for case in generator.transfers(3, 0, 2500)
    }
