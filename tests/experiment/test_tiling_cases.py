"""The grid of chunks, tiled or not: its addresses against the copies that leave it so, and the reads of a column."""

from itertools import product

import numpy as np
import pytest

from tmalab import model
from tmalab.errors import InputError
from tmalab.experiment.tiling_cases import (
    COLUMNS,
    FIRST_ROWS,
    TILING_COLUMNS,
    TILING_DTYPES,
    TILING_ROWS,
    TILING_SWIZZLES,
    TILINGS,
    banks_case,
    chunk_address,
    column_addresses,
    refused_map,
    state_number,
    tiling_case,
    tiling_cases,
    tiling_map,
)

LAYOUTS = list(product(TILINGS, TILING_SWIZZLES))


@pytest.mark.parametrize("dtype", TILING_DTYPES)
@pytest.mark.parametrize(("tiling", "swizzle"), LAYOUTS)
def test_a_chunk_stands_where_its_copy_puts_it(tiling, swizzle, dtype):
    """The addresses that are read are those of the map, element by element: the first of each chunk."""
    tm = tiling_map(tiling, swizzle, dtype)
    assert tm.violations() == []
    assert tm.transaction_bytes() == tm.footprint_bytes() == 4096
    step = 16 // tm.element.bytes
    # axes of the map, innermost first → [row, column] of the grid
    chunks = model.shared_offsets(tm)[::step]
    if tiling == "yes":
        grid = chunks.transpose(1, 2, 0).reshape(TILING_ROWS, TILING_COLUMNS)
    else:
        grid = chunks.T.reshape(TILING_ROWS, TILING_COLUMNS)
    rows, columns = range(TILING_ROWS), range(TILING_COLUMNS)
    assert grid.tolist() == [[chunk_address(tiling, swizzle, row, column) for column in columns] for row in rows]


@pytest.mark.parametrize("dtype", TILING_DTYPES)
def test_the_view_in_three_dimensions_moves_nothing(dtype):
    """All maps of the grid read the same 4096 bytes, in the grid's order: same element, same global byte."""
    for tiling, swizzle in LAYOUTS:
        tm = tiling_map(tiling, swizzle, dtype)
        strides = (tm.element.bytes, *tm.global_strides)
        index = np.indices(tm.global_dim)
        places = sum(axis * stride for axis, stride in zip(index, strides, strict=True))
        assert sorted(places.ravel().tolist()) == list(range(0, 4096, tm.element.bytes))
        if tiling == "yes":  # (column, row, group): global[row, j] = global3[group, row, j % half]
            half = tm.global_dim[0]
            assert places[1 % half, 3, 1] == 3 * 256 + (half + 1 % half) * tm.element.bytes


@pytest.mark.parametrize("dtype", TILING_DTYPES)
def test_whole_rows_under_the_swizzle_break_one_rule(dtype):
    (broken,) = refused_map(dtype).violations()
    assert (broken.rule, broken.field, broken.limit) == ("box_inner_le_swizzle_span", "box_dim[0]", 128)
    assert "is 256 bytes; SWIZZLE_128B allows 128" in broken.message


def test_every_state_is_one_pattern():
    patterns = banks_case().params["patterns"]
    states = list(product(TILINGS, TILING_SWIZZLES, COLUMNS, FIRST_ROWS))
    assert len(patterns) == len(states) == 2 * 2 * 16 * 9
    for number, state in enumerate(states):
        assert state_number(*state) == number
        assert patterns[number] == {"addresses": column_addresses(*state), "width_bytes": 16, "op": "load"}


@pytest.mark.parametrize(
    "state", [("perhaps", "128B", 0, 0), ("yes", "64B", 0, 0), ("yes", "128B", 16, 0), ("no", "none", 0, 9)]
)
def test_a_state_that_is_none_is_refused(state):
    with pytest.raises(InputError, match="Fix: use one of"):
        state_number(*state)


def test_a_layout_that_is_none_is_refused():
    for wrong in (chunk_address, lambda *given: tiling_map(given[0], given[1], "float16")):
        with pytest.raises(InputError, match="tiling='maybe'"):
            wrong("maybe", "128B", 0, 0)


def test_the_group_is_small():
    names = [case.name for case in tiling_cases()]
    assert len(names) == len(set(names)) == 16 + 4 + 1
    assert tiling_case("no", "128B", "uint8").name in names
