"""The model against what an H200 did with one slice in every view of it, byte for byte, and against the driver."""

import numpy as np
import pytest

from tmalab import observe
from tmalab.experiment.atoms_cases import (
    ATOM_COLS,
    ATOM_GROUPS,
    ATOM_SWIZZLES,
    NARROW_ROWS,
    atoms_case,
    atoms_cases,
    fits,
    flat_cases,
    narrow_case,
)
from tmalab.model.tensor_map import TensorMap
from tmalab.recordings.comparing import expected_bytes

CASES = list(atoms_cases())
TRANSFERS = [case for case in CASES if case.probe == "transfer"]
REFUSED = [case for case in CASES if case.probe == "encode"]


def seen(case):
    return observe(case, live=False)


@pytest.mark.parametrize("case", TRANSFERS, ids=lambda case: case.name)
def test_a_copy_left_every_byte_as_the_model_says(case):
    found = seen(case)
    assert found["completed"]
    assert (found["smem"] == expected_bytes(case)).all()
    assert found["delivered_bytes"] == TensorMap.from_dict(case.params["tensor_map"]).transaction_bytes()


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.name)
def test_the_driver_refused_what_breaks_a_rule(case):
    (violation,) = TensorMap.from_dict(case.params["tensor_map"]).violations()
    assert (violation.rule, violation.field) == ("box_inner_le_swizzle_span", "box_dim[0]")
    assert seen(case)["accepted"] is False


@pytest.mark.parametrize("col", ATOM_COLS)
@pytest.mark.parametrize(("swizzle", "group"), [(s, g) for s in ATOM_SWIZZLES for g in ATOM_GROUPS if fits(s, g)])
def test_one_copy_left_what_its_parts_left(swizzle, group, col):
    """By the recorded bytes alone, the model has no part in it."""
    whole = seen(atoms_case(swizzle, group, col))
    parts = [seen(case) for case in flat_cases(swizzle, group, col)]
    touched = np.array([part["smem"] != 0xCD for part in parts])
    assert touched.sum(axis=0).max() == 1  # no byte is written twice
    together = np.where(
        touched.any(axis=0), np.max([part["smem"] * on for part, on in zip(parts, touched, strict=True)], axis=0), 0xCD
    )
    assert (together == whole["smem"]).all()
    assert sum(part["delivered_bytes"] for part in parts) == whole["delivered_bytes"] == 4096


@pytest.mark.parametrize("row_bytes", NARROW_ROWS)
def test_a_row_under_128b_stands_in_128_bytes_of_its_own(row_bytes):
    smem = seen(narrow_case(row_bytes))["smem"]
    lines = smem[:1024].reshape(8, 128).view("<u2")
    written = (lines != 0xCDCD).sum(axis=1)
    assert (written == row_bytes // 2).all()
    for row, line in enumerate(lines):
        assert set(line[line != 0xCDCD]) == set(range(256 * row, 256 * row + row_bytes // 2))
    assert (smem[1024:] == 0xCD).all()
    assert seen(narrow_case(row_bytes))["delivered_bytes"] == 8 * row_bytes
