"""Loads that run ahead: its lanes against the recorded stamps, its shares against the recorded times."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from tmalab import observe
from tmalab.errors import HardwareError, InputError
from tmalab.experiment.cute_cases import WALKS
from tmalab.figures import StagesFigure
from tmalab.figures.stages_tables import BLOCKS, NEVER, STAGES, VIAS

every = pytest.mark.parametrize(("via", "stages"), list(product(VIAS, STAGES)))


@pytest.fixture(scope="module")
def figure():
    return StagesFigure(observe)


@every
def test_the_lanes_hold_what_was_recorded(figure, put, via, stages):
    seen = observe("cute/timeline", live=False)["cycles"][WALKS.index((via, stages))]
    found = put(figure, via=via, stages=stages)
    assert found.tiles == seen.tolist()
    lanes = found.lanes()
    assert len(lanes) == stages
    for stage, lane in enumerate(lanes):
        mine = seen[stage::stages]
        loads, outs = lane.marks[::2], lane.marks[1::2]
        assert [(mark.start, mark.end) for mark in loads] == [(one[0], one[1]) for one in mine.tolist()]
        assert [mark.start for mark in outs] == mine[:, 1].tolist()
        assert all(one.end <= other.start for one, other in zip(lane.marks, lane.marks[1:], strict=False))
    assert max(mark.end for lane in lanes for mark in lane.marks) <= found.end


@every
def test_the_share_is_that_of_the_medians(figure, put, via, stages):
    rated = observe("cute/rate", live=False)
    number = [tuple(one) for one in rated.case.params["versions"]].index((via, stages, BLOCKS))
    medians = np.median(rated["ms"], axis=1)
    assert put(figure, via=via, stages=stages).share == pytest.approx(medians[-1] / medians[number], abs=6e-4)
    assert f"{figure._found.share:.1%} of the rate" in figure.sentence()


def test_more_buffers_have_more_loads_in_flight(figure, put):
    for via in VIAS:
        ahead = [put(figure, via=via, stages=stages).ahead() for stages in STAGES]
        assert ahead[0] == 0
        assert ahead == sorted(ahead)
        assert ahead[-1] < STAGES[-1]


def test_the_table_has_a_row_a_tile(figure, put):
    put(figure, via="tma", stages=3)
    head, rows = figure.table()
    assert len(rows) == 14
    assert {len(row) for row in rows} == {len(head)}
    assert [row[1] for row in rows[:4]] == ["0", "1", "2", "0"]
    assert rows[-1][-1] == "–"
    assert NEVER in figure.data()["cycles"][-1]


def test_without_a_recording_it_says_so():
    figure = StagesFigure(None)
    assert "Not measured" in figure.source()
    assert figure.sentence().endswith("not measured.")
    assert figure.table()[1] == []
    assert "<svg" in figure.svg()


def test_a_failed_run_is_an_error():
    def failed(case):
        return replace(observe(case, live=False), values={"error": "TIMEOUT"})

    with pytest.raises(HardwareError, match="TIMEOUT"):
        StagesFigure(failed)


def test_a_state_that_it_does_not_have_is_refused(figure):
    with pytest.raises(InputError):
        figure.stages = 5


def test_it_goes_into_a_page_and_all_of_it_is_volatile(figure, tmp_path):
    assert len(figure.html()) < 20_000
    assert figure.html().count("<section data-volatile>") == 1
    figure.save(tmp_path / "x.json")
    assert len(json.loads((tmp_path / "x.json").read_text(encoding="utf-8"))["cycles"]) == 14
