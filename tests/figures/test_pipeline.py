"""A pipeline: its lanes against the recorded moments, its bubbles counted again, the model, runs that were changed."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest

from tmalab import observe
from tmalab.errors import HardwareError, InputError, RecordingError
from tmalab.experiment.catalogue import cases
from tmalab.experiment.pipeline_cases import FMA, PLACES, STAGES, TILE_BYTES, TILES, pipeline_case
from tmalab.experiment.pipeline_runs import costs_of, moments_of
from tmalab.figures import PipelineFigure
from tmalab.figures.pipeline_lanes import bands, lanes_of
from tmalab.figures.pipeline_state import HIDDEN
from tmalab.figures.pipeline_tables import DRAWN, MOMENTS, NOISE, STEADY, VIEWS, pipeline_spec
from tmalab.model.pipeline import hiding_stages, run_pipeline

LOOKED_AT = [(4096, 0, 1), (4096, 0, 3), (16384, 0, 2), (16384, 128, 1), (16384, 0, 8), (32768, 512, 7)]
every = pytest.mark.parametrize(("tile", "compute", "stages"), LOOKED_AT)


@pytest.fixture(scope="module")
def figure():
    return PipelineFigure(observe)


@pytest.fixture(scope="module")
def costs():
    return observe(cases()["pipeline/costs"], live=False)


def put(figure, **state):
    for name, value in {"view": "hardware", **state}.items():
        setattr(figure, name, value)
    return figure._found


def recorded(tile):
    return observe(pipeline_case("hbm", tile), live=False)


def spans(lanes, name):
    return {mark.key: (mark.start, mark.end) for lane in lanes if lane.name.startswith(name) for mark in lane.marks}


def changed(change):
    """The recordings, but for the steps of their moments, of which `change` is given copies."""

    def seen(case):
        found = observe(case, live=False)
        if not case.name.startswith("pipeline/hbm/"):
            return found
        arrays = {name: array.copy() for name, array in found.arrays.items()}
        change(arrays)
        return replace(found, arrays=arrays)

    return seen


# --- what is drawn, told again from the arrays ------------------------------------------------------------------------


@every
def test_each_mark_stands_where_the_run_was_stamped(figure, tile, compute, stages):
    found = put(figure, tile=tile, compute=compute, stages=stages)
    seen = moments_of(recorded(tile), stages, compute)
    lanes, end = lanes_of(found), found.end
    assert len(lanes) == 3 + stages
    count = sum(1 for at in seen["empty_seen"] if at < end)
    for tile_number in range(count):
        at = {name: int(seen[name][tile_number]) for name in MOMENTS}
        full = min(at["full"], at["full_seen"]) if at["full"] >= 0 else at["full_seen"]
        for name, key, begin, until in (
            ("producer", "issue", at["empty_seen"], at["issued"]),
            ("TMA", "flight", at["issued"], full),
            ("consumers", "work", at["full_seen"], at["read_end"]),
        ):
            drawn = spans(lanes, name).get(f"{key}-{tile_number}")
            assert drawn == ((begin, min(until, end)) if begin < end else None)


@every
def test_a_lane_is_in_order_of_time_and_nothing_leaves_the_window(figure, tile, compute, stages):
    for view in VIEWS:
        found = put(figure, tile=tile, compute=compute, stages=stages, view=view)
        for lane in lanes_of(found):
            assert lane.marks
            assert {mark.row for mark in lane.marks} <= set(range(lane.rows))
            assert all(0 <= mark.start <= mark.end <= found.end for mark in lane.marks)
            for row in range(lane.rows):
                mine = [mark for mark in lane.marks if mark.row == row]
                assert all(one.end <= other.start for one, other in pairwise(mine)), (view, lane.name)


@every
def test_the_phases_of_a_barrier_follow_each_other_with_alternating_parity(figure, tile, compute, stages):
    found = put(figure, tile=tile, compute=compute, stages=stages)
    for stage in range(stages):
        (lane,) = [lane for lane in lanes_of(found) if lane.name == f"stage {stage}"]
        for row, name in enumerate(("full", "empty")):
            mine = [mark for mark in lane.marks if mark.row == row]
            assert all(one.end == other.start for one, other in pairwise(mine))
            assert [mark.text for mark in mine] == ["01"[turn % 2] for turn in range(len(mine))]
            assert mine[0].start == 0
            for turn, mark in enumerate(mine):
                assert mark.say.startswith(f"{name}[{stage}], phase {turn}, parity {turn % 2},")


@every
def test_the_consumers_lane_has_no_gap_and_its_bubbles_are_what_a_wait_took_beyond_its_cost(
    figure, costs, tile, compute, stages
):
    found = put(figure, tile=tile, compute=compute, stages=stages)
    seen = moments_of(recorded(tile), stages, compute)
    (lane,) = [lane for lane in lanes_of(found) if lane.name == "consumers"]
    assert all(one.end == other.start for one, other in pairwise(lane.marks))
    passing = costs_of(costs, "hbm", tile, compute).wait_cycles
    waits = seen["full_seen"] - seen["wait_begin"] - passing
    drawn = {mark.key: mark for mark in lane.marks if mark.kind == "bubble"}
    for number in range(1, len(found.run["issued"])):
        here = drawn.get(f"bubble-{number}")
        if seen["full_seen"][number] < found.end:
            assert (here is not None) == (waits[number] > NOISE)
        if here is not None and here.end < found.end:
            assert here.end - here.start == pytest.approx(waits[number], abs=1.5)
            assert here.text == f"{found.ns(here.end - here.start)} ns"
    assert bands(found) == [(mark.start, mark.end) for mark in lane.marks if mark.kind == "bubble"]


@every
def test_the_number_is_the_mean_of_the_bubbles_and_the_parts_are_of_one_tile(figure, costs, tile, compute, stages):
    found = put(figure, tile=tile, compute=compute, stages=stages)
    seen = moments_of(recorded(tile), stages, compute)
    waits = (seen["full_seen"] - seen["wait_begin"])[STEADY:] - costs_of(costs, "hbm", tile, compute).wait_cycles
    per_ns = recorded(tile)["cycles_per_ns"]
    period, bubble, work = found.parts()
    assert bubble == pytest.approx(waits[waits > NOISE].sum() / len(waits) / per_ns, abs=1)
    assert work == pytest.approx((seen["read_end"] - seen["full_seen"])[STEADY:].mean() / per_ns, abs=1)
    assert period == pytest.approx(np.diff(seen["read_end"])[STEADY - 1 :].mean() / per_ns, abs=1)
    assert found.heading() == f"{bubble} ns"
    assert found.is_hidden() == (bubble < period / HIDDEN)


def test_a_tile_takes_what_the_median_of_all_runs_says(figure):
    for tile, compute, stages in product(TILE_BYTES, FMA, STAGES):
        cell = put(figure, tile=tile, compute=compute, stages=stages).cell
        cycles = recorded(tile)["total_cycles"][stages - 1, FMA.index(compute)]
        if (tile, stages) == (32768, 8):
            assert cell is None
            assert set(cycles) == {-1}
            continue
        expected = [one / TILES for one in (np.median(cycles), cycles.min(), cycles.max())]
        assert cell["tile"] == pytest.approx(expected, abs=0.06)


def test_the_chart_shows_each_median_within_the_range_of_its_runs(figure):
    for view in VIEWS:
        found = put(figure, tile=16384, compute=0, stages=1, view=view)
        for point in found.points():
            cell = found.cell_of(point["stages"], point["number"])
            low, high = point["range"]
            assert low - 0.06 <= point["value"] <= high + 0.06
            if view == "hardware":
                assert [low, high] == pytest.approx([one / found.sweep["cycles_per_ns"] for one in cell["tile"][1:]])


def test_every_depth_is_drawn_over_the_time_in_which_one_stage_serves_six_tiles(figure):
    for tile, compute in product(TILE_BYTES, FMA):
        ends = {put(figure, tile=tile, compute=compute, stages=stages).end for stages in (1, 2, 5)}
        assert len(ends) == 1
        done = moments_of(recorded(tile), 1, compute)["read_end"]
        assert done[DRAWN - 1] < ends.pop() < done[DRAWN]


# --- the model, and Little's law --------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", PLACES)
def test_the_model_is_within_a_tenth_of_every_measured_depth(place):
    figure = PipelineFigure(observe, place=place)
    assert figure.source().startswith("Recorded on NVIDIA H200")
    for tile, compute, stages in product(TILE_BYTES, FMA, STAGES):
        found = put(figure, tile=tile, compute=compute, stages=stages)
        assert found.cell is None or abs(found.difference()) <= 10, found.sentence()


def test_the_model_s_lanes_are_its_run(figure, costs):
    found = put(figure, tile=16384, compute=64, stages=2, view="model")
    run = run_pipeline(costs_of(costs, "hbm", 16384, 64), 2, TILES)
    lanes = lanes_of(found)
    for tile in range(5):
        begin, end = (round(run.moments[name][tile]) for name in ("full_seen", "read_end"))
        assert spans(lanes, "consumers")[f"work-{tile}"] == (begin, end)
    assert found.source.startswith("Model: its costs were measured one by one")
    assert "Recorded on NVIDIA H200" in found.source


def test_littles_law_parts_the_depths_that_hide_from_those_that_do_not(figure, costs):
    """The chart's line says what the model's count of stages says, and the H200 agrees where it is no close call."""
    for tile, (number, compute) in product(TILE_BYTES, enumerate(FMA)):
        one = costs_of(costs, "hbm", tile, compute)
        found = put(figure, tile=tile, compute=compute, stages=1)
        assert found.sweep["law"][number][2] == hiding_stages(one)
        step = one.step_cycles / recorded(tile)["cycles_per_ns"]
        for stages in STAGES[1:]:
            is_above, is_close = step >= found.border(stages), step == pytest.approx(found.border(stages), rel=0.02)
            assert is_close or is_above == (stages >= hiding_stages(one))
            here = put(figure, tile=tile, compute=compute, stages=stages)
            if here.cell is not None and stages > hiding_stages(one):
                assert here.is_hidden(), here.sentence()
        assert not put(figure, tile=tile, compute=compute, stages=1).is_hidden()


def test_the_difference_counts_from_the_first_tile_s_end(figure):
    found = put(figure, tile=16384, compute=0, stages=2, view="difference")
    mine, models, later = lanes_of(found)
    assert spans([mine], "consumers")["work-0"][1] == spans([models], "consumers")["work-0"][1]
    ends = [{mark.key: mark.end for mark in lane.marks} for lane in (mine, models)]
    for mark in later.marks[:4]:
        tile = mark.key.partition("-")[2]
        assert int(mark.text) == pytest.approx(found.ns(ends[0][f"work-{tile}"] - ends[1][f"work-{tile}"]), abs=1)
    assert found.heading() == f"{found.difference():+.1f}%"
    assert bands(found) == []


# --- runs that were changed -------------------------------------------------------------------------------------------


def test_a_wait_that_lasts_longer_is_a_longer_bubble(figure):
    at = list(recorded(16384)["moments"]).index("full_seen"), list(recorded(16384)["moments"]).index("read_end")

    def later(arrays):
        arrays["moment_steps"][3, 0, at, 10] += 500  # of the fourth tile-to-tile step of 4 stages: later from there on

    other = PipelineFigure(changed(later), tile=16384, stages=4)
    before, after = put(figure, tile=16384, compute=0, stages=4), other._found
    assert after.run["bubble"][10] == pytest.approx(before.run["bubble"][10] + 500, abs=NOISE)
    assert {mark.key for mark in lanes_of(after)[-1].marks} >= {"bubble-10"}
    assert "bubble-10" not in {mark.key for mark in lanes_of(before)[-1].marks}


def test_a_barrier_that_the_watcher_did_not_see_was_complete_when_it_was_acted_on(figure):
    def unseen(arrays):
        found = recorded(16384)
        rows = np.cumsum(arrays["moment_steps"], axis=-1, dtype=np.int32)
        for name in ("full", "empty"):
            rows[1, 0, list(found["moments"]).index(name)] = -1
        arrays["moment_steps"][:] = np.diff(rows, axis=-1, prepend=0).astype(arrays["moment_steps"].dtype)

    found = PipelineFigure(changed(unseen), tile=16384, stages=2)._found
    assert found.run["full"] == found.run["full_seen"]
    assert found.run["empty"][:-2] == found.run["empty_seen"][2:]
    assert all(mark.start <= mark.end for lane in lanes_of(found) for mark in lane.marks)


# --- the figure as a widget -------------------------------------------------------------------------------------------


@every
@pytest.mark.parametrize("view", VIEWS)
def test_every_state_has_its_picture_sentence_and_table(figure, tile, compute, stages, view):
    put(figure, tile=tile, compute=compute, stages=stages, view=view)
    svg = figure.svg()
    assert svg.startswith("<svg ")
    assert figure._found.heading() in svg
    assert all(f">{found} ns</text>" in svg for found in map(figure._found.compute_of, range(len(FMA)))) == (
        view != "difference"
    )
    head, rows = figure.table()
    assert {len(row) for row in rows} == {len(head)}
    (_, head, rows), *others = figure.more_tables()
    assert not others
    assert {len(row) for row in rows} == {len(head)}
    assert len(rows) == sum(one["fits"] for one in figure.data()["sweep"])
    assert figure.sentence().startswith(f"{stages} stage")
    assert figure.data()["measured"]["bubble"] == figure._found.run["bubble"]
    assert len(figure.data()["sweep"]) == len(STAGES) * len(FMA)


def test_a_ring_that_has_no_room_says_so(figure):
    found = put(figure, tile=32768, compute=0, stages=8)
    assert found.heading() == "no room"
    assert figure.sentence() == "8 stages of 32 KiB are 256 KiB, and an SM's block has 227."
    assert lanes_of(found) == []
    assert figure.table()[1] == []
    assert "no room" in figure.svg()
    assert [one["fits"] for one in figure.data()["sweep"]].count(False) == len(FMA)
    assert [row[1] for row in figure.more_tables()[0][2]] == ["1", "2", "3", "4", "5", "6", "7"] * len(FMA)


def test_the_table_of_the_sweep_says_what_the_chart_draws(figure):
    found = put(figure, tile=16384, compute=0, stages=1, view="hardware")
    _, head, rows = figure.more_tables()[0]
    named = {(int(row[0]), int(row[1])): dict(zip(head, row, strict=True)) for row in rows}
    for point in found.points():
        row = named[found.compute_of(point["number"]), point["stages"]]
        assert int(row["Time a tile (ns)"]) == pytest.approx(point["value"], abs=0.5)
        assert int(row["Model (ns)"]) == pytest.approx(point["told"], abs=0.5)
        low, high = map(int, row["All runs (ns)"].split(" to "))
        assert [low, high] == pytest.approx(point["range"], abs=0.5)
    assert "<caption>Time a tile, by depth</caption>" in figure.fallback()


def test_its_data_is_small_and_what_was_measured_is_volatile(figure):
    assert len(json.dumps(figure.spec)) < 1_000
    assert len(gzip.compress(json.dumps(figure.provenance, separators=(",", ":")).encode())) < 40_000
    html = figure.html()
    outside = html.partition('<script type="application/json" data-volatile>')[0]
    assert "H200" not in outside
    assert "cycles" not in outside
    assert "<section data-volatile>" in html
    put(figure, tile=16384, compute=0, stages=1)
    assert repr(figure) == "PipelineFigure(tile=16384, compute=0, stages=1, view='hardware')"


def test_without_a_recording_it_says_so():
    def missing(case):
        raise RecordingError("not recorded yet", field="case", value=case.name)

    for given in (None, missing):
        figure = PipelineFigure(given)
        assert figure.provenance["sweeps"] == [None] * len(TILE_BYTES)
        assert figure.source().startswith("Not measured")
        assert figure.sentence() == figure.source()
        assert "not measured" in figure.svg()
        assert figure.table()[1] == []
        assert figure.data()["sweep"] == []


def test_a_damaged_recording_and_a_failed_run_are_no_answer():
    def damaged(case):
        raise RecordingError("the recording is damaged", field="file", value="x.npz")

    def failed(case):
        seen = observe(case, live=False)
        return replace(seen, values={**seen.values, "completed": False})

    with pytest.raises(RecordingError, match="damaged"):
        pipeline_spec(damaged, "hbm", "A pipeline")
    with pytest.raises(HardwareError, match="pipeline/costs ended with TIMEOUT"):
        pipeline_spec(failed, "hbm", "A pipeline")


@pytest.mark.parametrize("state", [{"stages": 9}, {"compute": 1}, {"tile": 1024}, {"view": "guess"}])
def test_a_state_that_it_does_not_have_is_an_error(state):
    with pytest.raises(InputError, match=next(iter(state))):
        PipelineFigure(None, **state)
