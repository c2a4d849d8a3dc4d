"""The model against what our own campaign recorded on an H200: the golden set, every record of it.

`tmalab record campaign` writes the two files; `data/` holds those of the campaign that the page *What we measured*
is about. Each begins with a line of provenance.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path

import pytest

from tmalab.experiment.case import Case
from tmalab.model.tensor_map import TensorMap
from tmalab.recordings.comparing import expected_bytes, foretold_faults, judge_descriptor

DATA = Path(__file__).parent / "data" / "campaign"


def records(kind: str) -> list[dict]:
    path = DATA / f"{kind}.jsonl.gz"
    if not path.exists():
        return []
    head, *found = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    assert head["schema"] == 1
    assert head["records"] == len(found)
    return found


def slices(kind: str, count: int = 16) -> list:
    """The records in so many parts: a failure names its part, and pytest-xdist shares them out."""
    found = records(kind)
    return [pytest.param(found[part::count], id=f"{kind}-{part}") for part in range(count if found else 0)]


@pytest.mark.parametrize("part", slices("descriptors"))
def test_the_model_takes_what_the_driver_took(part):
    wrong = []
    for record in part:
        judged = judge_descriptor(TensorMap.from_dict(record["tensor_map"]), record["accepted"])
        if judged["disagrees"]:
            wrong.append({**record, **judged})
    assert wrong == []


@pytest.mark.parametrize("part", slices("transfers"))
def test_the_model_moves_every_byte_that_the_engine_moved(part):
    wrong = []
    for record in part:
        case = Case.from_dict(record["case"])
        foretold = {violation.cuda_error for violation in foretold_faults(case)}
        if foretold or record["error"]:
            agree = record["error"] in foretold
        else:
            agree = hashlib.sha256(expected_bytes(case).tobytes()).hexdigest() == record["sha256"]
        if not agree:
            wrong.append({**record, "foretold": sorted(map(str, foretold))})
    assert wrong == []
