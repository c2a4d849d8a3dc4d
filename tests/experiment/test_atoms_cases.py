"""The views of the slice: one memory, the same bytes, and what is asked of the hardware about it."""

from itertools import product

import numpy as np
import pytest

from tmalab.errors import InputError
from tmalab.experiment.atoms_cases import (
    ATOM_COLS,
    ATOM_COLUMNS,
    ATOM_GROUPS,
    ATOM_MEMORY,
    ATOM_ROWS,
    ATOM_SWIZZLES,
    COPIES,
    atoms_case,
    atoms_cases,
    fits,
    flat_cases,
    flat_map,
    grouped_map,
    refused_case,
)
from tmalab.experiment.memory import make_bytes

by_group = pytest.mark.parametrize("group", ATOM_GROUPS)


def addresses(tm) -> np.ndarray:
    """Byte of each element from the tensor's first, axes innermost first, from global_dim and global_strides alone."""
    steps = (tm.element.bytes, *tm.global_strides)
    return sum(np.indices(tm.global_dim)[axis] * step for axis, step in enumerate(steps))


@by_group
def test_the_view_moves_nothing(group):
    """Element (col, row, group) is element (group * width + col, row) of the matrix, at the same byte."""
    flat, view = addresses(flat_map("none", group)), addresses(grouped_map("none", group))
    width = group // 2
    rearranged = view.transpose(2, 0, 1).reshape(ATOM_COLUMNS, ATOM_ROWS)
    assert view.shape == (width, ATOM_ROWS, ATOM_COLUMNS // width)
    assert (rearranged == flat).all()
    assert sorted(view.ravel()) == list(range(0, ATOM_MEMORY["bytes"], 2))  # every element once, none left out


@by_group
def test_numpy_makes_the_same_view_without_a_copy(group):
    matrix = make_bytes(ATOM_MEMORY).view(np.uint16).reshape(ATOM_ROWS, ATOM_COLUMNS)
    view = matrix.reshape(ATOM_ROWS, -1, group // 2).transpose(1, 0, 2)  # (group, row, col)
    assert np.shares_memory(matrix, view)
    assert view.strides[::-1] == (2, *grouped_map("none", group).global_strides)
    assert view.shape[::-1] == grouped_map("none", group).global_dim


def test_which_views_the_driver_is_thought_to_take():
    span = {"none": 256, "32B": 32, "64B": 64, "128B": 128}
    for swizzle, group in product(ATOM_SWIZZLES, ATOM_GROUPS):
        assert fits(swizzle, group) == (group <= span[swizzle])
        assert fits(swizzle, group) == (not flat_map(swizzle, group).violations())


@pytest.mark.parametrize("col", ATOM_COLS)
@by_group
def test_the_copies_of_two_dimensions_take_the_same_elements(group, col):
    whole, width = atoms_case("none", group, col).params, group // 2
    first = whole["coords"][2] * width
    taken = [one.params["coords"][0] for one in flat_cases("none", group, col)]
    assert whole["coords"][:2] == [0, 0]
    assert taken == list(range(first, first + 128, width))
    assert first == col
    each = ATOM_ROWS * group
    assert [one.params["smem_base"] for one in flat_cases("none", group, col)] == list(range(0, 4096, each))


def test_every_case_is_one_of_the_group():
    names = {case.name for case in atoms_cases()}
    assert atoms_case("128B", 128, 128).name in names
    assert {one.name for one in flat_cases("64B", 32, 0)} <= names
    assert refused_case("128B", 256, COPIES[1]).name in names
    assert len(names) == 137


@pytest.mark.parametrize(("swizzle", "group"), [("96B", 128), ("128B", 96), ("128B", "128"), (None, 32)])
def test_another_view_is_an_error(swizzle, group):
    for build in (grouped_map, flat_map):
        with pytest.raises(InputError, match="use one of"):
            build(swizzle, group)
