"""What an access to a tile costs, what frees it, and the reader's own expression of it."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tmalab.errors import InputError, TmaLabError
from tmalab.model.expression_tree import ExpressionError
from tmalab.model.tile_access import Tile
from tmalab.model.tile_cost import (
    EXPRESSIONS,
    MATRIX_ACCESSES,
    SWIZZLES,
    TILE_ACCESSES,
    TileAccess,
    addresses,
    advise,
    cost,
    engine_writes,
    least_free_padding,
    swizzled_tiles,
    widest_free_swizzle,
)

COLUMN = TileAccess("column", 4)


def typed(text, width=4):
    return TileAccess("expression", width, expression=text)


# --- the cost ---------------------------------------------------------------------------------------------------------


def test_a_column_of_words_stays_four_way_in_the_widest_swizzle():
    assert [cost(tile, COLUMN).degree for tile in swizzled_tiles(Tile(32, 128))] == [32, 16, 8, 4]


def test_a_column_of_16_byte_vectors_is_freed_by_the_widest_alone():
    column = TileAccess("column", 16)
    assert [cost(tile, column).degree for tile in swizzled_tiles(Tile(32, 128))] == [8, 4, 2, 1]
    assert widest_free_swizzle(Tile(32, 128), column) == "128B"


@pytest.mark.parametrize("access", MATRIX_ACCESSES)
def test_ldmatrix_needs_the_swizzle_of_its_rows(access):
    rows = TileAccess(access, 16)
    assert cost(Tile(32, 128), rows).op == MATRIX_ACCESSES[access]
    assert [cost(tile, rows).degree for tile in swizzled_tiles(Tile(32, 128))] == [8, 4, 2, 1]
    with pytest.raises(InputError, match="a row of 16 bytes"):
        cost(Tile(32, 128), TileAccess(access, 4))


def test_a_store_is_another_access_than_a_load():
    load, store = (cost(Tile(32, 128), TileAccess("row", 8, op)) for op in ("load", "store"))
    assert (load.op, store.op) == ("load", "store")


def test_rows_that_padding_sets_askew_fault_and_say_so():
    with pytest.raises(InputError, match="rows begin 132 bytes apart; an access of 16 bytes would fault") as caught:
        cost(Tile(32, 128, padding_bytes=4), TileAccess("column", 16))
    assert (caught.value.field, caught.value.limit) == ("padding_bytes", 16)
    assert cost(Tile(32, 512, padding_bytes=4), TileAccess("row", 16)).degree == 1  # it reads one row alone


@pytest.mark.parametrize(
    ("tile", "writes"),
    [
        (Tile(8, 128), True),
        (Tile(8, 128, "128B"), True),
        (Tile(8, 64, "128B"), True),
        (Tile(8, 128, "64B"), False),
        (Tile(8, 128, padding_bytes=4), False),
    ],
)
def test_the_engine_writes_no_padding_and_no_row_beyond_the_span(tile, writes):
    assert engine_writes(tile) is writes


# --- advice -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tile", "access", "swizzle", "padding", "words"),
    [
        (Tile(32, 128), TileAccess("row", 4), None, None, "Free as it is"),
        (Tile(32, 128), COLUMN, "none", 4, "No swizzle frees it: 128B leaves 4-way. 4 bytes of padding after each row"),
        (Tile(32, 128), TileAccess("column", 16), "128B", 0, "128B frees it, and is the widest swizzle that does."),
        (Tile(32, 256), TileAccess("column", 16), "none", 16, "The engine swizzles no rows of 256 bytes: copy boxes"),
        (Tile(32, 128, padding_bytes=64), typed("lane * 4"), None, None, "Free as it is"),
        (Tile(32, 128), typed("lane * 128 + lane / 8 * 16384"), None, None, "Nor does padding"),
    ],
)
def test_advice_names_the_layout_to_take(tile, access, swizzle, padding, words):
    found = advise(tile, access)
    assert (found.swizzle, found.padding_bytes) == (swizzle, padding)
    assert words in found.words


@given(
    st.sampled_from([8, 20, 32]), st.sampled_from([32, 64, 128, 256]), st.sampled_from(TILE_ACCESSES),
    st.sampled_from([2, 4, 8, 16]),
)  # fmt: skip
@settings(deadline=None, max_examples=60)
def test_what_is_advised_frees_it_and_nothing_wider_or_smaller_does(rows, row_bytes, access, width):
    tile, asked = Tile(rows, row_bytes), TileAccess(access, 16 if access in MATRIX_ACCESSES else width)
    advice, widest, padding = advise(tile, asked), widest_free_swizzle(tile, asked), least_free_padding(tile, asked)
    if cost(tile, asked).degree == 1:
        assert advice.swizzle is None
        assert padding is None
        return
    if advice.swizzle is not None:
        assert cost(Tile(rows, row_bytes, advice.swizzle, advice.padding_bytes), asked).degree == 1
    for swizzle in SWIZZLES[SWIZZLES.index(widest) + 1 if widest else 0 :]:
        other = Tile(rows, row_bytes, swizzle)
        assert not engine_writes(other) or cost(other, asked).degree > 1
    for fewer in range(4, padding or 0, 4):
        if fewer % asked.width_bytes == 0:
            assert cost(Tile(rows, row_bytes, padding_bytes=fewer), asked).degree > 1


# --- the reader's own expression --------------------------------------------------------------------------------------


@pytest.mark.parametrize("access", TILE_ACCESSES)
@pytest.mark.parametrize(
    "tile", [Tile(32, 128), Tile(8, 64, "64B"), Tile(20, 256, padding_bytes=16), Tile(8, 32, "128B", 0, 256)]
)
def test_each_access_can_be_typed(access, tile):
    assert addresses(tile, typed(EXPRESSIONS[access], 16)) == addresses(tile, TileAccess(access, 16))


def test_one_expression_is_a_byte_and_two_are_a_row_and_a_vector():
    tile = Tile(32, 128, "128B", base=1024)
    assert addresses(tile, typed("lane * pitch + 16", 16)) == addresses(tile, typed("lane, 1", 16))
    assert addresses(Tile(32, 128), typed("row * pitch + col * bytes")) == addresses(
        Tile(32, 128), TileAccess("row", 4)
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("lane - 4", "byte -4 at lane 0 is not there"),
        ("lane << 30", "byte 1073741824 at lane 1 is not there"),
        ("lane + 20, 0", "row 32 at lane 12 is not there"),
        ("0, lane * 2", "vector 32 at lane 16 is not there"),
        ("lane +", "a value is missing before the end"),
    ],
)
def test_an_expression_that_leaves_the_tile_says_for_which_lane(text, reason):
    with pytest.raises(ExpressionError) as caught:
        cost(Tile(32, 128), typed(text))
    assert caught.value.reason == reason


@pytest.mark.parametrize(
    ("access", "field"),
    [
        (TileAccess("zigzag"), "access"),
        (TileAccess("row", 3), "width_bytes"),
        (TileAccess("row", "4"), "width_bytes"),
        (TileAccess("row", 4, "swap"), "op"),
        (typed("lane"), "addresses[1]"),
        (typed(None), "expression"),
    ],
)
def test_what_is_no_access_is_refused_by_its_field(access, field):
    with pytest.raises(InputError) as caught:
        cost(Tile(32, 128), access)
    assert caught.value.field == field
    assert caught.value.fix


@given(
    st.builds(
        TileAccess, st.sampled_from([*TILE_ACCESSES, "expression", "x"]), st.sampled_from([0, 1, 2, 4, 8, 16, 5]),
        st.sampled_from(["load", "store"]), st.sampled_from(["lane*4", "lane*lane", "lane,0", "-1", "lane %"]),
    ),
    st.integers(1, 70), st.integers(1, 300), st.sampled_from(SWIZZLES), st.integers(0, 40), st.integers(0, 300),
)  # fmt: skip
@settings(deadline=None)
def test_any_question_is_answered_or_refused(access, rows, row_bytes, swizzle, padding, base):
    tile = Tile(rows, row_bytes, swizzle, padding, base)
    try:
        found = cost(tile, access)
    except TmaLabError:
        return
    assert 1 <= found.degree <= found.count
    assert advise(tile, access).words


def test_a_tile_that_fills_shared_memory_has_no_room_for_another_layout():
    full = Tile(1 << 18, 32)
    assert [tile.swizzle for tile in swizzled_tiles(full)] == ["none", "32B"]
    assert least_free_padding(full, TileAccess("column", 16)) is None
    assert advise(full, TileAccess("column", 16)).words.startswith("32B frees it")


def test_advice_is_quick():
    begun = time.process_time()
    advise(Tile(32, 128), typed("lane * 128 + lane / 8 * 16384"))
    assert time.process_time() - begun < 0.5
