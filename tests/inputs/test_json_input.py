"""JSON in every arrangement: one object, an array, lines; and where each broken one is broken."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tmalab.inputs.detect import read_text
from tmalab.inputs.json_input import looks_like, read
from tmalab.inputs.json_place import place_of_field
from tmalab.inputs.position import UnreadableError
from tmalab.inputs.reading import Reading

MAP = {"dtype": "float16", "global_dim": [128, 16], "global_strides": [256], "box_dim": [64, 8]}


def fields_of(text: str, **options) -> list[dict]:
    readings = list(read(text, **options))
    assert all(isinstance(reading, Reading) for reading in readings), readings
    return [dict(reading.fields) for reading in readings]


def the_error(text: str) -> UnreadableError:
    [error] = [reading for reading in read(text) if isinstance(reading, UnreadableError)]
    return error


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("arrange", [
    lambda one: one, lambda one: f"[{one}]", lambda one: f"[{one},\n{one}]", lambda one: f"{one}\n{one}\n",
    lambda one: f"\ufeff {one}", lambda one: f"{one},\n{one}",
])  # fmt: skip
def test_every_arrangement_gives_the_objects(arrange, indent):
    text = arrange(json.dumps(MAP, indent=indent))
    assert looks_like(text)
    assert fields_of(text) == [MAP] * len(fields_of(text))


def test_names_in_other_spellings_and_records_own_words():
    record = {
        "kind": "tiled", "globalDim": [128, 16], "GLOBAL_STRIDES_BYTES": [256], "box-dim": [64, 8], "dtype": "half",
        "rank": 2, "sha256": "…", "accepted": True, "l2Promotion": "128B", "base_address": "0x0", "address_offset": 4,
    }  # fmt: skip
    [fields] = fields_of(json.dumps(record))
    assert fields["global_dim"] == [128, 16]
    assert fields["global_strides"] == [256]
    assert fields["box_dim"] == [64, 8]
    assert fields["l2_promotion"] == "128B"
    assert fields["address"] == "0x0"


def test_null_is_not_said():
    assert fields_of('{"box_dim": null, "dtype": "float16"}') == [{"dtype": "float16"}]


@pytest.mark.parametrize(("text", "line", "column", "words"), [
    ('{"dtype": "float16",}', 1, None, "not JSON"),
    ('{"dtype": "float16"\n "box_dim": [64]}', 2, 2, "delimiter"),
    ('{"global_dmi": [64]}', 1, 2, "global_dim"),
    ('{"box_dim": [64],\n  "boxDim": [8]}', 2, 3, "second time"),
    ('{"box_dim": [64], "box_dim": [8]}', 1, 1, "twice"),
    ('{"a": 1', 1, 8, "not JSON"),
    ("[1, 2]", 1, 2, "begins with {"),
    ("[]", 1, 1, "empty"),
    ("[", 1, 2, "no end"),
    ("{'dtype': 'float16'}", 1, 2, "names and words stand in double quotes"),
    ('[{"dtype": "float16"}, ]', 1, 24, "begins with {"),
    ('[{"dtype": "float16"} {}]', 1, 23, "expected ','"),
    ('[{"dtype": "float16"}] 5', 1, 24, "after the array"),
    ('[{"dtype": "float16"},', 1, 23, "no end"),
    ('{"global_dim": [' + "9" * 5000 + "]}", 1, 17, "5000 digits"),
    ("{" + '"x":{' * 100, 1, None, "not JSON"),
    ('{"note":' + "[" * 100_000, 1, None, "deeply"),
])  # fmt: skip
def test_a_broken_text_is_reported_at_its_place(text, line, column, words):
    error = the_error(text)
    assert words in str(error)
    assert error.line == line
    assert column is None or error.column == column


def test_reading_goes_on_after_a_broken_line():
    good = json.dumps(MAP)
    kinds = [type(reading).__name__ for reading in read(f'{good}\n{{"box_dim": [}}\n{good}\nnonsense\n{good}')]
    assert kinds == ["Reading", "UnreadableError", "Reading", "UnreadableError", "Reading"]


@pytest.mark.parametrize("cut", ['{"dtype"', '{"dtype": "float16", "global_dim": [128,', '{"note": {', "{"])
@pytest.mark.parametrize("before", ["", "  "])
def test_a_line_that_was_cut_off_takes_none_of_those_below_along(cut, before):
    good = json.dumps(MAP)
    readings = list(read("\n".join(before + line for line in (good, cut, good, good))))
    assert [type(reading).__name__ for reading in readings] == ["Reading", "UnreadableError", "Reading", "Reading"]


def test_a_long_object_that_breaks_is_one_error_and_not_one_a_line():
    events = [{"t": "w0", "op": "arrive", "bar": "full"}] * 3
    text = json.dumps({"events": events}, indent=1)
    [error] = read(text.replace('"full"', '"full", ', 1))
    assert "not JSON" in str(error)


def test_an_object_that_is_no_question_of_anyone_s_is_not_called_broken():
    text = json.dumps({"events": [{"t": "w0", "op": "arrive", "bar": "full", "note": "x" * 40}] * 20_001})
    [error] = read(text)
    assert "more than 20000 brackets" in str(error)
    assert (error.line, error.column) == (1, 1)


@pytest.mark.parametrize(("change", "place"), [
    ({"box_dim": [64, 8.5]}, "8.5"), ({"global_dim": [128, "16"]}, '"16"'), ({"swizzle": "96B"}, '"96B"'),
    ({"dtype": "float17"}, '"float17"'), ({"global_strides": [256, 512, 4]}, "[\n  256,\n  512,"),
    ({"rank": 3}, "3"), ({"element_strides": True}, "true"), ({"address": "0xz"}, '"0xz"'),
])  # fmt: skip
def test_a_wrong_value_is_found_where_it_stands(change, place):
    text = json.dumps({"note": "before", **MAP, **change}, indent=1)
    [reading] = read(text)
    with pytest.raises(UnreadableError) as raised:
        reading.tensor_map()
    assert text[raised.value.offset :].startswith(place)
    assert raised.value.line == text[: text.index(place)].count("\n") + 1


def test_strides_for_every_dimension_are_one_too_many():
    [reading] = read(json.dumps(MAP | {"global_strides": [2, 256]}))
    with pytest.raises(UnreadableError, match="leave out the first"):
        reading.tensor_map()


def test_unknown_keys_can_be_forgiven():
    [reading] = read(json.dumps(MAP | {"view_of": 3}), keep_unknown=True)
    assert "view_of" in reading.notes[0]


def test_values_longer_than_a_window_are_read():
    rank = 300_000
    text = json.dumps([MAP, {"dtype": "uint8", "global_dim": [1] * rank, "box_dim": [16] * rank}, MAP])
    assert [len(fields["global_dim"]) for fields in fields_of(text)] == [2, rank, 2]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=12,
    )
)
def test_any_json_value_is_read_or_reported(value):
    for reading in read_text(json.dumps(value)):
        assert isinstance(reading, (Reading, UnreadableError))


@given(st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=6), st.data())
def test_the_place_of_an_entry_is_that_of_its_digits(values, data):
    index = data.draw(st.integers(0, len(values) - 1))
    made = {"note": {"box_dim": [0]}, "box_dim": values}
    text = json.dumps(made)
    at = place_of_field(text, 0, made, f"box_dim[{index}]")
    assert text[at:].startswith(json.dumps(values[index]))
