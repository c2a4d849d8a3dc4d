"""Parity: its tables against what must hold of any run, a run that was changed, and the recordings."""

import json

import numpy as np
import pytest

from tmalab import observe
from tmalab.errors import HardwareError, InputError, RecordingError
from tmalab.experiment.observation import Observation, Provenance
from tmalab.experiment.parity_program import PACES, RULES, TILES, case_name
from tmalab.figures.parity import ParityFigure
from tmalab.figures.parity_state import LABELS, ParityState
from tmalab.figures.parity_tables import ROWS, parity_spec, whose

PROVENANCE = Provenance("NVIDIA H200", "9.0", "0.0", "0.0", "0.0", "stand-in", "0" * 64, "2000-01-01T00:00:00Z", 4)
NAMES = (
    "unarmed_0", "unarmed_1", "flight_0", "flight_1", "parity", "completed", "tries", "waited_cycles", "lowest",
    "highest", "after_0", "after_1",
)  # fmt: skip
RUNS = 4
every = pytest.mark.parametrize("rule", RULES)


def answers_of(case, change=()):
    """What a barrier does by the manual, told without the model: a right wait returns, a wrong one early or never."""
    given = {"right": lambda i: i & 1, "always_0": lambda i: 0, "always_1": lambda i: 1, "loop_index": lambda i: i,
             "inverted": lambda i: i & 1 ^ 1}[case.params["rule"]]  # fmt: skip
    out = np.zeros((RUNS, TILES, len(NAMES)), np.int32)
    for tile in range(TILES):
        odd, right = tile & 1, given(tile) & 1 == tile & 1
        stale = not right and case.params["pace"] != "late"
        out[:, tile] = [odd, odd ^ 1, odd, odd ^ 1, given(tile), right or stale, 1, 100, tile if stale else tile + 1,
                        tile if stale else tile + 1, odd ^ 1, odd]  # fmt: skip
    for name, run, tile, answer, value in change:
        if name == case.name:
            out[run, tile, NAMES.index(answer)] = value
    return out


def stand_in(change=(), missing=(), values=None):
    """An `observe` that answers by the manual, but for `change` [(case, run, tile, answer, value)]. No recording."""

    def look(case):
        if case.name in missing:
            raise RecordingError("not recorded yet", field="case", value=case.name)
        seen = {"completed": True, "error": None, "answers": list(NAMES), **(values or {})}
        return Observation(case, {"answers": answers_of(case, change)}, seen, PROVENANCE, "recorded")

    return look


@pytest.fixture(scope="module")
def figure():
    return ParityFigure(stand_in())


def state(spec, provenance, rule, view="hardware", tile=0, row=0):
    return ParityState(spec, provenance, {"rule": rule, "view": view, "tile": tile, "row": row})


@every
def test_it_agrees_with_the_manual(rule):
    found = state(*parity_spec(stand_in(), "Parity"), rule)
    assert found.unequal == []
    assert found.note() == "0 of 77 cells differ from the model"
    for tile in range(TILES):
        assert [found.hardware(row, tile)[0] for row in range(6)] == (
            ["no", "yes", "no", "yes", "yes", "no"] if tile % 2 == 0 else ["yes", "no", "yes", "no", "no", "yes"]
        )


def test_whose_words():
    assert [whose(0, lowest=low, highest=high) for low, high in ((1, 1), (0, 0), (0, 1), (1, 2))] == [
        "own", "stale", "half", "later",
    ]  # fmt: skip


def test_the_loop_index_is_given_whole_and_counts_by_its_lowest_bit(figure):
    figure.rule, figure.tile, figure.row = "loop index", 6, 6
    assert "the wait is given 6; only bit 0 counts, 0, the parity of its phase." in figure.sentence()
    found = figure._found
    assert [found.used(0, tile) for tile in range(3)] == [True, False, True]
    figure.rule, figure.tile = "right", 1


def test_one_other_answer_changes_its_cell_and_no_other():
    changed = [("parity/early/right", 2, 3, "flight_0", 0)]
    spec, provenance = parity_spec(stand_in(changed), "Parity")
    for rule in RULES:
        found = state(spec, provenance, rule, "difference", 3, 2)
        assert found.unequal == ([(2, 3)] if rule == "right" else [])
    found = state(spec, provenance, "right", "difference", 3, 2)
    assert found.hardware(2, 3) == ("3", "of 4", "mixed")
    assert found.note() == "1 of 77 cells differs from the model"
    assert found.sentence().endswith("answered yes in 3 of 4 runs, no in 1. The last complete phase is 2, of parity 0. "
                                     "The model says yes.")  # fmt: skip
    assert [row for row in found.table()[1] if row[-1] == "differs"] == [
        ["3", "1", "in flight, parity 0", "3 of 4", "yes", "differs"]
    ]


@pytest.mark.parametrize(
    ("changed", "cell", "told"),
    [
        (("parity/late/right", 0, 2, "completed", 0), (8, 2), "It returned in 3 of 4 runs, after 100 cycles."),
        (("parity/late/inverted", 0, 2, "completed", 1), (8, 2), "It returned in 1 of 4 runs, after 100 cycles."),
        (("parity/free/right", 1, 5, "lowest", 5), (10, 5), "read its own words in 3, half a tile in 1 of 4 runs."),
        (("parity/free/right", 1, 5, "highest", 7), (10, 5), "its own words in 3, a later tile's words in 1 of 4"),
    ],
)
def test_what_the_model_rules_out_differs(changed, cell, told):
    rule = changed[0].split("/")[-1].replace("-", " ")
    found = state(*parity_spec(stand_in([changed]), "Parity"), rule, "hardware", cell[1], cell[0])
    assert found.unequal == [cell]
    assert told in found.sentence()
    assert "The model says" in found.sentence()


def test_a_wrong_parity_that_happens_to_read_right_is_no_difference():
    changed = [("parity/free/inverted", run, 3, end, 4) for run in range(RUNS) for end in ("lowest", "highest")]
    found = state(*parity_spec(stand_in(changed), "Parity"), "inverted", "hardware", 3, 10)
    assert found.unequal == []
    assert found.hardware(10, 3) == ("own", "", "own")
    assert found.predicted(10, 3) == ("any", "", "any")


def test_a_cell_looks_like_what_went_wrong_in_one_run():
    found = state(*parity_spec(stand_in([("parity/free/right", 1, 5, "lowest", 5)]), "Parity"), "right")
    assert found.hardware(10, 5) == ("own", "3 of 4", "half")


def test_what_is_not_measured_says_so():
    gone = {case_name("right", "pipeline")}
    figure = ParityFigure(stand_in(missing=gone), row=9)
    assert figure.sentence().endswith("It returns when the tile has landed. Model, not measured.")
    assert figure.table()[1][9 * TILES][3:] == ["not measured", "in time", "–"]
    figure.row = 6
    assert "Model" not in figure.sentence()
    assert figure.source().startswith("Recorded on NVIDIA H200")
    nothing = ParityFigure(None)
    assert nothing.source() == "Model, not measured: there is no recording of this rule."
    assert nothing._found.note() == "model, not measured"


def test_a_damaged_recording_and_a_failed_run_are_no_answer():
    def damaged(case):
        raise RecordingError("the recording is damaged", field="file", value="x.npz")

    with pytest.raises(RecordingError, match="damaged"):
        ParityFigure(damaged)
    with pytest.raises(HardwareError, match="parity/early/right ended with TIMEOUT"):
        ParityFigure(stand_in(values={"completed": False}))


@every
@pytest.mark.parametrize("view", ["hardware", "model", "difference"])
def test_every_state_has_its_picture_sentence_and_table(figure, rule, view):
    figure.rule, figure.view = rule, view
    assert figure.svg().startswith("<svg ")
    head, rows = figure.table()
    assert {len(row) for row in rows} == {len(head)}
    assert len(rows) == len(LABELS) * TILES == len(figure.data()["table"])
    sentences = {figure._found.sentence(row, tile) for row in range(len(ROWS)) for tile in range(TILES)}
    assert len(sentences) == len(rows)  # each cell's is its own
    figure.rule, figure.view = "right", "hardware"


def test_its_data_is_plain_json_and_small(figure):
    text = json.dumps([figure.spec, figure.provenance], separators=(",", ":"))
    assert json.loads(text)[0] == figure.spec
    assert len(text) <= 10_000
    assert repr(figure) == "ParityFigure(rule='right', view='hardware', tile=1, row=6)"


@pytest.mark.parametrize("wrong", [{"rule": "even"}, {"view": "guess"}, {"tile": 7}, {"row": 11}])
def test_a_state_that_it_does_not_have_is_an_error(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        ParityFigure(None, **wrong)


# --- the recordings --------------------------------------------------------------------------------------------------


@every
def test_it_is_recorded_and_the_model_allows_what_was_seen(rule):
    found = state(*parity_spec(observe, "Parity"), rule)
    assert all(found.seen)
    assert found.unequal == []


def test_each_wrong_parity_was_seen_to_hang_and_to_let_through():
    spec, provenance = parity_spec(observe, "Parity")
    for rule in ("always 0", "always 1", "inverted"):
        found = state(spec, provenance, rule)
        wrong = [tile for tile in range(TILES) if found.model["given"][tile] % 2 != tile % 2]
        assert all(found.hardware(8, tile) == ("never", "", "never") for tile in wrong)
        assert any(found.hardware(10, tile)[2] in ("stale", "half") for tile in wrong)
    assert len(PACES) == 3
