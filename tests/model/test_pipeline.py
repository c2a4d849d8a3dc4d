"""The ring of stages in time: its orders hold, its limits are Little's, a slower part never makes it faster."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tmalab.errors import InputError
from tmalab.model.pipeline import PipelineCosts, hiding_stages, run_pipeline
from tmalab.model.pipeline_program import pipeline_events

PLAIN = PipelineCosts(
    (1000.0,), turn_cycles=100, handoff_cycles=100, wait_cycles=50, work_cycles=400, rest_cycles=50, wake_cycles=80,
    issue_cycles=60,
)  # fmt: skip
cycles = st.floats(0, 5000)
costs = st.builds(
    PipelineCosts,
    load_cycles=st.lists(st.floats(1, 5000), min_size=1, max_size=16).map(tuple),
    turn_cycles=cycles, handoff_cycles=cycles, wait_cycles=st.floats(0, 100), work_cycles=cycles, rest_cycles=cycles,
    gap_cycles=cycles, issue_cycles=cycles, wake_cycles=cycles,
)  # fmt: skip


@given(costs, st.integers(1, 8), st.integers(1, 40))
def test_no_stage_is_filled_before_it_is_empty_or_read_before_it_is_full(found, num_stages, tiles):
    run = run_pipeline(found, num_stages, tiles)
    moments = run.moments
    assert all(len(row) == tiles for row in moments.values())
    for tile in range(tiles):
        if tile >= num_stages:
            assert moments["empty_seen"][tile] >= moments["read_end"][tile - num_stages]
        assert moments["full_seen"][tile] > moments["empty_seen"][tile]
        assert moments["full_seen"][tile] >= moments["wait_begin"][tile]
        assert moments["read_end"][tile] >= moments["full_seen"][tile]
    for row in (moments["full_seen"], moments["read_end"], moments["empty_seen"]):
        assert all(one <= two + 1e-6 for one, two in pairwise(row))
    assert min(run.bubble_cycles) >= -1e-6
    assert run.total_cycles == pytest.approx(moments["read_end"][-1] + found.rest_cycles)


@given(costs, st.integers(1, 7))
def test_another_stage_never_costs_time(found, num_stages):
    few, many = (run_pipeline(found, count, 40).total_cycles for count in (num_stages, num_stages + 1))
    assert many <= few + 1e-6


@given(costs, st.sampled_from(["turn_cycles", "handoff_cycles", "work_cycles", "rest_cycles", "gap_cycles"]))
def test_a_slower_part_never_saves_time(found, part):
    slower = replace(found, **{part: getattr(found, part) + 500})
    assert run_pipeline(slower, 3, 40).total_cycles >= run_pipeline(found, 3, 40).total_cycles - 1e-6


@pytest.mark.parametrize("num_stages", range(1, 9))
def test_in_the_long_run_a_tile_takes_the_round_trip_over_the_stages_or_the_step(num_stages):
    tiles = 4000
    expected = max(PLAIN.round_trip_cycles / num_stages, PLAIN.step_cycles)
    assert run_pipeline(PLAIN, num_stages, tiles).cycles_per_tile == pytest.approx(expected, rel=0.01)


def test_littles_law_names_the_first_depth_that_is_no_slower_than_eight():
    for work in (50, 200, 400, 900, 3000):
        found = replace(PLAIN, work_cycles=work)
        enough = hiding_stages(found)
        steady = [run_pipeline(found, stages, 4000).cycles_per_tile for stages in (enough - 1, enough, 16) if stages]
        assert steady[-2] == pytest.approx(steady[-1], rel=0.01)
        if len(steady) == 3:
            assert steady[0] > 1.01 * steady[-1]


def test_memory_that_gives_a_tile_every_so_often_is_a_floor():
    assert run_pipeline(replace(PLAIN, gap_cycles=1500), 8, 4000).cycles_per_tile == pytest.approx(1500, rel=0.01)


def test_loads_of_others_slow_a_load_at_the_interval_that_comes_of_it():
    loaded = replace(PLAIN, loaded=((500, 3000), (1000, 2000), (4000, 1000)), gap_cycles=500)
    run = run_pipeline(loaded, 1, 4000)
    alone = run_pipeline(PLAIN, 1, 4000)
    assert run.cycles_per_tile > alone.cycles_per_tile
    at = loaded.at_interval(run.cycles_per_tile)
    assert run_pipeline(at, 1, 4000).cycles_per_tile == pytest.approx(run.cycles_per_tile, rel=1e-3)
    assert loaded.at_interval(9000).mean_load_cycles == 1000
    assert loaded.at_interval(100).mean_load_cycles == 3000
    assert loaded.at_interval(750).mean_load_cycles == 2500


@pytest.mark.parametrize(("field", "value"), [("num_stages", 0), ("tiles", -1), ("num_stages", True), ("tiles", 1.5)])
def test_what_is_no_number_of_them_is_an_error(field, value):
    with pytest.raises(InputError, match=field):
        run_pipeline(PLAIN, **{"num_stages": 2, "tiles": 4, field: value})


@pytest.mark.parametrize(
    ("field", "value"),
    [("load_cycles", ()), ("load_cycles", (1000.0, -1.0)), ("load_cycles", ("1000",)), ("turn_cycles", float("nan")),
     ("work_cycles", -1), ("handoff_cycles", None), ("gap_cycles", float("inf")), ("wait_cycles", True)],
)  # fmt: skip
def test_what_is_no_time_is_an_error(field, value):
    with pytest.raises(InputError, match=field):
        replace(PLAIN, **{field: value})


def test_where_nothing_takes_time_no_depth_is_named():
    free = replace(PLAIN, turn_cycles=0, wait_cycles=0, work_cycles=0, rest_cycles=0)
    with pytest.raises(InputError, match="costs"):
        hiding_stages(free)
    assert hiding_stages(replace(free, rest_cycles=1100)) == 1


def test_the_model_in_time_uses_the_parities_of_the_model_of_barriers():
    """Stage and parity of every turn: what kernels/pipeline.cuh counts, and what the events say."""
    num_stages, tiles = 3, 8
    waits = [event for event in pipeline_events(num_stages=num_stages, consumers=1, iterations=tiles)
             if event["op"] == "wait"]  # fmt: skip
    for agent, prefix, parity in (("producer", "empty", 1), ("consumer0", "full", 0)):
        stage = 0
        for event in (wait for wait in waits if wait["t"] == agent):
            assert (event["bar"], event["parity"]) == (f"{prefix}{stage}", parity)
            stage += 1
            if stage == num_stages:
                stage, parity = 0, parity ^ 1
