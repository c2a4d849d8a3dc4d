"""The box explorer: it draws what the bytes say, every place is recorded, and any other is the model's and says so."""

import gzip
import json
import re

import pytest

from tmalab import observe
from tmalab.errors import InputError
from tmalab.experiment.box_cases import BOX_COORDS, BOX_MAPS
from tmalab.figures import BoxFigure
from tmalab.figures.box_state import NOT_MEASURED, read_edit, write_edit
from tmalab.figures.box_tables import EXAMPLES

HEAD = ["Box element", "Shared byte", "The hardware left", "The model says", "Equal"]


@pytest.fixture(scope="module")
def figure():
    return BoxFigure(observe)


def at(figure, **state):
    for name, value in {"edit": "", "base": 0, "layer": 0, "coords": [], **state}.items():
        setattr(figure, name, value)
    return figure


# --- recorded ---------------------------------------------------------------------------------------------------------


def test_every_place_is_recorded_and_as_the_model_says(figure):
    for example in figure.spec["examples"]:
        assert example["copies"]
        for place, copy in example["copies"].items():
            assert copy["line"] >= 0, (example["name"], place)
            assert copy.get("differing", 0) == 0
            assert copy.get("changed", []) == []


def test_one_map_serves_all_places(figure):
    plane = figure.spec["examples"][0]
    assert plane["fields"]["box_dim"] == [8, 4]
    assert len(plane["copies"]) == len(BOX_COORDS["plane"]) == 55
    assert {copy["verdict"] for copy in plane["copies"].values()} == {"runs"}


def test_it_has_every_rank_and_every_way_to_fail(figure):
    ranks = {len(example["fields"]["global_dim"]) for example in figure.spec["examples"]}
    outcomes = {copy["outcome"] for example in figure.spec["examples"] for copy in example["copies"].values()}
    assert ranks == {1, 2, 3, 4, 5}
    assert outcomes == {"ran", "refused", "ILLEGAL_INSTRUCTION"}


def test_the_first_state_in_words(figure):
    at(figure, example="plane")
    assert figure.sentence() == (
        "Box element (1, 1) is tensor element (5, 3), at byte 192 + 20 → shared byte 36. "
        "0 of 512 bytes differ from the model."
    )
    assert figure.source().startswith("Recorded on NVIDIA H200")
    head, rows = figure.table()
    assert head == HEAD
    assert rows[9] == ["(1, 1)", "36", "element (5, 3)", "element (5, 3)", "equal"]
    assert len(rows) == 32


def test_outside_the_tensor_it_is_filled_and_counted(figure):
    at(figure, example="nan", coords=[12, 6], cell=4)
    assert "is tensor element (16, 6), which does not exist → shared byte 16 is filled with NaN, and counted." in (
        figure.sentence()
    )
    assert figure.data()["transaction_bytes"] == 128
    figure.cell = 9


def test_a_layer_of_a_deeper_box(figure):
    at(figure, example="rank-3", coords=[4, 2, 3], layer=1)
    assert figure.sentence().startswith("Box element (1, 1, 1) is tensor element (5, 3, 4), which does not exist")
    at(figure, example="rank-3", coords=[4, 2, 0], layer=9)  # there is none: the last one
    assert figure.sentence().startswith("Box element (1, 1, 1) is tensor element (5, 3, 1), at byte 704 + 20")


def test_refusals_say_who_refused(figure):
    at(figure, example="refused")
    assert figure.sentence().endswith("nothing to copy with. The driver refused it.")
    assert "a row of the box must be a multiple of 16 bytes" in figure.data()["verdict"][0]
    at(figure, example="fault")
    assert figure.sentence() == "The engine refuses the copy. The launch ended with ILLEGAL_INSTRUCTION."
    assert figure.table() == (HEAD, [])


# --- changed and missing ----------------------------------------------------------------------------------------------


def test_one_flipped_byte_is_told_and_no_other(stand_in):
    figure = BoxFigure(stand_in(change={"box/plane/4_2": [(38, 0xFF)]}))
    assert figure.sentence().endswith("1 of 512 bytes differs from the model.")
    wrong = [row for row in figure.table()[1] if row[4] == "differs"]
    assert [row[:2] for row in wrong] == [["(1, 1)", "36"]]
    assert wrong[0][2].startswith("bytes ")
    assert not [row for row in at(figure, coords=[4, 3]).table()[1] if row[4] == "differs"]


def test_an_element_in_the_wrong_place_is_named(stand_in):
    other = [(36 + i, byte) for i, byte in enumerate((0x00, 0x00, 0x80, 0x43))]  # 256, the tensor's first element
    figure = BoxFigure(stand_in(change={"box/plane/4_2": other}))
    assert figure.table()[1][9][2:] == ["element (0, 0)", "element (5, 3)", "differs"]


def test_a_byte_beside_the_box_counts_too(stand_in):
    figure = BoxFigure(stand_in(change={"box/plane/4_2": [(500, 0)]}))
    assert figure.sentence().endswith("1 of 512 bytes differs from the model.")
    assert "differs" not in {row[4] for row in figure.table()[1]}


def test_a_copy_that_ended_otherwise_says_so(stand_in):
    figure = BoxFigure(stand_in(values={"fault/box-column-2": {"completed": False, "error": "MISALIGNED_ADDRESS"}}))
    assert at(figure, example="fault").sentence().endswith("MISALIGNED_ADDRESS.")


def test_what_is_not_recorded_is_the_model_s(stand_in):
    figure = BoxFigure(stand_in(missing={"box/plane/4_2"}))
    assert figure.source() == NOT_MEASURED
    assert figure.sentence().endswith("Model, not measured.")
    assert {row[2] for row in figure.table()[1]} == {"not measured"}
    assert at(figure, coords=[4, 3]).source() != NOT_MEASURED
    assert BoxFigure(None).source() == NOT_MEASURED


def test_any_other_state_is_computed(figure):
    at(figure, example="plane", coords=[0, 100])
    assert figure.source() == NOT_MEASURED
    at(figure, edit="float16;64.8;128;32.4;1.1;64B;none", coords=[8, 1])
    assert figure.sentence() == (
        "Box element (9, 0) is tensor element (17, 1), at byte 128 + 34 → shared byte 18. Model, not measured."
    )
    assert figure.data()["tensor_map"]["swizzle"] == "64B"
    at(figure, edit="float32;16.8;64;9.4;1.1;none;none")
    assert figure.data()["verdict"][0].startswith("box_dim[0]=9 float32 elements is 36 bytes")


# --- the state --------------------------------------------------------------------------------------------------------


def test_an_edit_is_read_as_it_was_written():
    for example in EXAMPLES:
        fields = read_edit(write_edit(example.tensor_map.to_dict()))
        assert all(fields[name] == value for name, value in example.tensor_map.to_dict().items() if name in fields)


@pytest.mark.parametrize(
    ("state", "field"),
    [
        ({"example": "cube"}, "example"), ({"view": "x-ray"}, "view"), ({"edit": "float32"}, "edit"),
        ({"edit": "float32;a;64;8.4;1.1;none;none"}, "edit"), ({"base": -128}, "base"), ({"layer": -1}, "layer"),
        ({"coords": ["a"]}, "coords"),
    ],
)  # fmt: skip
def test_a_state_that_cannot_be_read_is_named(stand_in, state, field):
    with pytest.raises(InputError, match=field):
        BoxFigure(stand_in(), **state)


def test_the_kernel_answers_what_a_worker_would(stand_in, monkeypatch):
    figure, sent = BoxFigure(stand_in()), []
    monkeypatch.setattr(figure, "send", lambda content, buffers=None: sent.append(content))
    question = json.dumps({"tensor_map": BOX_MAPS["plane"].to_dict(), "coords": [4, 2], "smem_base": 0})
    figure._answer(figure, {"number": 7, "question": question}, [])
    figure._answer(figure, {"else": 1}, [])
    ((reply),) = sent
    assert reply["number"] == 7
    assert json.loads(reply["answer"])["inside"] == [[0, 8], [0, 4]]
    figure._answer(figure, {"number": 8, "question": "nonsense"}, [])
    assert "error" in json.loads(sent[1]["answer"])


# --- forms ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("example", [example.name for example in EXAMPLES])
def test_the_still_names_no_gpu_and_shows_the_state(figure, example):
    svg = at(figure, example=example).svg()
    assert "H200" not in svg
    assert "box_dim" in svg
    assert svg.count("NaN") == {"nan": 24}.get(example, 0)


def test_the_page_is_small_and_the_same_each_time(figure):
    at(figure, example="plane")
    html = figure.html()
    state = re.search(r'<script type="application/json">(.*?)</script>', html).group(1)
    assert len(gzip.compress(state.encode(), 6)) < 8_000
    assert len(gzip.compress(html.encode(), 6)) < 16_000
    assert "H200" not in state
    assert html == figure.html()
    assert repr(figure) == ("BoxFigure(example='plane', view='hardware', coords=[], base=0, edit='', layer=0, cell=9)")


@pytest.mark.parametrize("suffix", [".svg", ".json", ".html"])
def test_it_is_saved_in_every_form(figure, suffix, tmp_path):
    at(figure, example="strides").save(tmp_path / f"box{suffix}")
    assert "(8, 8)" in (tmp_path / f"box{suffix}").read_text("utf-8") or suffix == ".json"
