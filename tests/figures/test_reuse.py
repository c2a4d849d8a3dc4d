"""When may I reuse the buffer? Tables against what must hold of any run, a run that was changed, the recordings."""

import json
from itertools import product

import numpy as np
import pytest

from tmalab import observe
from tmalab.errors import HardwareError, InputError, RecordingError
from tmalab.experiment.observation import Observation, Provenance
from tmalab.figures.reuse import ReuseFigure
from tmalab.figures.reuse_state import ReuseState
from tmalab.figures.reuse_still import shade
from tmalab.figures.reuse_tables import STORE_LINES, WAITS, combinations, reuse_spec, state_number
from tmalab.figures.reuse_tables import pack_runs as pack
from tmalab.figures.reuse_tables import unpack_runs as unpack

PROVENANCE = Provenance("NVIDIA H200", "9.0", "0.0", "0.0", "0.0", "stand-in", "0" * 64, "2000-01-01T00:00:00Z", 5)
ROUNDS = 5
STATE = {"stores": 3, "commits": 0b111, "wait": "full", "n": 1, "view": "hardware", "line": 0}
COMMITTED, UNCOMMITTED, NO_WAIT = {"n": 0}, {"n": 0, "commits": 0b011}, {"wait": "none"}


def stand_in(change=(), missing=(), values=None):
    """An `observe` in which a store is overwritten, in its last 8 lines and every round, unless enough commits follow.

    `change` [(stores, mask, wait, line, rounds)] overwrites that line in so many rounds. It is never a recording.
    """

    def look(case):
        if case.name in missing:
            raise RecordingError("not recorded yet", field="case", value=case.name)
        stores = case.params["stores"]
        masks = list(range(1 << stores))[::-1]  # in another order than the figure's
        shape = (len(masks), len(WAITS))
        lines = np.zeros((*shape, stores * STORE_LINES), np.uint16)
        for (at, mask), (wait, (kind, n)), store in product(enumerate(masks), enumerate(WAITS), range(stores)):
            if kind == "none" or (mask >> store).bit_count() <= n:
                lines[at, wait, (store + 1) * STORE_LINES - 8 : (store + 1) * STORE_LINES] = ROUNDS
        for number, mask, wait, line, rounds in change:
            if number == stores:
                lines[masks.index(mask), wait, line] = rounds
        by_round = [(lines > one).reshape(*shape, stores, STORE_LINES).sum(-1) for one in range(ROUNDS)]
        arrays = {"new_lines": np.stack(by_round, 2).astype(np.uint8), "line_runs": lines}
        for name, cycles in (("issue", 100), ("wait", 300), ("overwritten", 500), ("done", 600)):
            arrays[f"{name}_cycles"] = np.full((3, *shape), cycles, np.int32) + np.arange(3)[:, None, None]
        seen = {"completed": True, "error": None, "masks": masks, "waits": [list(wait) for wait in WAITS],
                "rounds": ROUNDS, "cycles_per_ns": 2.0, **(values or {})}  # fmt: skip
        return Observation(case, arrays, seen, PROVENANCE, "recorded")

    return look


@pytest.fixture(scope="module")
def figure():
    return ReuseFigure(stand_in())


def state(tables, **changed):
    return ReuseState(*tables, {**STATE, **changed})


def every_state(tables, view="hardware"):
    names = {"none": "none", "read": ".read", "group": "full"}
    for stores, commits, wait, n in combinations():
        yield state(tables, stores=stores, commits=commits, wait=names[wait], n=n, view=view)


def test_runs_of_numbers_are_packed_and_read_back():
    for numbers in ([0], [0, 0, 1], list(range(40)), [3] * 512, []):
        assert unpack(pack(numbers)) == numbers
    assert len(pack([40] * 512)) < 8


def test_every_combination_is_a_state_of_its_own(figure):
    numbers = [
        state_number(stores, commits, WAITS.index((wait, n if wait != "none" else 0)))
        for stores, commits, wait, n in combinations()
    ]
    assert numbers == list(range(270))
    assert len(figure.spec["model"]) == len(figure.provenance["states"]) == 270
    assert state_number(1, 0b1111, 3) == state_number(1, 0b0001, 3)


def test_what_a_wait_covers_is_never_overwritten():
    tables = reuse_spec(stand_in(), "Reuse")
    for found in every_state(tables):
        assert found.unequal == []
        for store in range(found.stores):
            hit = found.seen[1][store] > 0
            assert hit == (found.letters[store] != "c")
            assert hit == (found.counts[(store + 1) * STORE_LINES - 1] > 0)
        assert (found.verdict == "completes") == (found.seen[0] == 0)


def test_one_line_of_a_covered_store_differs_and_no_other():
    """wait_group 1 of three commits, line 5 of store 1 overwritten in 2 rounds."""
    tables = reuse_spec(stand_in([(3, 0b111, WAITS.index(("group", 1)), STORE_LINES + 5, 2)]), "Reuse")
    line = STORE_LINES + 5
    assert [found.unequal for found in every_state(tables) if found.unequal] == [[line]]
    found = state(tables, line=line, view="difference")
    assert found.unequal == [line]
    assert found.note() == "1 of 256 lines that the wait covers were overwritten"
    assert found.sentence().endswith("overwritten in 2 of 5 rounds. The model says never.")
    assert [row for row in found.table()[1] if row[-1] == "differs"] == [
        ["1", "5 to 5", "group 1, waited for", "2 of 5", "never", "differs"]
    ]
    assert found.seen[1] == [0, 2, 5]
    figure = ReuseFigure(
        stand_in([(3, 0b111, WAITS.index(("group", 1)), line, 2)]), view="difference", line=line
    )  # fmt: skip
    assert "class='wrong'" in figure.svg()


@pytest.mark.parametrize(
    ("changed", "fate", "why"),
    [
        ({}, "group 2, left pending", "wait_group 1 leaves the newest group pending, which is its own."),
        ({"n": 3, "wait": ".read"}, "group 2, left pending", "wait_group.read 3 leaves the newest 3 groups pending"),
        (COMMITTED, "group 2, waited for", "wait_group 0 waits for its group, 2."),
        (UNCOMMITTED, "in no group", "no commit_group follows it, so no wait waits for it."),
        (NO_WAIT, "group 2, no wait", "nothing waits for it."),
    ],
)
def test_why_a_store_is_safe_or_not(changed, fate, why):
    found = state(reuse_spec(stand_in(), "Reuse"), line=3 * STORE_LINES - 1, **changed)
    assert found.fate(2) == fate
    assert why in found.sentence()


def test_a_race_that_was_not_seen_stays_a_race():
    changes = [(1, 1, 0, line, 0) for line in range(STORE_LINES)]
    found = state(reuse_spec(stand_in(changes), "Reuse"), stores=1, wait="none", line=127)
    assert found.says() == (
        "BarrierProgram says: race. Fix: let issuer commit_group and wait_group.read 0, and tell the others by a "
        "barrier. Seen: overwritten bytes in 0 of 5 rounds."
    )
    assert found.sentence().endswith("overwritten in 0 of 5 rounds. A race all the same.")
    assert found.note() == "the wait covers no line"
    assert found.unequal == []


def test_commits_after_stores_that_there_are_not_count_for_nothing(figure):
    tables = figure.spec, figure.provenance
    few, many = state(tables, stores=1, commits=0b1111), state(tables, stores=1, commits=0b0001)
    assert few.program() == many.program() == ["store 0", "commit_group", "wait_group 1", "overwrite"]
    assert state(tables, stores=1, line=400).line == 400 % STORE_LINES


def test_the_lanes_are_the_times(figure):
    (mine, everyone, rounds) = state((figure.spec, figure.provenance)).lanes()
    assert [(mark.start, mark.end) for mark in mine.marks] == [(0, 101), (101, 301), (501, 601)]
    assert [(mark.start, mark.end) for mark in everyone.marks] == [(301, 501)]
    assert [(mark.start, mark.end) for mark in rounds.marks] == [(300, 302), (301, None)]


def test_the_shades_go_up():
    shades = [shade(count, 40) for count in range(41)]
    assert shades == sorted(shades)
    assert (shades[0], shades[1], shades[40]) == (0, 1, 7)


def test_what_is_not_measured_says_so():
    figure = ReuseFigure(stand_in(missing={"reuse/stores-2"}), stores=2)
    assert figure.source() == "Model, not measured: there is no recording of this."
    assert figure.sentence().endswith("Model, not measured.")
    assert figure.data()["cycles"] is None
    assert figure.table()[1][0][3:] == ["not measured", "never", "–"]
    assert figure.svg().startswith("<svg ")
    figure.stores = 3
    assert figure.source().startswith("Recorded on NVIDIA H200")
    assert ReuseFigure(None)._found.says().endswith("Model, not measured.")


def test_a_damaged_recording_and_a_failed_run_are_no_answer():
    def damaged(case):
        raise RecordingError("the recording is damaged", field="file", value="x.npz")

    with pytest.raises(RecordingError, match="damaged"):
        ReuseFigure(damaged)
    with pytest.raises(HardwareError, match="reuse/stores-1 ended with LAUNCH_FAILED"):
        ReuseFigure(stand_in(values={"error": "LAUNCH_FAILED"}))


@pytest.mark.parametrize("view", ["hardware", "model", "difference"])
@pytest.mark.parametrize("stores", [1, 4])
def test_every_state_has_its_picture_sentence_and_table(figure, stores, view):
    figure.stores, figure.view = stores, view
    assert figure.svg().startswith("<svg ")
    head, rows = figure.table()
    assert {len(row) for row in rows} == {len(head)}
    assert len(figure.data()["table"]) == len(rows)
    told = {figure._found.sentence(line) for line in range(stores * STORE_LINES)}
    assert len(told) == stores * STORE_LINES
    figure.stores, figure.view = 3, "hardware"


@pytest.mark.parametrize("wrong", [{"stores": 5}, {"commits": 16}, {"wait": "all"}, {"n": 4}, {"line": 512}])
def test_a_state_that_it_does_not_have_is_an_error(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        ReuseFigure(None, **wrong)


# --- the recordings --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def recorded():
    return reuse_spec(observe, "Reuse")


def test_no_line_that_a_wait_covers_was_ever_overwritten(recorded):
    found = list(every_state(recorded))
    assert all(one.seen for one in found)
    assert [one.unequal for one in found if one.unequal] == []


def test_every_combination_that_races_was_seen_to(recorded):
    for found in every_state(recorded):
        assert (found.seen[0] > 0) == (found.verdict == "race"), found.program()


def test_its_data_is_plain_json_and_small(recorded):
    text = json.dumps(recorded, separators=(",", ":"))
    assert json.loads(text)[0] == recorded[0]
    assert len(text) <= 40_000
