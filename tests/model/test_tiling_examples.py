"""Two worked examples of the banks: one column of a 16 x 16 grid of chunks, from eight rows, grouped and ungrouped.

The chunks are 16 bytes, a row of them 256. Grouped, a row is split into two lines of 128 bytes; ungrouped it is whole.
"""

import pytest

from tmalab.model.banks import conflict_degree, warp_access
from tmalab.model.swizzle import swizzled

COLUMNS = range(16)
FIRST_ROWS = range(9)


def grouped(row: int, column: int) -> int:
    """Lines of 128 bytes: sixteen of columns 0 to 7, then sixteen of columns 8 to 15."""
    return 2048 * (column // 8) + 128 * row + 16 * (column % 8)


def ungrouped(row: int, column: int) -> int:
    return 256 * row + 16 * column


def bank_groups(addresses: list[int]) -> list[int]:
    """The four banks that each chunk lies in, counted by fours: S0 to S7."""
    return [address // 4 % 32 // 4 for address in addresses]


def column_of(layout, column: int, first_row: int = 0, swizzle: str = "128B") -> list[int]:
    return [swizzled(layout(first_row + lane, column), swizzle) for lane in range(8)]


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("first_row", FIRST_ROWS)
def test_grouped_the_eight_results_of_local_col_xor_row_are_distinct(column, first_row):
    addresses = column_of(grouped, column, first_row)
    results = [(column % 8) ^ (row % 8) for row in range(first_row, first_row + 8)]
    assert bank_groups(addresses) == results
    assert len(set(results)) == 8
    assert conflict_degree(addresses, 16) == warp_access(addresses, 16).count == 1


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("first_row", FIRST_ROWS)
def test_ungrouped_there_are_four_results_each_wanted_twice(column, first_row):
    addresses = column_of(ungrouped, column, first_row)
    results = [(column % 8) ^ ((2 * row + column // 8) % 8) for row in range(first_row, first_row + 8)]
    assert bank_groups(addresses) == results
    assert sorted(results.count(one) for one in set(results)) == [2, 2, 2, 2]
    assert conflict_degree(addresses, 16) == warp_access(addresses, 16).count == 2


def test_the_rows_that_meet_are_four_apart():
    """A row is two lines, the XOR takes the line modulo 8: after four rows it comes round again."""
    results = bank_groups(column_of(ungrouped, 5))
    assert results == [5, 7, 1, 3, 5, 7, 1, 3]
    assert bank_groups(column_of(grouped, 5)) == [5, 4, 7, 6, 1, 0, 3, 2]


@pytest.mark.parametrize("layout", [grouped, ungrouped])
def test_without_a_swizzle_all_eight_meet(layout):
    addresses = column_of(layout, 13, 2, "none")
    assert bank_groups(addresses) == [5] * 8
    assert conflict_degree(addresses, 16) == warp_access(addresses, 16).count == 8
