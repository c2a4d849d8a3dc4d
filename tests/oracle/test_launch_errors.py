"""What the H200 raised at a launch, or did not, against `launch_violations`: single questions and 2,080 transfers."""

import gzip
import json
import re
from pathlib import Path

import pytest

from tmalab import TensorMap
from tmalab.model import launch_violations

DATA = Path(__file__).parent / "data"
OPS = ("add", "min", "max", "inc", "dec", "and", "or", "xor")
MODES = {0: "load", 2: "store", 3: "reduce"}
DEFAULT = {
    "dtype": "FLOAT32", "global_dim": [64, 64], "global_strides": [256], "box_dim": [16, 16], "element_strides": [1, 1],
    "interleave": "none", "swizzle": "none", "oob": "none",
}  # fmt: skip


def questions():
    """Each line of facts.txt: `{c: [0, 0], d: {swizzle: 128B}} => done=1 …`, its words without quotes."""
    for line in (DATA / "facts.txt").read_text(encoding="utf-8").splitlines():
        asked, answer = line.split(" => ")
        yield json.loads(re.sub(r"[A-Za-z_]\w*|\d+B", r'"\g<0>"', asked)), answer


@pytest.mark.parametrize(("asked", "answer"), list(questions()), ids=lambda value: str(value)[:60])
def test_single_question(asked, answer):
    fields = {**DEFAULT, **asked.get("d", {})}
    tensor_map = TensorMap.tiled(
        fields["dtype"], fields["global_dim"], fields["global_strides"], fields["box_dim"],
        element_strides=fields["element_strides"], interleave=fields["interleave"], swizzle=fields["swizzle"],
        oob_fill="nan" if fields["oob"].startswith("NAN") else "none", address=1 << 20,
    )  # fmt: skip
    direction = MODES[asked.get("mode", 0)]
    op = OPS[asked.get("op", 0)] if direction == "reduce" else None
    found = launch_violations(tensor_map, asked["c"], direction=direction, op=op, smem_base=asked.get("base", 0))
    raised = re.findall(r"CUDA_ERROR_(\w+)", answer)
    assert {violation.cuda_error for violation in found} == set(raised)
    assert tensor_map.violations() == []


@pytest.mark.parametrize(("name", "direction"), [("loads", "load"), ("stores", "store"), ("reductions", "reduce")])
def test_every_transfer_that_raised_is_foretold_and_no_other(name, direction):
    with gzip.open(DATA / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    wrong = []
    for record in records:
        lists = ["box_dim"] if record["kind"] == "tiled" else ["lower_corner", "upper_corner", "channels_per_pixel",
                                                               "pixels_per_column"]  # fmt: skip
        names = ["kind", "dtype", "global_dim", "global_strides", "element_strides", "interleave", "swizzle", *lists]
        tensor_map = TensorMap.from_dict({name: record[name] for name in (*names, "l2_promotion", "oob_fill")})
        offsets = record["offsets"][: tensor_map.rank - 2] if record["kind"] == "im2col" else ()
        found = launch_violations(
            tensor_map, record["coords"], direction=direction, op=record.get("op"), smem_base=record["smem_base"],
            offsets=offsets, smem_bytes=record["smem_bytes"],
        )  # fmt: skip
        raised = {record["error"].removeprefix("CUDA_ERROR_")} if record.get("error") else set()
        if {violation.cuda_error for violation in found} != raised or tensor_map.violations():
            wrong.append((record, found))
    assert wrong == []


LAUNCHES = [json.loads(line) for line in (DATA / "launch-questions.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("asked", LAUNCHES, ids=lambda asked: asked["question"])
def test_launch_that_no_other_record_decides(asked):
    tensor_map = TensorMap.from_dict(asked["tensor_map"])
    found = launch_violations(
        tensor_map, asked["coords"], direction=asked["direction"], op=asked.get("op"), smem_base=asked["smem_base"],
        offsets=asked["offsets"], smem_bytes=asked["smem_bytes"],
        descriptor_space=asked.get("descriptor_space", "param"), descriptor_align=asked.get("descriptor_align", 64),
    )  # fmt: skip
    errors = {violation.cuda_error for violation in found} - {None}
    assert asked["error"] in errors if errors else asked["error"] is None
