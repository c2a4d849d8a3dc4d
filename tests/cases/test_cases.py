"""Every entry of a case file: public reports and questions, each held to the verdict, the rule and the numbers.

The file is the copy beside this one, or the one that TMALAB_CASES names. What the driver of an H200 answered
(`measured_on_h200`) stands over what the report says. `unanswered.json` lists by id what the package cannot answer yet
and why; it must be exactly what is left, so that it can only shrink.
"""

import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tmalab import TensorMap, model
from tmalab.checker import Answer, check_text
from tmalab.checker.check import LATER
from tmalab.inputs.cpp_source import Source
from tmalab.inputs.cpp_values import Values

HERE = Path(__file__).parent
OWN = HERE / "cases.json"
FILE = Path(os.environ.get("TMALAB_CASES") or OWN)
CASES = json.loads(FILE.read_text(encoding="utf-8"))
UNANSWERED = json.loads((HERE / "unanswered.json").read_text(encoding="utf-8"))
ANSWERED = [case for case in CASES if case["input"]["mode"] not in LATER]
# What an expectation says in words, or says of the report and not of the answer.
IN_WORDS = {"verdict", "rule", "answer", "basis", "trap", "runtime_symptom", "unit", "per", "contested"}


def ask(case: dict[str, Any]) -> Answer:
    return check_text(json.dumps(case["input"]), {"keep_unknown": True})


@pytest.mark.parametrize("case", ANSWERED, ids=lambda case: case["id"])
def test_verdict_and_rule(case):
    answer, expected = ask(case), case["expected"]
    assert answer.error is None, answer.error
    measured = case.get("measured_on_h200", {}).get("encode")
    if measured is not None:
        parts = answer.parts or (answer,)
        assert ["rejected" if part.violations else "accepted" for part in parts] == measured
    rule = expected.get("rule")
    match expected["verdict"]:
        case "accept" | "ok":
            assert answer.legal
            assert rule is None or rule in answer.rules
        case "reject" | "rejected":
            assert not answer.legal
            assert answer.verdict == "reject"
            assert rule is None or rule in answer.rules - {warning.rule for warning in answer.warnings}
        case "mapping":  # the driver may refuse what the question only takes as a model
            assert rule is None or rule in answer.rules
        case other:
            assert answer.verdict == other
            assert rule is None or rule in answer.rules


@pytest.mark.parametrize("case", ANSWERED, ids=lambda case: case["id"])
def test_numbers(case, record_property):
    answer, expected = ask(case), case["expected"]
    for name in sorted(set(expected) - IN_WORDS):
        known, value = number(name, expected[name], case, answer)
        if known:
            assert same(value, expected[name]), f"{name}: {value!r} and not {expected[name]!r}"
        else:  # another file may ask for what this one does not
            record_property("not compared", name)
            assert FILE != OWN, f"{case['id']}: nothing is computed for {name}"


def same(value: Any, expected: Any) -> bool:
    """Equal; of a table, equal where the expectation says something; of an error, whatever prefix it bears."""
    if isinstance(expected, dict) and isinstance(value, dict):
        return all(key in value and same(value[key], item) for key, item in expected.items())
    if isinstance(expected, str) and isinstance(value, str) and "rror" in expected.title():
        return error_name(value) == error_name(expected)
    return list(value) == expected if isinstance(expected, list) else value == expected


def error_name(text: str) -> str:
    return re.sub(r"^cuda_?error_?", "", text, flags=re.IGNORECASE).replace("_", "").lower()


# --- the numbers ------------------------------------------------------------------------------------------------------

# The answer's name for a number, where the case file has another.
FACTS = {
    "tx_bytes": "transaction_bytes", "wrong_tx_bytes": "one_byte_per_value_bytes", "wrong_value": "dense_strides",
    "pending_copies": "copies",
}  # fmt: skip


def number(name: str, wanted: Any, case: dict[str, Any], answer: Answer) -> tuple[bool, Any]:
    """Whether the package computes this number, and what it computes."""
    facts = answer.numbers
    rule = case["expected"].get("rule")
    named = [found for found in (*answer.violations, *answer.faults, *answer.warnings) if found.rule == rule]
    if name == "rows":
        return rows(wanted, case, answer)
    if name == "overwritten":
        return True, {key: overwritten(key, case) for key in wanted}
    if name == "remainder" and named:
        return True, named[0].value % named[0].limit
    if name in ("value", "limit") and named:
        return True, getattr(named[0], name)
    if name == "storage_bytes" and named:
        return True, named[0].limit
    if name == "fix" and named:
        return True, wanted if all(digits in named[0].fix for digits in re.findall(r"\d+", wanted)) else named[0].fix
    name = FACTS.get(name, name)
    return (True, facts[name]) if name in facts else (False, None)


def rows(wanted: Any, case: dict[str, Any], answer: Answer) -> tuple[bool, Any]:
    """The indices of rows that a strided box takes; of a filled tensor, the first value of each chunk as it lies."""
    if isinstance(wanted, list):
        return ("dim1_indices" in answer.facts), answer.facts.get("dim1_indices")
    tm, base = answer.tensor_map, case["input"].get("smem_base", 0)
    memory = filled(case["input"]["fill"], tm)
    coords = case["input"].get("coords", [0] * tm.rank)
    smem = model.load(tm, memory, coords, smem_base=base, smem_bytes=base + tm.footprint_bytes())
    dtype = np.dtype(tm.dtype)
    pitch = tm.footprint_bytes() // tm.box_dim[1]
    lines = smem[base:].view(dtype).reshape(-1, pitch // tm.element.bytes)
    return True, {row: lines[int(row), :: 16 // tm.element.bytes].astype(int).tolist() for row in wanted}


def filled(expression: str, tm: TensorMap) -> np.ndarray:
    """The tensor's bytes where element (row, col) holds `expression`, whose division rounds down as `floor` asks."""
    values = np.zeros((tm.global_dim[1], tm.global_strides[0] // tm.element.bytes), dtype=tm.dtype)
    for row in range(tm.global_dim[1]):
        for col in range(tm.global_dim[0]):
            source = Source(f"int row = {row}, col = {col}; {expression.replace('floor', '')}")
            values[row, col] = Values(source).integer(source.tokens[9:])
    return values.view(np.uint8).reshape(-1)


def overwritten(variant: str, case: dict[str, Any]) -> int:
    """Bytes of each row that a store destroys past the view's end, for a variant such as int16_470."""
    dtype, cols = variant.split("_")
    said = case["input"]
    elem = np.dtype(dtype).itemsize
    box = said["box_dim"][0] * np.dtype(said["dtype"]).itemsize // elem
    tm = TensorMap.tiled(dtype, (int(cols), said["global_dim"][1]), (4096,), (box, said["box_dim"][1]))
    start = (int(cols) - 1) // box * box
    smem = np.full(tm.footprint_bytes(), 0xAB, dtype=np.uint8)
    memory = model.store(tm, smem, (start, 0), memory=np.zeros(4096 * tm.global_dim[1], dtype=np.uint8))
    past = memory.reshape(-1, 4096)[:, int(cols) * elem :] != 0
    assert (past.sum(axis=1) == past[0].sum()).all()
    return int(past[0].sum())


# --- what is left -----------------------------------------------------------------------------------------------------


@pytest.mark.skipif(FILE != OWN, reason="the list is of this repository's own file")
def test_the_list_of_unanswered_cases_is_what_is_left():
    left = {case["id"]: case["input"]["mode"] for case in CASES if case["input"]["mode"] in LATER}
    assert {entry["id"] for entry in UNANSWERED} == set(left)
    for entry in UNANSWERED:
        assert entry["mode"] == left[entry["id"]]
        assert len(entry["reason"]) > 10
    assert len(UNANSWERED) <= 5, "the list only shrinks"


@pytest.mark.parametrize(
    "case", [case for case in CASES if case["input"]["mode"] in LATER], ids=lambda case: case["id"]
)
def test_what_is_left_says_so(case):
    answer = ask(case)
    assert answer.exit_code == 2
    assert LATER[case["input"]["mode"]] in str(answer.error)


def test_every_mode_is_answered_or_listed():
    known = {
        "tiled",
        "tiled_set",
        "im2col",
        "dlpack",
        "layout_query",
        "launch_operand",
        "descriptor_location",
        "tile_partition",
        "cute_partition",
        "bank_pattern",
        "barrier_program",
        "cluster_barrier",
        "sync_story",
    }
    assert {case["input"]["mode"] for case in CASES} <= known | set(LATER)
