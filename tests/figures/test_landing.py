"""The tile landing: its cells against the recorded arrays, its scale, its frames, and what is not recorded."""

import json
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tmalab import observe
from tmalab.errors import HardwareError, InputError, RecordingError
from tmalab.experiment.timeline_cases import LANDINGS
from tmalab.figures import LandingFigure
from tmalab.figures.landing_tables import FRAMES, SHADES, SHOWN, TILES, WARMTHS, bins, landing_spec

RECORDED = [(tile, warmth) for tile, warmth in product(TILES, WARMTHS) if warmth != "cold-data" or tile == "64x64-128B"]
every = pytest.mark.parametrize(("tile", "warmth"), RECORDED)


@pytest.fixture(scope="module")
def figure():
    return LandingFigure(observe)


@every
def test_the_cells_hold_what_was_recorded(figure, put, tile, warmth):
    seen = observe(f"landing/{tile}/{warmth}", live=False)
    found = put(figure, tile=tile, warmth=warmth, shown="one run", frame=FRAMES)
    assert found.values == seen["landed"].tolist()
    assert [run - gap for run, gap in zip(found.run, found.gaps, strict=True)] == seen["landed_before"].tolist()
    assert put(figure, shown="median").values == seen["landed_median"].tolist()
    assert put(figure, shown="spread").values == (seen["landed_high"] - seen["landed_low"]).tolist()
    assert found.one["complete"] == seen["complete"][seen["drawn"]]
    assert None not in found.shades


@every
def test_the_shades_are_those_of_the_key(figure, put, tile, warmth):
    for shown in SHOWN:
        found = put(figure, tile=tile, warmth=warmth, shown=shown, frame=FRAMES)
        first, width, many = found.bins
        assert width >= found.one["resolution"]
        assert len(found.key) == many <= SHADES
        for value, shade in zip(found.values, found.shades, strict=True):
            (words,) = [words for key_shade, words in found.key if key_shade == shade]
            low, high = (int(one) for one in words.split(" to "))
            assert low <= value <= high
        assert min(found.values) >= first


@given(st.lists(st.integers(0, 5000), min_size=1, max_size=40), st.integers(1, 160))
def test_bins_hold_every_time_and_are_never_finer_than_the_looks(times, resolution):
    first, width, many = bins(times, resolution)
    assert width >= resolution
    assert many <= SHADES
    assert first <= min(times)
    assert max(times) < first + width * many
    assert first % width == 0


@every
def test_the_frames_go_from_nothing_to_all(figure, put, tile, warmth):
    seen, counts = observe(f"landing/{tile}/{warmth}", live=False), []
    for frame in range(FRAMES + 1):
        found = put(figure, tile=tile, warmth=warmth, shown="one run", frame=frame)
        counts.append(sum(shade is not None for shade in found.shades))
        assert counts[-1] == (seen["landed"] <= found.now).sum()
        assert found.landed().startswith(f"{counts[-1]} of {len(found.values)} landed by {found.now} cycles")
    assert counts[0] == 0
    assert counts[-1] == len(found.values)
    assert counts == sorted(counts)


def test_a_piece_is_told_by_its_bytes_and_rows(figure, put):
    by = {tile: put(figure, tile=tile, warmth="warm") for tile in TILES}
    assert by["64x64-128B"].place(5) == ("640 to 767", "5")
    assert by["32x128-64B"].place(5) == ("640 to 767", "10 to 11")
    assert by["256x32-none"].place(5) == ("640 to 767", "1")
    assert by["64x128-128B-by-32"].place(5) == ("160 to 191", "1")
    for (box, _, piece), tile in zip(LANDINGS, TILES, strict=True):
        pieces = 2 * box[0] * box[1] // piece
        assert by[tile].place(pieces - 1)[0].endswith(f" {2 * box[0] * box[1] - 1}")
        assert by[tile].place(pieces - 1)[1].endswith(str(box[1] - 1))


def test_the_sentence_gives_the_look_that_saw_it_and_the_one_before(figure, put):
    seen = observe("landing/64x64-128B/cold", live=False)
    found = put(figure, tile="64x64-128B", warmth="cold", shown="one run", frame=FRAMES, piece=9)
    words = found.sentence()
    assert words.startswith("Piece 9, bytes 1152 to 1279 of the tile (row 9 of the box): seen changed ")
    assert f"seen changed {seen['landed'][9]} cycles" in words
    assert f"the look at {seen['landed_before'][9]} had still found the old word" in words
    assert f"Median of 100 runs: {seen['landed_median'][9]}" in words


def test_the_lanes_say_what_the_barrier_awaited(figure, put):
    found = put(figure, tile="64x64-128B", warmth="warm")
    lanes = {lane["name"]: lane["marks"] for lane in found.one["lanes"]}
    awaited = [int(mark["text"]) for mark in lanes["KB to come"]]
    assert awaited[0] == 8
    assert awaited[-1] == 0
    assert awaited == sorted(awaited, reverse=True)
    assert len(awaited) > 2, "one load's bytes are counted in pieces"
    assert lanes["barrier"][0]["to"] == found.one["complete"]
    others = {lane["name"] for lane in put(figure, tile="64x128-128B", warmth="warm").one["lanes"]}
    assert "KB to come" not in others


@every
def test_every_state_has_its_picture_sentence_and_table(figure, put, tile, warmth):
    put(figure, tile=tile, warmth=warmth, shown="one run", frame=7, piece=511)
    assert figure.svg().startswith("<svg ")
    head, rows = figure.table()
    assert {len(row) for row in rows} == {len(head)}
    assert len(rows) == len(figure.data()["landed_cycles"]) == figure._found.tile["pieces"]
    assert rows[-1][3] == str(figure._found.run[-1])
    assert figure.source().startswith("Recorded on NVIDIA H200")


def test_what_is_not_recorded_says_so(figure, put):
    found = put(figure, tile="32x128-64B", warmth="cold-data", piece=0)
    assert found.one is None
    assert figure.source() == "Not measured: there is no recording of this state, and the model has no clock."
    assert figure.sentence().endswith("not measured.")
    assert "Not measured" in figure.svg()
    assert figure.table()[1][0][3:] == ["–"] * 4
    assert figure.data()["measured"] is None
    assert set(LandingFigure(None).provenance["states"]) == {None}


def test_a_flipped_time_moves_its_cell_and_no_other():
    def later(case):
        seen = observe(case, live=False)
        if case.name != "landing/64x64-128B/cold":
            return seen
        landed = seen["landed"].copy()
        landed[7] += 500
        return replace(seen, arrays={**seen.arrays, "landed": landed})

    both = [LandingFigure(given)._found.run for given in (observe, later)]
    assert [piece for piece, (one, other) in enumerate(zip(*both, strict=True)) if one != other] == [7]


def test_a_damaged_recording_and_a_failed_run_are_no_answer():
    def damaged(case):
        raise RecordingError("the recording is damaged", field="file", value="x.npz")

    def failed(case):
        return replace(observe(case, live=False), values={"completed": False, "error": "TIMEOUT"})

    with pytest.raises(RecordingError, match="damaged"):
        landing_spec(damaged, "Landing")
    with pytest.raises(HardwareError, match="ended with TIMEOUT"):
        landing_spec(failed, "Landing")


@pytest.mark.parametrize("state", [{"tile": "1x1"}, {"warmth": "hot"}, {"shown": "mean"}, {"frame": 13}, {"piece": -1}])
def test_a_state_that_it_does_not_have_is_an_error(state):
    with pytest.raises(InputError, match=next(iter(state))):
        LandingFigure(None, **state)


def test_its_data_is_plain_json_and_small(figure, put):
    assert len(json.dumps(figure.provenance, separators=(",", ":"))) <= 90_000
    assert "landed" not in json.dumps(figure.spec)
    put(figure, tile="64x64-128B", warmth="cold", shown="one run", frame=FRAMES, piece=0)
    assert repr(figure) == "LandingFigure(tile='64x64-128B', warmth='cold', shown='one run', frame=12, piece=0)"


def test_looks_follow_each_other_as_the_figure_says():
    for tile, warmth in RECORDED:
        seen = observe(f"landing/{tile}/{warmth}", live=False)
        gaps = seen["landed"] - seen["landed_before"]
        assert (gaps > 0).all()
        assert np.median(gaps) <= 3 * seen["resolution_cycles"]
