"""What does my access cost? Every state that the controls reach is measured and as foretold; any other says so."""

import gzip
import json
from dataclasses import replace

import numpy as np
import pytest

from tmalab import observe
from tmalab.checker.cost import cost_answer
from tmalab.errors import InputError, RecordingError
from tmalab.experiment.bank_patterns import patterns_of
from tmalab.experiment.cost_cases import COST_DTYPES, COST_LAYOUTS, COST_ROW_BYTES, COST_ROWS, cost_accesses, cost_tiles
from tmalab.figures import CostFigure
from tmalab.figures.cost_state import HEAD, NOT_MEASURED
from tmalab.figures.cost_tables import layout_key, question_of, read_numbers, recorded_number
from tmalab.model.tile_cost import MATRIX_ACCESSES, TILE_ACCESSES, TileAccess

FIRST = {
    "dtype": "float32", "rows": 32, "row_bytes": 128, "swizzle": "none", "padding": 0, "base": 0, "access": "column",
    "width": "element", "edit": "", "view": "hardware", "wave": 0, "lane": 0,
}  # fmt: skip


@pytest.fixture(scope="module")
def figure():
    return CostFigure(observe)


def at(figure, **state):
    for name, value in {**FIRST, **state}.items():
        setattr(figure, name, value)
    return figure


def slower(case):
    """The recording, in which 32 conflicting lanes took one wavefront, and one cycle, more."""
    seen = observe(case)
    counted = np.where(seen["wavefronts"] == 32, 33, seen["wavefronts"])
    return replace(seen, arrays={**seen.arrays, "wavefronts": counted, "cycles": seen["cycles"] + 1})


def damaged(case):
    raise RecordingError("its SHA-256 differs", field="file", value="cost.npz", fix="restore it")


# --- recorded ---------------------------------------------------------------------------------------------------------


def test_every_state_of_the_controls_is_measured_and_as_the_model_says(figure):
    states = 0
    for rows in COST_ROWS:
        for row_bytes in COST_ROW_BYTES:
            for swizzle, padding in COST_LAYOUTS:
                numbers = figure.spec["costs"][f"{rows}.{row_bytes}.{swizzle}.{padding}"]
                assert len(numbers) == len(figure.spec["reads"])
                for number in numbers:
                    states += 1
                    if number < 0:
                        assert padding
                        assert "would fault" in figure.spec["refused"][-1 - number]
                        continue
                    _, waves, degree, fewest, cycles = figure.spec["patterns"][number]
                    took, spread, counted = figure.provenance["measured"][number]
                    count = 1 + max(int(sign, 36) for sign in figure.spec["waves"][waves])
                    assert counted == count >= max(degree, fewest)
                    assert took == pytest.approx(cycles, abs=0.15)
                    assert spread < 0.3
    assert states == 2 * 4 * 7 * 18


def test_the_tables_hold_what_the_model_answers(figure):
    reads = list(cost_accesses())
    for tile in [tile for i, tile in enumerate(cost_tiles()) if i % 5 == 0]:
        for access, number in zip(reads, figure.spec["costs"][layout_key(tile)], strict=True):
            if number < 0:
                continue
            answer = cost_answer(question_of(tile, access))
            addresses, waves, degree, fewest, cycles = figure.spec["patterns"][number]
            assert read_numbers(addresses) == answer["addresses"]
            assert [answer[name] for name in ("degree", "min_count", "cycles")] == [degree, fewest, cycles]
            signs = figure.spec["waves"][waves]
            for at_wave, wave in enumerate(answer["waves"]):
                assert {int(signs[lane], 36) for lane in wave["lanes"]} == {at_wave}
            assert figure.spec["noted"][figure.spec["notes"][layout_key(tile)]] == answer["notes"]


def test_the_controls_have_every_access_and_width(figure):
    assert figure.spec["choices"]["access"] == [*TILE_ACCESSES, "expression"]
    for dtype in COST_DTYPES:
        for access in TILE_ACCESSES:
            for width in figure.spec["choices"]["width"]:
                assert (
                    at(figure, dtype=dtype, access=access, width=width).source().startswith("Recorded on NVIDIA H200")
                )


def test_the_first_state_in_words(figure):
    at(figure)
    assert figure.sentence() == (
        "Lane 0 reads row 0, bytes 0–3 of the tile → shared byte 0, word 0 of bank 0. It comes in wavefront 1 of 32. "
        "The hardware took 32 wavefronts."
    )
    head, rows = figure.table()
    assert tuple(head) == HEAD
    assert rows[31] == ["31", "31", "0–3", "3968", "992", "0", "32"]


def test_a_lane_and_a_wavefront_may_be_looked_at(figure):
    at(figure, access="ldmatrix", dtype="float16", swizzle="128B", wave=2, lane=9)
    assert figure.sentence().startswith(
        "Lane 9 names row 1 of matrix 1: row 9, bytes 0–15 of the tile → shared byte 1168, words 292–295 of banks 4–7."
    )
    assert figure.svg().count("class='small'") == 8 * 4
    assert at(figure, access="ldmatrix", swizzle="128B").svg().count("class='small'") == 32 * 4


def test_data_is_the_state_and_its_price(figure):
    data = at(figure, width="16", swizzle="64B").data()
    assert (data["degree"], data["measured"]["count"], data["cycles"]) == (2, 8, 8)
    assert data["advice"] == "128B frees it, and is the widest swizzle that does."
    assert data["provenance"].startswith("Recorded on NVIDIA H200")
    assert json.loads(json.dumps(data))["state"]["swizzle"] == "64B"


# --- not recorded, wrong, missing -------------------------------------------------------------------------------------


def test_a_typed_expression_that_is_not_recorded_is_the_model_s_and_says_so(figure):
    at(figure, access="expression", edit="lane * 8")
    assert figure.data()["degree"] == 2
    assert figure.source() == NOT_MEASURED
    assert figure.sentence().endswith("Model, not measured.")
    assert figure.data()["measured"] is None
    assert at(figure, base=128).source() == NOT_MEASURED
    assert at(figure, rows=20).source() == NOT_MEASURED


def test_a_typed_expression_is_measured_where_its_addresses_width_and_operation_are_recorded(figure):
    for edit, state, named in (
        ("lane % rows, 0", {}, "column"),
        ("128 * lane", {"lane": 7}, "column"),
        ("row, col", {"width": "16", "swizzle": "64B"}, "row"),
    ):
        told = at(figure, access="expression", edit=edit, **state).data()
        known = at(figure, access=named, **state).data()
        assert told["provenance"].startswith("Recorded on NVIDIA H200")
        assert [told[name] for name in ("measured", "cycles", "table")] == [
            known[name] for name in ("measured", "cycles", "table")
        ]
    at(figure, access="expression", edit="lane % 16, lane / 16", width="16")  # as ldmatrix, but an ordinary load
    matrix = cost_answer(question_of(figure._found.tile, TileAccess("ldmatrix", 16)))
    assert figure._found.told["addresses"] == matrix["addresses"]
    assert figure.source() == NOT_MEASURED
    assert at(figure, access="ldmatrix").data()["measured"]
    at(figure, access="expression", edit="0", width="4")
    assert figure.source() == NOT_MEASURED


def test_each_pattern_of_the_tables_is_found_by_what_it_does(figure):
    for layout, row in list(figure.spec["costs"].items())[::5]:
        for read, number in zip(figure.spec["reads"], row, strict=True):
            if number >= 0:
                name, width = read.split(".")
                addresses = read_numbers(figure.spec["patterns"][number][0])
                assert recorded_number(figure.spec, TileAccess(name, int(width)), addresses) == number, layout
    assert (
        recorded_number(figure.spec, TileAccess("expression", 4, "store"), [128 * lane for lane in range(32)]) is None
    )


def test_the_model_s_view_says_nothing_of_the_hardware(figure):
    for state in ({}, {"access": "expression", "edit": "lane * 8"}):
        at(figure, view="model", **state)
        assert figure.sentence().endswith("wavefront 1 of 32." if not state else "wavefront 1 of 2.")
        assert "measured" not in figure.svg()


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ({"access": "expression", "edit": "lane * lan"}, "column 8: no name 'lan'"),
        ({"access": "expression", "edit": ""}, "column 1: a value is missing before the end"),
        ({"padding": 4, "width": "8"}, "rows begin 132 bytes apart; an access of 8 bytes would fault"),
        ({"row_bytes": 2}, "a row does not hold one vector"),
        ({"rows": 10**9}, "larger than any shared memory"),
    ],
)
def test_what_no_warp_can_do_is_said(figure, state, words):
    at(figure, **state)
    assert words in figure.sentence()
    assert figure.table() == (HEAD, [])
    assert ("This cannot be computed" if "edit" in state else "No warp can do this") in figure.svg()
    assert words in figure.data()["error"]


def test_without_a_recording_it_says_so_and_a_damaged_one_is_an_error(stand_in):
    figure = CostFigure(None)
    assert figure.source() == NOT_MEASURED
    assert set(figure.provenance["measured"]) == {None}
    figure = CostFigure(stand_in(missing={"cost/grid"}))
    assert figure.sentence().endswith("Model, not measured.")
    with pytest.raises(RecordingError):
        CostFigure(damaged)


def test_the_hardware_s_own_count_is_told():
    figure = CostFigure(slower)
    assert figure.sentence().endswith("It comes in wavefront 1 of 32. The hardware took 33 wavefronts.")
    assert figure.data()["measured"]["cycles"] == pytest.approx(33, abs=0.2)


@pytest.mark.parametrize(
    "state",
    [
        {"dtype": "int4"}, {"swizzle": "96B"}, {"access": "zigzag"}, {"width": "3"}, {"view": "both"}, {"lane": 32},
        {"lane": -1}, {"rows": 0}, {"row_bytes": 0}, {"padding": -4}, {"base": -1}, {"wave": -1},
    ],
)  # fmt: skip
def test_a_state_that_cannot_be_is_refused(figure, state):
    with pytest.raises(InputError) as caught:
        at(figure, **state)
    assert caught.value.field == next(iter(state))
    at(figure)


# --- pages and print --------------------------------------------------------------------------------------------------


def test_its_html_is_small_and_what_changes_from_run_to_run_stands_apart(figure):
    html = at(figure).html()
    assert len(html) < 80_000
    assert len(gzip.compress(html.encode())) < 20_000
    volatile = [json.dumps(CostFigure(one).spec, sort_keys=True) for one in (observe, slower, None)]
    assert len(set(volatile)) == 1


def test_it_answers_the_page_s_question(figure, monkeypatch):
    sent = []
    monkeypatch.setattr(figure, "send", sent.append)
    question = {"tile": {"rows": 8, "row_bytes": 64}, "access": {"access": "row", "width_bytes": 8}}
    figure._answer(None, {"number": 7, "question": json.dumps(question)}, None)
    figure._answer(None, "noise", None)
    (answer,) = sent
    assert answer["number"] == 7
    assert json.loads(answer["answer"])["degree"] == 1


@pytest.mark.parametrize(
    ("state", "tallest", "words"),
    [({}, 32, 32), ({"width": "16", "swizzle": "32B", "wave": 3}, 3, 128), ({"access": "row"}, 1, 32)],
)
def test_for_print_it_is_a_matplotlib_figure(figure, state, tallest, words, tmp_path):
    printed = at(figure, **state).matplotlib()
    above, below = printed.axes
    assert len(above.patches) == 32
    assert max(bar.get_height() for bar in above.patches) == tallest
    assert len(below.texts) == words
    assert printed.texts[0].get_text().startswith("Recorded on NVIDIA H200")
    printed.savefig(tmp_path / "banks.pdf")
    assert (tmp_path / "banks.pdf").stat().st_size > 5_000


def test_what_cannot_run_cannot_be_printed(figure):
    with pytest.raises(InputError, match="nothing to draw"):
        at(figure, padding=4, width="8").matplotlib()


def test_the_recording_has_each_pattern_once(figure):
    seen = observe("cost/grid")
    patterns = patterns_of(seen.case.params)
    assert len(set(patterns)) == len(patterns) == len(seen["cycles"])
    assert set(MATRIX_ACCESSES.values()) <= {pattern.op for pattern in patterns}
