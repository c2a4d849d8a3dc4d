"""On a Hopper GPU: each view of the slice lands as the model says, and as its two-dimensional copies land together."""

import numpy as np
import pytest

from tmalab.experiment.atoms_cases import (
    ATOM_COLS,
    ATOM_GROUPS,
    ATOM_SWIZZLES,
    COPIES,
    NARROW_ROWS,
    atoms_case,
    fits,
    flat_cases,
    narrow_case,
    refused_case,
)
from tmalab.hardware import run_case
from tmalab.recordings.comparing import expected_bytes

pytestmark = pytest.mark.gpu

VIEWS = [(swizzle, group) for swizzle in ATOM_SWIZZLES for group in ATOM_GROUPS]
LEGAL = [view for view in VIEWS if fits(*view)]


@pytest.mark.parametrize("col", ATOM_COLS)
@pytest.mark.parametrize(("swizzle", "group"), LEGAL)
def test_one_copy_leaves_what_its_parts_leave(swizzle, group, col):
    case = atoms_case(swizzle, group, col)
    whole = run_case(case)
    assert (whole["smem"] == expected_bytes(case)).all()
    together, counted = np.full_like(whole["smem"], 0xCD), 0
    for part in flat_cases(swizzle, group, col):
        seen = run_case(part)
        assert (seen["smem"] == expected_bytes(part)).all()
        written = seen["smem"] != 0xCD
        together[written] = seen["smem"][written]
        counted += seen["delivered_bytes"]
    assert (together == whole["smem"]).all()
    assert whole["delivered_bytes"] == counted == 4096


@pytest.mark.parametrize("copies", COPIES)
@pytest.mark.parametrize(("swizzle", "group"), [view for view in VIEWS if view not in LEGAL])
def test_a_group_wider_than_the_span_is_refused(swizzle, group, copies):
    assert run_case(refused_case(swizzle, group, copies))["accepted"] is False


@pytest.mark.parametrize("row_bytes", NARROW_ROWS)
def test_a_narrow_row_is_padded_and_the_padding_is_not_counted(row_bytes):
    case = narrow_case(row_bytes)
    seen = run_case(case)
    assert (seen["smem"] == expected_bytes(case)).all()
    assert seen["delivered_bytes"] == 8 * row_bytes
