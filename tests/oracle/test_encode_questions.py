"""Single questions that the 12,000 verdicts left open, put to the same driver: limits to the byte, and rules alone.

Each record is a verdict like those of `test_encode_verdicts`, with the question that it answers; `address`, where it
is given, is the very address that the driver was told.
"""

import json
from pathlib import Path

import pytest

from tmalab import TensorMap

DATA = Path(__file__).parent / "data"


def questions():
    return [json.loads(line) for line in (DATA / "encode-questions.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("record", questions(), ids=lambda record: record["question"])
def test_single_question(record):
    lists = {
        "tiled": ["box_dim"],
        "im2col": ["lower_corner", "upper_corner", "channels_per_pixel", "pixels_per_column"],
    }
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
    fields = {name: record[name] for name in (*names, "oob_fill", *lists[record["kind"]])}
    address = record["address"] if "address" in record else (1 << 20) + record["address_offset"]
    found = TensorMap.from_dict({**fields, "address": address}).violations()
    assert record["accepted"] == (found == []), found
