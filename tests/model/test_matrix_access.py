"""ldmatrix and stmatrix: their phases, and which lane holds which element."""

from __future__ import annotations

import pytest

from tmalab.errors import InputError
from tmalab.model.matrix_access import MATRIX_OPS, lane_elements, matrix_access


def test_the_operations_are_two_by_three_by_two():
    assert len(MATRIX_OPS) == 12
    assert MATRIX_OPS["ldmatrix_x4_trans"] == 4
    assert MATRIX_OPS["stmatrix_x2"] == 2


@pytest.mark.parametrize("op", MATRIX_OPS)
def test_rows_in_order_take_a_wavefront_a_matrix_and_128_bytes_apart_eight(op):
    count = MATRIX_OPS[op]
    in_order = matrix_access([16 * lane for lane in range(32)], op)
    assert (in_order.count, in_order.degree, in_order.conflicts) == (count, 1, 0)
    column = matrix_access([128 * lane for lane in range(32)], op)
    assert (column.count, column.degree, column.conflicts) == (8 * count, 8, 7 * count)
    swizzled = matrix_access([(128 * lane) ^ ((lane & 7) << 4) for lane in range(32)], op)
    assert swizzled.count == count
    one = matrix_access([0] * (8 * count), op)
    assert one.count == count, "matrices share no wavefront, not even for the same row"
    assert one.cycles == count


def test_the_lanes_of_a_wavefront_are_those_that_name_the_rows():
    access = matrix_access([16 * lane for lane in range(32)], "ldmatrix_x2")
    assert [wavefront.lanes for wavefront in access.wavefronts] == [tuple(range(8)), tuple(range(8, 16))]
    assert access.wavefronts[1].words == tuple(range(32, 64))
    assert access.addresses[16:] == (None,) * 16


@pytest.mark.parametrize("op", MATRIX_OPS)
def test_every_element_is_held_once(op):
    held = [element for registers in lane_elements(op) for pair in registers for element in pair]
    matrices = range(MATRIX_OPS[op])
    assert sorted(held) == [(matrix, row, col) for matrix in matrices for row in range(8) for col in range(8)]


def test_trans_exchanges_row_and_column():
    for plain, trans in zip(lane_elements("stmatrix_x1"), lane_elements("stmatrix_x1_trans"), strict=True):
        assert [(m, col, row) for m, row, col in plain[0]] == list(trans[0])


@pytest.mark.parametrize(
    ("addresses", "op", "words"),
    [
        ([0] * 8, "ldmatrix_x3", "ldmatrix_x1, ldmatrix_x2"),
        ([0] * 8, ["ldmatrix_x1"], "unknown operation"),
        ([0] * 9, "ldmatrix_x2", "9 entries where 16"),
        ([0, None, *[0] * 6], "ldmatrix_x1", "1 entry where 8"),
        ([8] * 8, "ldmatrix_x1", "multiple of the width"),
    ],
)
def test_what_is_no_matrix_access_is_refused(addresses, op, words):
    with pytest.raises(InputError, match=words):
        matrix_access(addresses, op)
