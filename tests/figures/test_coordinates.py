"""A coordinate tensor: its tables against arrays made by hand, its calls against CuTe's, the state without a run."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from tmalab import observe
from tmalab.errors import HardwareError, InputError, RecordingError
from tmalab.experiment.observation import Observation, Provenance
from tmalab.figures import CoordinatesFigure
from tmalab.figures.coordinates_tables import COLS, ROWS, SHADES, SHOWN, STRIPS, TILES, VIEWS
from tmalab.model.coordinate_tensor import CoordinateTensor


def made_up(case) -> Observation:
    """A run that never was: times that tell their tile, the SMs in reverse, and one element wrong in tile (5, 3)."""
    block, column = np.arange(STRIPS)[:, None], np.arange(TILES)[None, :]
    issued = (32 * (block % 16) + 2048 * column).astype(np.int32)
    differ = np.zeros((STRIPS, TILES), np.int32)
    differ[5, 3] = 1
    arrays = {
        "issued_ns": issued, "landed_ns": (issued + 1024 + 32 * (block % 3)).astype(np.int32), "differ": differ,
        "sm": np.arange(STRIPS)[::-1].astype(np.int16),
    }  # fmt: skip
    values = {
        "completed": True, "error": None, "timer_step_ns": 32, "elements": ROWS * COLS,
        "package": {"name": "cute", "version": "0.0"},
    }  # fmt: skip
    where = Provenance("NVIDIA H200", "9.0", "580.0", "13.0", "13.0", "cute/strips.py", "0" * 64, "2000-01-01", 21)
    return Observation(case, arrays, values, where, "recorded")


@pytest.fixture
def figure():
    return CoordinatesFigure(made_up)


def test_every_tile_has_its_own_time_and_place(figure, put):
    found, seen = figure._found, made_up(None)
    assert found.issued == seen["issued_ns"].ravel().tolist()
    assert found.landed == seen["landed_ns"].ravel().tolist()
    assert found.differ == seen["differ"].ravel().tolist()
    for tile in range(STRIPS * TILES):
        block, column = divmod(tile, TILES)
        assert put(figure, view="model").cell(tile) == (f"{block},{column}", None)
        assert put(figure, view="difference").cell(tile)[0] == str(int(tile == 5 * TILES + 3))
        assert put(figure, view="hardware", shown="SM").cell(tile)[0] == str(STRIPS - 1 - block)
        assert put(figure, shown="landed").cell(tile)[0] == f"{seen['landed_ns'][block, column] / 1000:.1f}"


@pytest.mark.parametrize("shown", SHOWN)
def test_a_shade_is_that_of_its_key(figure, put, shown):
    found = put(figure, shown=shown)
    assert 1 < len(found.key) <= SHADES
    edges = {tone: [float(word) for word in words.split(" to ")] for tone, words in found.key}
    for tile in range(STRIPS * TILES):
        value = found.sm[tile // TILES] if shown == "SM" else found.landed[tile] / 1000
        low, high = edges[found.cell(tile)[1]]
        assert low <= value <= high


def test_the_calls_are_the_model_s_for_every_tile(figure, put):
    whole = CoordinateTensor.of((ROWS, COLS))
    for block, column in ((1, 2), (0, 0), (131, 6), (64, 5)):
        calls = dict(put(figure, block=block, column=column).calls())
        tile = whole.local_tile((64, 256), (block, column))
        row, col = 64 * block, 256 * column
        assert list(calls.values()) == [
            str(whole), str(tile), str(tile.group_modes(0, 2)), str(tile.group_modes(0, 2).partition()),
            f"cp.async.bulk.tensor.2d … [map, {{{col}, {row}}}] …",
        ]  # fmt: skip
        assert f"({block}, {column})" in list(calls)[1]
        assert figure.data()["element"] == [row, col]
        assert figure.data()["coords"] == [col, row]


def test_block_1_iteration_2_is_element_64_512(figure, put):
    assert "element (64, 512)" in put(figure, view="model").sentence()
    assert "{512, 64}" in figure.sentence()


def test_the_sentences_say_what_was_seen(figure, put):
    assert put(figure, block=5, column=3).sentence() == (
        "Tile (5, 3), rows 320 to 383 and columns 768 to 1023: block 5 ran on SM 126. The load was issued 6304 ns "
        "after the first of all and seen complete 1088 ns later, in steps of 32 ns."
    )
    assert (
        put(figure, view="difference")
        .sentence()
        .endswith("1 of 16384 elements differ from the matrix, and 1 of 15138816 in all.")
    )


def test_the_chart_draws_the_chosen_block_and_four_others(figure, put):
    for block in (0, 1, 66, 131):
        lanes = put(figure, block=block, column=6).lanes()
        assert lanes[0].name == f"block {block}"
        assert len({lane.name for lane in lanes}) == 5
        assert [mark.kind for mark in lanes[0].marks] == ["outline"] * 6 + ["solid"]
        assert all(one.end <= other.start for one, other in zip(lanes[0].marks, lanes[0].marks[1:], strict=False))
    assert put(figure, view="model").lanes() == []


def test_the_table_has_a_row_a_block(figure):
    head, rows = figure.table()
    assert len(rows) == STRIPS
    assert {len(row) for row in rows} == {len(head)}
    assert rows[5][-1] == "1"
    assert rows[1][:3] == ["1", "64 to 127", "130"]


def not_recorded(case):
    raise RecordingError("not recorded yet", field="case", value=case.name)


@pytest.mark.parametrize("observe", [None, not_recorded])
def test_without_a_recording_the_model_stands_alone_and_says_so(observe):
    figure = CoordinatesFigure(observe)
    assert "not measured" in figure.source()
    assert figure.sentence().endswith("Not measured.")
    assert figure.data()["measured"] is None
    assert all(row[2:] == ["–"] * 4 for row in figure.table()[1])
    for view in VIEWS:
        assert "<svg" in CoordinatesFigure(observe, view=view).svg()


def test_a_damaged_recording_and_a_failed_run_are_errors():
    def damaged(case):
        raise RecordingError("damaged", field="file", value="x")

    with pytest.raises(RecordingError):
        CoordinatesFigure(damaged)
    with pytest.raises(HardwareError, match="TIMEOUT"):
        CoordinatesFigure(lambda case: replace(made_up(case), values={"completed": False, "error": "TIMEOUT"}))


def test_a_state_that_it_does_not_have_is_refused(figure):
    with pytest.raises(InputError, match="0 to 131"):
        figure.block = 132
    with pytest.raises(InputError):
        figure.shown = "cycles"


def test_it_goes_into_a_page_and_all_of_it_is_volatile(figure, tmp_path):
    html = figure.html()
    assert len(html) < 64_000
    assert html.count("<section data-volatile>") == 1
    figure.save(tmp_path / "x.json")
    saved = json.loads((tmp_path / "x.json").read_text(encoding="utf-8"))
    assert len(saved["measured"]["landed_ns"]) == STRIPS * TILES
    assert saved["state"] == {"view": "hardware", "shown": "landed", "block": 1, "column": 2}


def test_the_recorded_run_has_a_multiprocessor_a_block_and_nothing_differs():
    figure = CoordinatesFigure(observe)
    measured = figure.data()["measured"]
    assert sorted(measured["sm"]) == list(range(STRIPS))
    assert set(measured["differ"]) == {0}
    assert measured["version"] == "CuTe DSL 4.8.1"
    assert len(figure.html()) < 64_000
