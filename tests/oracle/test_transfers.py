"""The model against every transfer that an H200 performed: 1,596 loads, 396 stores and 67 reductions, byte for byte.

`data/README.md` says how the records were made. One that raised an error has no bytes: test_launch_errors has those.
"""

import gzip
import hashlib
import json
import re
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from tmalab import TensorMap, model

DATA = Path(__file__).parent / "data"
PARTS = 16
MEMORY_BYTES = 1 << 20
TILED, IM2COL = ["box_dim"], ["lower_corner", "upper_corner", "channels_per_pixel", "pixels_per_column"]
SHARED = ["kind", "dtype", "global_dim", "global_strides", "element_strides", "interleave", "swizzle", "oob_fill"]


@lru_cache(maxsize=4)
def records(kind):
    lines = gzip.decompress((DATA / f"{kind}.jsonl.gz").read_bytes()).splitlines()
    return [{"line": number, **json.loads(line)} for number, line in enumerate(lines, start=1)]


@lru_cache(maxsize=64)
def random_bytes(seed):
    made = np.random.default_rng(seed).integers(0, 256, MEMORY_BYTES, dtype=np.uint8)
    made.setflags(write=False)  # the model must not change its input
    return made


def tensor_map(record):
    names = SHARED + (TILED if record["kind"] == "tiled" else IM2COL)
    return TensorMap.from_dict({name: record[name] for name in names})


def predicted(kind, record):
    tm, memory, base = tensor_map(record), random_bytes(record["data_seed"]), record["smem_base"]
    if kind == "loads":
        offsets = record["offsets"][: tm.rank - 2] if tm.kind == "im2col" else ()
        return model.load(
            tm, memory, record["coords"], smem_bytes=record["smem_bytes"], smem_base=base, offsets=offsets
        )
    smem = random_bytes(record["smem_seed"])[: record["smem_bytes"]]
    if kind == "stores":
        return model.store(tm, smem, record["coords"], memory=memory, smem_base=base)
    return model.reduce(tm, smem, record["coords"], record["op"], memory=memory, smem_base=base)


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("kind", ["loads", "stores", "reductions"])
def test_every_byte_of_every_record(kind, part):
    moved = [record for record in records(kind)[part::PARTS] if not record.get("error")]
    wrong = [
        record for record in moved if hashlib.sha256(predicted(kind, record).tobytes()).hexdigest() != record["sha256"]
    ]
    assert moved
    assert wrong == []


@pytest.mark.parametrize("kind", ["stores", "reductions"])
def test_the_bytes_that_changed_are_as_many_as_recorded(kind):
    for record in records(kind)[:40]:
        if not record.get("error"):
            changed = np.count_nonzero(predicted(kind, record) != random_bytes(record["data_seed"]))
            assert changed == record["changed"], record


def test_a_phase_completed_where_the_barrier_was_armed_for_what_the_model_counts():
    for record in records("loads"):
        if record.get("error"):
            continue
        armed, counted = record["expect_tx_bytes"], tensor_map(record).transaction_bytes()
        if armed == counted:
            assert record["completed"], record
        else:
            # The harness armed interleaved loads wrongly. The phase completes when what has arrived equals what was
            # armed: with too few, a piece may end just there (early), or the count goes past it and never comes back
            # (hang); with too many it is never reached.
            assert record["interleave"] != "none", record
            assert armed < counted or not record["completed"], record


def sweeps():
    """The lines of facts.txt that arm an interleaved load for a number of bytes."""
    for line in (DATA / "facts.txt").read_text(encoding="utf-8").splitlines():
        asked, answer = line.split(" => ")
        if "interleave" in asked:
            fields = json.loads(re.sub(r"[A-Za-z_]\w*|\d+B", r'"\g<0>"', asked))
            yield fields, dict(re.findall(r"(\w+)=(\d+)", answer))


@pytest.mark.parametrize(("asked", "answer"), list(sweeps()), ids=str)
def test_what_an_interleaved_load_counts_and_writes(asked, answer):
    fields = asked["d"]
    tm = TensorMap.tiled(
        "float32", fields["global_dim"], fields["global_strides"], fields["box_dim"],
        interleave=fields["interleave"], swizzle=fields["swizzle"].lower().replace("b", "B"),
    )  # fmt: skip
    counted, armed, done = tm.transaction_bytes(), asked["expect"], answer["done"] == "1"
    assert int(answer["last"]) == tm.footprint_bytes() - 1 == counted - 1
    # A written byte may be 0xCD by chance, as one in 256 is.
    assert counted - 8 <= int(answer["written"]) <= counted
    if armed >= counted:
        assert done == (armed == counted)
