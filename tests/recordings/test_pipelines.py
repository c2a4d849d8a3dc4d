"""What was recorded of pipelines: the model foretells every one of them from costs that were measured without one."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest

from tmalab.errors import InputError
from tmalab.experiment import catalogue
from tmalab.experiment.pipeline_cases import COPIES, FMA, KEPT, PLACES, STAGES, TILE_BYTES, TILES, pipeline_case
from tmalab.experiment.pipeline_runs import costs_of, cycles_of, moments_of
from tmalab.experiment.timeline_builders import timeline_of
from tmalab.hardware.pipeline_probe import Cell
from tmalab.model.pipeline import hiding_stages, run_pipeline
from tmalab.recordings.store import Store

STORE = Store()
RINGS = [*((place, size, 1) for place in PLACES for size in TILE_BYTES), ("hbm", 16384, 2)]


def seen(name):
    found = STORE.get(catalogue.case(name))
    assert found is not None, name
    return found


def ring(place, tile_bytes, consumers=1):
    found = STORE.get(pipeline_case(place, tile_bytes, consumers))
    assert found is not None
    return found


def cells(place, tile_bytes, consumers=1):
    """(stages, fma, median cycles, costs) of every pipeline that was run."""
    run, costs = ring(place, tile_bytes, consumers), seen("pipeline/costs")
    for stages in STAGES:
        for fma in FMA:
            cycles = cycles_of(run, stages, fma)
            if cycles is not None:
                yield stages, fma, float(np.median(cycles)), costs_of(costs, place, tile_bytes, fma, consumers)


@pytest.mark.parametrize(("place", "tile_bytes", "consumers"), RINGS)
def test_the_models_time_is_within_a_tenth_of_the_measured_median(place, tile_bytes, consumers):
    found = list(cells(place, tile_bytes, consumers))
    assert len(found) == sum(Cell("", tile_bytes, stages, 0, 1, 1).fits() for stages in STAGES) * len(FMA)
    for stages, fma, cycles, costs in found:
        foretold = run_pipeline(costs, stages, TILES).total_cycles
        assert foretold == pytest.approx(cycles, rel=0.10), (stages, fma)


def test_most_of_the_times_are_far_nearer():
    wrong = [
        abs(run_pipeline(costs, stages, TILES).total_cycles / cycles - 1)
        for one in RINGS for stages, _, cycles, costs in cells(*one)
    ]  # fmt: skip
    assert len(wrong) == 505
    assert np.median(wrong) < 0.015
    assert np.quantile(wrong, 0.95) < 0.05


@pytest.mark.parametrize(("place", "tile_bytes", "consumers"), RINGS)
def test_littles_law_finds_the_depth_that_hides_the_latency(place, tile_bytes, consumers):
    """One stage less is slower; one more takes care of loads that are slower than the mean one."""
    found = {(stages, fma): (cycles, costs) for stages, fma, cycles, costs in cells(place, tile_bytes, consumers)}
    for fma in FMA:
        best = min(cycles for (_, work), (cycles, _) in found.items() if work == fma)
        enough = hiding_stages(found[1, fma][1])
        share = [found[stages, fma][0] / best for stages in (max(enough - 1, 1), enough, enough + 1)]
        assert share[1] < 1.20, fma
        assert share[2] < 1.03, fma
        assert enough == 1 or share[0] > 1.05, fma


@pytest.mark.parametrize(("place", "tile_bytes", "consumers"), RINGS)
def test_the_moments_keep_the_order_of_a_ring(place, tile_bytes, consumers):
    run = ring(place, tile_bytes, consumers)
    late = run["look_cycles"] + 40  # a watcher's look, and its clock
    for stages in STAGES:
        for fma in FMA:
            moments = moments_of(run, stages, fma)
            if moments is None:
                assert stages * tile_bytes > 227 * 1024 - 2048
                continue
            assert {len(row) for row in moments.values()} == {KEPT}
            assert min(int(row.min()) for row in moments.values()) >= 0
            for row in moments.values():
                assert (np.diff(row) >= 0).all()
            assert (moments["issued"] > moments["empty_seen"]).all()
            assert (moments["full"] > moments["issued"]).all()
            assert (moments["full_seen"] >= moments["full"]).all()
            assert (moments["full_seen"] > moments["wait_begin"]).all()
            assert (moments["read_end"] > moments["full_seen"]).all()
            assert (moments["empty"] > moments["read_end"]).all()
            assert (moments["empty_seen"][stages:] >= moments["empty"][:-stages]).all()
            # The stamp is the first warp's; the last of the consumers' warps comes later, and the watchers hold it up.
            assert (moments["empty"] < moments["read_end"] + 500 + late).all()


def test_a_watched_run_is_hardly_slower_than_one_that_nobody_watches():
    for one in (one for one in RINGS if one[0] != "all"):  # there the others' loads change it more
        run = ring(*one)
        for stages in STAGES:
            for fma in FMA:
                moments, cycles = moments_of(run, stages, fma), cycles_of(run, stages, fma)
                if moments is not None:
                    per_tile = np.diff(moments["read_end"][8:]).mean()
                    assert per_tile < 1.10 * np.median(cycles) / TILES, (one, stages, fma)


def test_stamps_cost_less_than_fifty_cycles_a_tile():
    for one in RINGS:
        run = ring(*one)
        stamped = np.median(run["total_cycles"], axis=-1)
        there = stamped > 0
        assert ((stamped - run["plain_cycles"])[there] < 50 * TILES).all()


def test_what_was_not_run_is_an_error_and_a_ring_without_room_is_none():
    run, costs = ring("hbm", 32768), seen("pipeline/costs")
    assert cycles_of(run, 8, 0) is None
    assert moments_of(run, 8, 0) is None
    for field, ask in (
        ("num_stages", lambda: cycles_of(run, 9, 0)), ("fma", lambda: moments_of(run, 2, 65)),
        ("tile_bytes", lambda: costs_of(costs, "hbm", 2048, 0)), ("place", lambda: costs_of(costs, "moon", 4096, 0)),
    ):  # fmt: skip
        with pytest.raises(InputError, match=field):
            ask()


class TestTimeline:
    @pytest.mark.parametrize("run", [None, 0, 17, 34])
    def test_a_ring_becomes_a_timeline_and_a_trace(self, run):
        line = timeline_of(ring("hbm", 32768), run)
        stages = 3 if run is None else STAGES[run // len(FMA)]
        assert [lane for lane in line.lanes if lane.startswith("stage")] == [f"stage {at}" for at in range(stages)]
        assert len(line.of_lane("consumer")) == 2 * KEPT
        assert all(event.begin_cycles <= event.end_cycles for event in line.events)
        for at in range(stages):  # a stage is one thing at a time
            events = line.of_lane(f"stage {at}")
            assert all(one.end_cycles <= two.begin_cycles for one, two in pairwise(events))
        flying = sum(event.begin_cycles < 9000 < event.end_cycles for event in line.of_lane("TMA engine"))
        assert flying <= stages
        assert len(json.loads(json.dumps(line.to_chrome_trace()))["traceEvents"]) > len(line.events)

    @pytest.mark.parametrize("run", [-1, 40, 35])  # 35: eight stages of 32 KiB
    def test_a_ring_that_is_not_there_is_an_error(self, run):
        with pytest.raises(InputError, match="run"):
            timeline_of(ring("hbm", 32768), run)


class TestCopy:
    def test_every_version_copied_every_word(self):
        copy = seen("pipeline/copy")
        assert copy["differ"] == [0] * len(COPIES)
        assert copy["ms"].shape[0] == len(COPIES) + 1

    def test_a_persistent_version_has_98_percent_of_the_drivers_rate(self):
        *medians, driver = np.median(seen("pipeline/copy")["ms"], axis=1)
        shares = {version: driver / ms for version, ms in zip(COPIES, medians, strict=True)}
        best = max((share, version) for version, share in shares.items() if version[0] == "counter")
        assert best[0] >= 0.98
        assert seen("pipeline/copy")["bytes"] >= 4 << 30
        # and the order is what it takes: with a fixed share of the tiles it is slower
        assert max(share for version, share in shares.items() if version[0] in ("interleaved", "chunks")) < 0.95
