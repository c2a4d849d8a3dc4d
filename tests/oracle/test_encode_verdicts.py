"""The driver's own verdict on 12,000 random descriptors, half of them with one thing broken, against the rules."""

import gzip
import json
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from tmalab import TensorMap
from tmalab.model.rules import RULES

DATA = Path(__file__).parent / "data"

# Rules that no record breaks alone: in the data they come with others, or not at all.
NEVER_ALONE = {
    "base_address_range": "the records give addresses modulo 1024 only; encode-questions.jsonl has it",
}


@cache
def records():
    with gzip.open(DATA / "encode-verdicts.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def tensor_map(record):
    """The map of a record; its base address is only known modulo 1024, which is all that a rule asks."""
    lists = (
        ("tiled", ["box_dim"]),
        ("im2col", ["lower_corner", "upper_corner", "channels_per_pixel", "pixels_per_column"]),
    )
    names = [
        "kind",
        "dtype",
        "global_dim",
        "global_strides",
        "element_strides",
        "interleave",
        "swizzle",
        "l2_promotion",
    ]
    names += ["oob_fill", *dict(lists)[record["kind"]]]
    return TensorMap.from_dict(
        {**{name: record[name] for name in names}, "address": (1 << 20) + record["address_offset"]}
    )


@cache
def rules_broken():
    return [{found.rule for found in tensor_map(record).violations()} for record in records()]


@pytest.mark.parametrize("kind", ["tiled", "im2col"])
def test_every_verdict_is_foretold(kind):
    told = [
        (record, broken) for record, broken in zip(records(), rules_broken(), strict=True) if record["kind"] == kind
    ]
    assert len(told) == {"tiled": 8994, "im2col": 3006}[kind]
    assert [(record, broken) for record, broken in told if record["accepted"] == bool(broken)] == []


@pytest.mark.parametrize("rule", [rule.id for rule in RULES if "sm_90" in rule.arches])
def test_every_rule_is_needed(rule):
    """Without the rule some verdict would be wrong: a descriptor was refused for it alone."""
    alone = Counter(next(iter(broken)) for broken in rules_broken() if len(broken) == 1)
    assert (alone[rule] > 0) == (rule not in NEVER_ALONE)
