"""Two loads, one barrier: its lanes against the recorded arrays, the model's run, changed runs, no recording."""

import json
import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from tmalab import observe
from tmalab.errors import HardwareError, InputError, RecordingError
from tmalab.experiment.timeline_cases import WARMTHS
from tmalab.figures import LoadsFigure
from tmalab.figures.loads_model import STEPS, modelled
from tmalab.figures.loads_run import bytes_read
from tmalab.figures.loads_tables import MOST_STEPS, VIEWS, loads_spec

A, B = slice(16), slice(16, 32)  # the lines of each tile
every = pytest.mark.parametrize("warmth", WARMTHS)


@pytest.fixture(scope="module")
def figure():
    return LoadsFigure(observe)


@pytest.fixture
def recorded():
    return lambda warmth, watched="one-barrier": observe(f"timeline/two-loads/{warmth}/{watched}", live=False)


def marks_of(run):
    return {mark["key"]: mark for lane in run["lanes"] for mark in lane["marks"]}


def state_of(figure, warmth):
    return figure.provenance["states"][WARMTHS.index(warmth)]


def changed(change):
    """The recordings, but for the arrays of one-barrier runs, which `change` is given copies of."""

    def seen(case):
        found = observe(case, live=False)
        if not case.name.endswith("one-barrier"):
            return found
        arrays = {name: array.copy() for name, array in found.arrays.items()}
        change(arrays, found["drawn"])
        return replace(found, arrays=arrays)

    return seen


# --- what is drawn, told again from the arrays -----------------------------------------------------------------------


@every
def test_each_mark_stands_where_the_run_was_stamped(figure, recorded, warmth):
    seen, marks = recorded(warmth), marks_of(state_of(figure, warmth))
    drawn = seen["drawn"]
    at = [int(one) for one in seen["steps"][drawn]]
    spans = {key: (mark["from"], mark.get("to")) for key, mark in marks.items()}
    assert [spans[key] for key in ("arm", "issue-A", "issue-B")] == list(pairwise(at))
    lines = seen["lines"][drawn]
    assert spans["flight-A"] == (at[2], lines[:16].min())
    assert spans["land-A"] == (lines[:16].min(), lines[:16].max())
    assert spans["land-B"] == (lines[16:].min(), lines[16:].max())
    begin, end, _ = seen["waits"][drawn, 0]
    assert spans["wait"] == (begin, end)
    assert spans["read"][0] == spans["phase-1"][0] == end
    assert spans["phase-0"] == (0, min(lines.max(), end))


@every
def test_the_counts_go_down_as_the_tiles_land(figure, recorded, warmth):
    state = state_of(figure, warmth)
    lanes = {(lane["name"], lane["note"].partition(",")[0]): lane["marks"] for lane in state["lanes"]}
    bytes_to_come = lanes["bytes to come", "replayed from the lines"]
    assert [mark["text"] for mark in bytes_to_come] == ["0", "4096", "2048", "0"]
    lines = recorded(warmth)["lines"][recorded(warmth)["drawn"]]
    end = recorded(warmth)["waits"][recorded(warmth)["drawn"], 0, 1]
    assert [mark["from"] for mark in bytes_to_come[2:]] == sorted(min(lines[x].max(), end) for x in (A, B))
    assert [mark["text"] for mark in lanes["pending arrivals", "replayed"]] == ["1", "0", "1"]
    read = [int(mark["text"]) for mark in lanes["bytes to come", "read"]]
    assert read[0] == 4096
    assert read[-1] == 0
    assert read == sorted(read, reverse=True)
    assert {one for _, one in bytes_read(recorded(warmth, "counted"))} == set(read)


@every
def test_the_bands_are_those_of_all_runs(figure, recorded, warmth):
    seen, marks = recorded(warmth), marks_of(state_of(figure, warmth))
    b = seen["lines"][:, 16:].max(axis=1)
    low, middle, high = (round(float(one)) for one in np.quantile(b, (0.1, 0.5, 0.9)))
    assert (marks["band-b"]["from"], marks["band-b"]["to"], marks["median-b"]["from"]) == (low, high, middle)
    assert f"all between {b.min()} and {b.max()}" in marks["band-b"]["say"]
    assert f"{len(b)} runs" in marks["median-b"]["say"]


@every
def test_the_head_says_what_the_issue_cost_and_what_was_done(figure, recorded, warmth):
    seen = recorded(warmth)
    arm, a, b = np.diff(seen["steps"][seen["drawn"]])
    head = state_of(figure, warmth)["head"]
    assert f"{arm} cycles to arm and {a} and {b} for the loads" in head
    issuer, second = seen["work"][seen["drawn"], :, 2] * 64 * 32
    assert f"did {issuer} multiply-adds, the second warp {second}." in head


@every
def test_the_steps_are_in_order_of_time_and_say_their_instruction(figure, warmth):
    state = state_of(figure, warmth)
    marks = marks_of(state)
    assert [marks[key]["from"] for key in state["order"]] == sorted(marks[key]["from"] for key in state["order"])
    assert set(STEPS) < set(state["order"])
    assert len(state["order"]) <= MOST_STEPS
    assert marks["arm"]["say"].startswith("mbarrier.arrive.expect_tx")
    assert "Before: 1 arrival and 0 bytes to come, phase 0; after: 0 arrivals and 4096 bytes" in marks["arm"]["say"]
    assert marks["issue-A"]["say"].startswith("cp.async.bulk.tensor.2d")
    assert marks["wait"]["say"].startswith("mbarrier.try_wait.parity")
    assert "when it returns: 1 arrival and 0 bytes to come, phase 1" in marks["wait"]["say"]


# --- the model --------------------------------------------------------------------------------------------------------


def test_the_models_run_has_the_seeds_numbers():
    run = modelled().to_dict()
    marks = marks_of(run)
    texts = {lane["name"]: [mark["text"] for mark in lane["marks"]] for lane in run["lanes"]}
    assert texts["pending arrivals"] == ["1", "0", "1"]
    assert texts["bytes to come"] == ["0", "4096", "2048", "0"]
    assert texts["phase"] == ["phase 0", "phase 1"]
    assert marks["wait"]["to"] == marks["phase-1"]["from"] + 1
    assert all(mark["say"].endswith("Model, not measured.") for mark in marks.values())
    assert [key for key in run["order"] if key.startswith(("arm", "issue"))] == ["arm", "issue-A", "issue-B"]


# --- runs that were changed -------------------------------------------------------------------------------------------


def test_a_run_in_which_b_is_whole_first_differs(figure):
    def swap(arrays, drawn):
        arrays["lines"][drawn, :16] += 40
        arrays["lines"][drawn, 16:] = arrays["lines"][drawn, :16] - 20

    other = LoadsFigure(changed(swap), view="difference", warmth="warm")
    assert state_of(other, "warm")["differs"] == ["land-A", "land-B"]
    assert "2 of 6 steps in another order" in other._found.head
    kinds = {mark["key"]: mark["kind"] for lane in other._found.lanes for mark in lane["marks"]}
    assert kinds["land-A"] == kinds["land-B"] == "wrong"
    assert kinds["arm"] == "soft"
    assert kinds["bytes-1"] == "outline"
    assert "0 of 6 steps in another order" in state_of(figure, "warm")["difference"]


def test_a_line_seen_after_the_wait_had_returned_was_there_before(figure):
    def late(arrays, drawn):
        arrays["lines"][drawn] += 300

    other = LoadsFigure(changed(late), warmth="warm")
    state, marks = state_of(other, "warm"), marks_of(state_of(other, "warm"))
    assert all(mark.get("to", mark["from"]) >= mark["from"] for mark in marks.values())
    assert "phase-flip" not in state["order"]
    assert marks["phase-0"]["to"] == marks["phase-1"]["from"] == marks["wait"]["to"] < marks["land-B"]["to"]
    assert marks["wait"]["say"].endswith("when it returns: 1 arrival and 0 bytes to come, phase 1.")
    assert state["differs"] == []


def test_bytes_that_no_model_knows_and_words_read_too_early_are_counted():
    def early(arrays, drawn):
        arrays["missing_words"][3] = 7

    assert "Words that the consumer read too early: 7." in state_of(LoadsFigure(changed(early)), "cold")["difference"]

    def strange(case):
        seen = observe(case, live=False)
        if not case.name.endswith("counted"):
            return seen
        states = seen["states"].copy()
        states[1] = 0x7FFC0BFD  # 6144 bytes
        return replace(seen, arrays={**seen.arrays, "states": states})

    words = state_of(LoadsFigure(strange), "warm")["difference"]
    assert re.search(r"Bytes that the barrier said: 4096, 6144, [0-9, ]*0; 1 of \d are not the model's\.", words)


# --- the figure as a widget -------------------------------------------------------------------------------------------


@every
@pytest.mark.parametrize("view", VIEWS)
def test_every_state_has_its_picture_sentence_and_table(figure, warmth, view):
    figure.warmth, figure.view = warmth, view
    for step in (0, 5, MOST_STEPS - 1):
        figure.step = step
        assert figure.svg().startswith("<svg ")
        assert figure.sentence() == figure._found.mark["say"]
        head, rows = figure.table()
        assert {len(row) for row in rows} == {len(head)}
        assert len(figure.data()["marks"]) == len(rows)
    assert ("Model, not measured" in figure.source()) == (view == "model")
    figure.warmth, figure.view, figure.step = "warm", "hardware", 2


def test_its_data_is_small_and_what_was_measured_is_volatile(figure):
    text = json.dumps(figure.spec, separators=(",", ":"))
    assert "cycles" not in text.replace("cycles_per_ns", "")
    assert len(json.dumps(figure.provenance)) <= 40_000
    html = figure.html()
    outside = html.partition("<section data-volatile>")[0].partition('<script type="application/json" data-volatile>')[
        0
    ]
    assert "H200" not in outside
    assert "<section data-volatile>" in html
    assert repr(figure) == "LoadsFigure(warmth='warm', view='hardware', step=2)"


def test_without_a_recording_it_is_the_models_and_says_so():
    def missing(case):
        raise RecordingError("not recorded yet", field="case", value=case.name)

    for given in (None, missing):
        figure = LoadsFigure(given)
        assert figure.provenance["states"] == [None] * 3
        assert figure.source().startswith("Model, not measured")
        assert "Model, not measured." in figure.svg()
        assert figure.sentence().endswith("Model, not measured.")
        assert figure.table()[0][2] == "From (steps)"


def test_a_damaged_recording_and_a_failed_run_are_no_answer():
    def damaged(case):
        raise RecordingError("the recording is damaged", field="file", value="x.npz")

    def failed(case):
        seen = observe(case, live=False)
        return replace(seen, values={**seen.values, "completed": False})

    with pytest.raises(RecordingError, match="damaged"):
        loads_spec(damaged, "Loads")
    with pytest.raises(HardwareError, match="timeline/two-loads/warm/one-barrier ended with TIMEOUT"):
        loads_spec(failed, "Loads")


@pytest.mark.parametrize("state", [{"warmth": "hot"}, {"view": "guess"}, {"step": MOST_STEPS}])
def test_a_state_that_it_does_not_have_is_an_error(state):
    with pytest.raises(InputError, match=next(iter(state))):
        LoadsFigure(None, **state)
