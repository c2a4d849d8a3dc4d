"""The answer to one question of cost: plain JSON, whatever is asked."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tmalab.checker.cost import cost_answer, cost_json, notes, place_of
from tmalab.errors import InputError
from tmalab.model.tile_access import Tile

QUESTION = {"tile": {"rows": 32, "row_bytes": 128}, "access": {"access": "column", "width_bytes": 4}}


def ask(tile=None, **access):
    return cost_answer({"tile": {**QUESTION["tile"], **(tile or {})}, "access": {**QUESTION["access"], **access}})


def test_a_conflict_is_told_wavefront_by_wavefront():
    answer = ask({"swizzle": "128B"})
    assert (answer["degree"], answer["count"], answer["min_count"]) == (4, 4, 1)
    assert sorted(lane for wave in answer["waves"] for lane in wave["lanes"]) == list(range(32))
    for wave in answer["waves"]:
        assert len({word % 32 for word in wave["words"]}) == len(wave["words"]) == 8
    assert answer["places"] == [[lane, 0] for lane in range(32)]
    assert answer["addresses"][1] == 144


def test_the_alternatives_are_every_swizzle_and_the_padding_that_frees():
    told = [
        (one["swizzle"], one["padding_bytes"], one["degree"], one["engine_writes"]) for one in ask()["alternatives"]
    ]
    assert told == [
        ("none", 0, 32, True), ("32B", 0, 16, False), ("64B", 0, 8, False), ("128B", 0, 4, True), ("none", 4, 1, False)
    ]  # fmt: skip
    assert len(ask(access="row")["alternatives"]) == 4
    plain = ask()
    assert plain["alternatives"][0]["addresses"] == plain["addresses"]  # by them a page finds what was measured


def test_the_place_of_an_address_is_the_one_before_the_swizzle():
    tile = Tile(8, 64, "64B", base=512)
    assert place_of(tile, tile.address(5, 37)) == (5, 37)


@pytest.mark.parametrize(
    ("tile", "said"),
    [
        (Tile(8, 128), []),
        (Tile(8, 128, padding_bytes=4), ["The engine writes no padding: threads must write rows 132 bytes apart."]),
        (Tile(8, 128, "32B"), ["The engine writes no rows of 128 bytes with 32B: split them into boxes of 32."]),
        (Tile(8, 32, "128B"), ["The engine pads each row to 128 bytes: 96 of them are wasted."]),
        (Tile(8, 128, base=64), ["The engine writes to multiples of 128 bytes: address 64 is none."]),
    ],
)
def test_what_is_to_be_known_of_a_layout(tile, said):
    assert notes(tile) == said


def test_json_in_json_out_and_an_error_with_its_column():
    assert json.loads(cost_json(json.dumps(QUESTION))) == json.loads(json.dumps(cost_answer(QUESTION)))
    wrong = {**QUESTION, "access": {"access": "expression", "width_bytes": 4, "expression": "lane * lan"}}
    told = json.loads(cost_json(json.dumps(wrong)))
    assert told["column"] == 8
    assert told["error"].startswith("column 8: no name 'lan'")
    assert json.loads(cost_json("{"))["column"] is None


@pytest.mark.parametrize(
    ("question", "field"),
    [
        (None, "question"),
        ({}, "tile"),
        ({"tile": {"rows": 8, "row_bytes": 32}, "access": 4}, "access"),
        ({"tile": {}, "access": 4}, "rows"),
        ({"tile": {"rows": 8, "row_bytes": 32, "dtype": "x"}, "access": {}}, "tile.dtype"),
        ({"tile": {"rows": 8}, "access": {"access": "row", "width_bytes": 4}}, "row_bytes"),
        ({"tile": {"rows": 8, "row_bytes": 32}, "access": {"access": "row"}}, "width_bytes"),
        ({"tile": {"rows": 8, "row_bytes": 32}, "access": {"access": "row", "width_bytes": "4"}}, "width_bytes"),
    ],
)
def test_what_is_no_question_is_refused_by_its_field(question, field):
    with pytest.raises(InputError) as caught:
        cost_answer(question)
    assert caught.value.field == field


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 300) | st.sampled_from(["row", "none", "lane*4", "128B", "expression"]),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=3,
)
FIELDS = {
    "tile": ["rows", "row_bytes", "swizzle", "padding_bytes", "base"],
    "access": ["access", "width_bytes", "op", "expression"],
}


@given(st.fixed_dictionaries({name: st.dictionaries(st.sampled_from(of), plain) for name, of in FIELDS.items()}))
@settings(deadline=None, max_examples=300)
def test_any_json_gets_an_answer(question):
    told = json.loads(cost_json(json.dumps(question)))
    assert ("error" in told) != ("degree" in told)
