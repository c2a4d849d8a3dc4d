"""At the edges: its tables against what the chapter says of the tensor, bytes that were changed, and the recordings."""

import json
import struct
from dataclasses import replace

import pytest

from tmalab.errors import HardwareError, InputError, RecordingError
from tmalab.experiment.observation import Observation, Provenance
from tmalab.figures import EdgesFigure
from tmalab.figures.edges_geometry import EXPERIMENTS, layout, memories
from tmalab.figures.edges_state import EdgesState
from tmalab.figures.edges_tables import edges_spec, label

NAMES = list(EXPERIMENTS)
BY_CASE = {one.case.name: one for one in EXPERIMENTS.values()}
every = pytest.mark.parametrize("name", NAMES)


def stand_in(provenance, change=None, missing=(), values=None):
    """An `observe` whose bytes the model made; `change` {experiment: [(byte, value), …]}. It is never a recording."""

    def observe(case):
        one = BY_CASE[case.name]
        if one.name in missing:
            raise RecordingError("not recorded yet", field="case", value=case.name)
        left = memories(one).result.copy()
        for byte, value in (change or {}).get(one.name, ()):
            left[byte] = value
        array = "smem" if layout(one).direction == "load" else "memory"
        return Observation(case, {array: left}, {"completed": True, **(values or {})}, provenance, "recorded")

    return observe


@pytest.fixture(scope="module")
def provenance():
    return Provenance("NVIDIA H200", "9.0", "0.0", "0.0", "0.0", "stand-in", "0" * 64, "2000-01-01T00:00:00Z", 1)


@pytest.fixture(scope="module")
def figure(provenance):
    return EdgesFigure(stand_in(provenance))


def one_of(spec, name):
    return spec["experiments"][NAMES.index(name)]


def number(bits: str) -> int:
    """An element's bits as the number that the memory was made of."""
    return int(struct.unpack(">f", bytes.fromhex(bits))[0]) if len(bits) == 8 else int(bits, 16)


# --- what is drawn, told again without the model ---------------------------------------------------------------------


@every
def test_memory_is_drawn_where_it_is(figure, name):
    """The element in row r, column c holds 128 + 16 r + c; no other place of the picture holds anything."""
    one = one_of(figure.spec, name)
    if one["group"] == "Bits on a load":
        return
    left, top, width, height = one["window"]
    before = one["given"] if one["direction"] == "load" else one["before"]
    for cell in range(width * height):
        column, row = left + cell % width, top + cell // width
        if 0 <= column < 16:
            assert number(before[cell]) == 128 + 16 * row + column
        else:
            assert before[cell] == ""


@pytest.mark.parametrize("name", [name for name in NAMES if layout(EXPERIMENTS[name]).direction == "load"])
def test_a_load_brings_the_tensor_and_fills_the_rest(figure, name):
    one = one_of(figure.spec, name)
    fill = "7ff7" * (one["bytes"] // 2) if name.startswith(("nan", "bits")) else "00" * one["bytes"]
    for kind, (column, row), cell in zip(one["kinds"], one["coords"], one["shared_cells"], strict=True):
        inside = 0 <= column < 10 and 0 <= row < 6
        assert kind == ("in" if inside else "out")
        if not inside:
            assert one["model"][cell] == fill
        elif one["group"] != "Bits on a load":
            assert number(one["model"][cell]) == 128 + 16 * row + column


@pytest.mark.parametrize("name", [name for name in NAMES if layout(EXPERIMENTS[name]).direction != "load"])
def test_a_store_ends_its_rows_at_16_bytes(figure, name):
    one = one_of(figure.spec, name)
    for kind, (column, row), cell in zip(one["kinds"], one["coords"], one["memory_cells"], strict=True):
        end = -(-10 * one["bytes"] // 16) * 16 // one["bytes"]
        assert kind == ("out" if row >= one["tensor"][3] or column >= end else "in" if column < 10 else "clip")
        if kind == "out":
            assert one["model"][cell] == one["before"][cell]
    box = set(one["memory_cells"])
    assert all(one["model"][cell] == bits for cell, bits in enumerate(one["before"]) if cell not in box)


def test_what_a_store_or_reduction_leaves(figure):
    def row_of(name, row):
        one = one_of(figure.spec, name)
        return [number(bits) for bits in one["model"][16 * row + 8 : 16 * row + 16]]

    assert row_of("store-float32", 3) == [0, 1, 2, 3, 188, 189, 190, 191]
    assert row_of("store-float16", 3) == list(range(8))
    assert row_of("store-rank-1", 0) == [8, 9, 10, 11, 140, 141, 142, 143]
    assert row_of("add", 4) == [200 + 8, 201 + 9, 202 + 10, 203 + 11, 204, 205, 206, 207]
    assert [row_of("min", row)[0] for row in (3, 4, 5, 6)] == [184, 200, 208, 232]


def test_padded_rows_and_strides(figure):
    padded = one_of(figure.spec, "padded")
    assert padded["shared_cells"][:8] == [0, 1, 2, 3, 8, 9, 10, 11]
    assert padded["shared_cells"][16:20] == [36, 37, 38, 39]  # line 1: the halves of 32 bytes change places
    assert [row for _, row in one_of(figure.spec, "stride-2")["coords"][::8]] == [1, 3, 5]
    assert [row for _, row in one_of(figure.spec, "stride-3")["coords"][::8]] == [0, 3, 6]
    assert [column for column, _ in one_of(figure.spec, "inner-stride")["coords"][:8]] == list(range(8))


def test_the_barrier_counts_the_whole_box(figure):
    counted = {name: one_of(figure.spec, name)["engine"][-1] for name in NAMES}
    for name in ("zero", "outside", "before", "nan-float32", "inner-stride"):
        assert counted[name] == f"{8 * 4 * 4} bytes counted"
    assert counted["larger"] == f"{12 * 8 * 4} bytes counted"
    assert counted["stride-3"] == f"{8 * 3 * 4} bytes counted"


def test_labels():
    assert label("43000000", "float32") == ("128", "", "128")
    assert label("3f801000", "float32", as_bits=True) == ("3f80", "1000", "3f801000")
    assert label("7fffe000", "tfloat32", as_bits=True)[2] == "NaN (7fffe000)"
    assert label("7f80", "bfloat16")[2] == "7f80"  # an infinity is no NaN
    assert label("7ff7", "bfloat16")[2] == label("7ff7", "float16")[2] == "NaN (7ff7)"
    assert label("43000001", "float32") == ("4300", "0001", "43000001")
    assert label("cdcdcdcd", "float32") == ("", "", "untouched")
    assert label("", "float32")[2] == "nothing"


# --- a wrong byte ----------------------------------------------------------------------------------------------------


@every
@pytest.mark.parametrize("where", [0, 5, -1])
def test_one_flipped_byte_changes_its_element_and_no_other(provenance, figure, name, where):
    found = EdgesState(figure.spec, {"experiment": name, "view": "hardware", "cell": (0, 0)})
    cell = found.cells[where]
    one = layout(EXPERIMENTS[name])
    offset = EXPERIMENTS[name].case.params["address_offset"]
    byte = 1 + (one.shared_byte(cell) if found.is_load else offset + one.memory_byte(cell))
    flip = int(memories(EXPERIMENTS[name]).result[byte]) ^ 0x40
    spec, _ = edges_spec(stand_in(provenance, {name: [(byte, flip)]}), "Edges")
    for other in NAMES:
        now = EdgesState(spec, {"experiment": other, "view": "difference", "cell": (0, 0)})
        assert now.unequal == ({cell} if other == name else set())
        assert now.one["model"] == one_of(figure.spec, other)["model"]
    now = EdgesState(spec, {"experiment": name, "view": "difference", "cell": (0, 0)})
    assert now.count().startswith("1 of ")
    assert "where the model says" in now.verdict(cell)
    assert [row[5] for row in now.table()[1]].count("differs") == 1
    assert EdgesState(spec, {"experiment": name, "view": "model", "cell": (0, 0)}).shown == found.one["model"]


def test_a_byte_outside_the_picture_is_counted(provenance):
    figure = EdgesFigure(stand_in(provenance, {"zero": [(511, 0)], "add": [(0, 1)]}))
    assert one_of(figure.spec, "zero")["elsewhere"] == one_of(figure.spec, "add")["elsewhere"] == 1
    assert "0 of 32 elements differ, and 1 byte that is not drawn" in figure.svg()


# --- what is not measured, and what failed ---------------------------------------------------------------------------


def test_an_experiment_without_a_recording_says_so(provenance):
    figure = EdgesFigure(stand_in(provenance, missing={"add"}), experiment="add")
    assert figure.source() == "Model, not measured: there is no recording of this experiment."
    assert figure.sentence().endswith(" Model, not measured.")
    assert "model, not measured" in figure.svg()
    assert figure.table()[1][0][3:] == ["not measured", "184", "–"]
    figure.experiment = "zero"
    assert figure.source().startswith("Recorded on NVIDIA H200 (sm_90)")
    assert figure.sentence().endswith(" Measured: so it is.")


def test_a_damaged_recording_and_a_failed_run_are_no_answer(provenance):
    def damaged(case):
        raise RecordingError("the recording is damaged", field="file", value="x.npz")

    with pytest.raises(RecordingError, match="damaged"):
        EdgesFigure(damaged)
    with pytest.raises(HardwareError, match="edges/small/zero ended with TIMEOUT"):
        EdgesFigure(stand_in(provenance, values={"completed": False}))


# --- the figure as a widget ------------------------------------------------------------------------------------------


@every
def test_every_state_has_its_picture_sentence_and_table(figure, name):
    figure.experiment = name
    assert figure.svg().startswith("<svg ")
    assert "H200" not in figure.svg() + figure.sentence()
    head, rows = figure.table()
    assert {len(row) for row in rows} == {len(head)}
    assert {row[5] for row in rows} == {"equal"}
    assert len(figure.data()["table"]) == len(rows)
    figure.experiment = "zero"


def test_its_data_is_plain_json_and_small(figure):
    text = json.dumps(figure.spec, separators=(",", ":"))
    assert json.loads(text) == json.loads(json.dumps(figure.spec))
    assert len(text) <= 200_000
    assert repr(figure) == "EdgesFigure(experiment='zero', view='hardware', cell=(1, 6))"


@pytest.mark.parametrize("state", [{"experiment": "far"}, {"view": "guess"}, {"cell": (8, 0)}])
def test_a_state_that_it_does_not_have_is_an_error(provenance, state):
    with pytest.raises(InputError, match=next(iter(state))):
        EdgesFigure(stand_in(provenance), **state)


def test_two_machines_keep_their_own_line(provenance):
    other = stand_in(replace(provenance, gpu="NVIDIA H100"))
    one = stand_in(provenance)
    figure = EdgesFigure(lambda case: (other if case.name.endswith("/zero") else one)(case))
    assert "H100" in figure.source()
    figure.experiment = "add"
    assert "H200" in figure.source()


# --- the recordings --------------------------------------------------------------------------------------------------


@every
def test_it_is_recorded_and_as_the_model_says(name):
    from tmalab import observe

    seen = observe(EXPERIMENTS[name].case, live=False)
    array = "smem" if layout(EXPERIMENTS[name]).direction == "load" else "memory"
    assert (seen[array] == memories(EXPERIMENTS[name]).result).all()
    if array == "smem":
        assert seen["delivered_bytes"] == layout(EXPERIMENTS[name]).tensor_map.transaction_bytes()
