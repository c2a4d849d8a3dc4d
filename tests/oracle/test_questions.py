"""The model against single questions that were put to an H200, because no other record could tell its guesses apart.

Special floats through every reduction, im2col walks from odd starts and with large offsets, interleaved im2col, boxes
of every size along an interleaved map's slices, stores through im2col maps.
"""

import gzip
import hashlib
import json
from pathlib import Path

import pytest

from tmalab import TensorMap
from tmalab.experiment.case import Case
from tmalab.model import launch_violations
from tmalab.recordings.comparing import expected_bytes

LINES = gzip.decompress((Path(__file__).parent / "data" / "questions.jsonl.gz").read_bytes()).splitlines()
PROVENANCE, *QUESTIONS = [json.loads(line) for line in LINES]
ANSWERED = [asked for asked in QUESTIONS if asked["error"] is None]


def test_none_is_missing():
    assert (PROVENANCE["schema"], PROVENANCE["records"]) == (1, len(QUESTIONS))


@pytest.mark.parametrize("asked", ANSWERED, ids=lambda asked: asked["question"])
def test_every_byte(asked):
    found = expected_bytes(Case(asked["question"], "transfer", asked["params"]))
    assert hashlib.sha256(found.tobytes()).hexdigest() == asked["sha256"]
    if asked.get("delivered_bytes") is not None:
        assert TensorMap.from_dict(asked["params"]["tensor_map"]).transaction_bytes() == asked["delivered_bytes"]


@pytest.mark.parametrize("asked", QUESTIONS, ids=lambda asked: asked["question"])
def test_every_refusal_and_no_other(asked):
    params = asked["params"]
    found = launch_violations(
        TensorMap.from_dict(params["tensor_map"]), params["coords"], direction=params["direction"], op=params["op"],
        smem_base=params["smem_base"], offsets=params["offsets"], smem_bytes=params["smem_bytes"],
    )  # fmt: skip
    assert {violation.cuda_error for violation in found} == ({asked["error"]} if asked["error"] else set())
