"""Tiling and bank conflicts: its tables against the seeds' formulas, every state's cost, bytes that were changed."""

import gzip
import json
import re
from dataclasses import replace
from itertools import product
from xml.etree import ElementTree

import numpy as np
import pytest

from tmalab import model
from tmalab.errors import HardwareError, InputError, RecordingError
from tmalab.experiment.memory import make_bytes
from tmalab.experiment.observation import Observation, Provenance
from tmalab.experiment.tiling_cases import (
    COLUMNS,
    FIRST_ROWS,
    TILING_DTYPES,
    TILING_SWIZZLES,
    TILINGS,
    banks_case,
    refused_case,
    tiling_case,
)
from tmalab.figures import TilingFigure
from tmalab.figures.tiling_state import TilingState
from tmalab.figures.tiling_tables import LAYOUTS, tiling_spec
from tmalab.model.tensor_map import TensorMap

VOLATILE = re.compile(r"<(\w+)[^>]*\bdata-volatile\b[^>]*>.*?</\1>", re.DOTALL)
PROVENANCE = Provenance("NVIDIA H200", "9.0", "0.0", "0.0", "0.0", "stand-in", "0" * 64, "2000-01-01T00:00:00Z", 1)
FLIPPED = {"tiling/yes/128B/float16": [(483, 0x09)]}  # in row 3, column 5, which stands at byte 480


def stand_in(change=None, missing=(), values=None, provenance=PROVENANCE, wavefronts=None):
    """An `observe` whose bytes and counts the model made; it is never a recording."""

    def observe(case):
        if case.name in missing:
            raise RecordingError("not recorded yet", field="case", value=case.name)
        seen = {"completed": True, "error": None, "diagnosis": None, **(values or {}).get(case.name, {})}
        if case.probe == "encode":
            accepted = not TensorMap.from_dict(case.params["tensor_map"]).violations()
            return Observation(case, {}, {"accepted": accepted, **seen}, provenance, "recorded")
        if case.probe == "banks":
            patterns = case.params["patterns"]
            counts = [model.warp_access(one["addresses"], one["width_bytes"]).count for one in patterns]
            counts = np.array(counts if wavefronts is None else [wavefronts] * len(counts), np.uint8)
            times = {"latency_cycles": 2.0 * counts + 27.04, "cycles": counts + 0.04}
            counted = {} if wavefronts == 0 else {"ncu_wavefronts": counts}
            seen["counted_by"] = {"kernel": "by-hand.cu", "kernel_sha256": "1" * 64} if counted else None
            return Observation(case, {**times, **counted}, seen, provenance, "recorded")
        given = case.params
        tm = TensorMap.from_dict(given["tensor_map"])
        smem = np.array(model.load(tm, make_bytes(given["memory"]), given["coords"], smem_bytes=given["smem_bytes"]))
        for byte, value in (change or {}).get(case.name, ()):
            smem[byte] = value
        return Observation(case, {"smem": smem}, seen, provenance, "recorded")

    return observe


def state(tiling="yes", swizzle="128B", column=5, first_row=0, dtype="float16", view="hardware", cell=(3, 5)):
    return {
        "tiling": tiling, "swizzle": swizzle, "column": column, "first_row": first_row, "dtype": dtype, "view": view,
        "cell": cell,
    }  # fmt: skip


@pytest.fixture(scope="module")
def figure():
    return TilingFigure(stand_in())


@pytest.fixture(scope="module")
def spec(figure):
    return figure.spec


# --- the tables ------------------------------------------------------------------------------------------------------

# The bank group of a chunk, told again: the formula as it is printed, and the same in Python.
FORMULAS = {
    ("yes", "128B"): ("local_col XOR (row % 8)", lambda row, col: (col % 8) ^ (row % 8)),
    ("no", "128B"): (
        "local_col XOR ((2*row + col // 8) % 8)", lambda row, col: (col % 8) ^ ((2 * row + col // 8) % 8),
    ),
    ("yes", "none"): ("local_col", lambda row, col: col % 8),
    ("no", "none"): ("local_col", lambda row, col: col % 8),
}  # fmt: skip
FILLED = {
    ("yes", "128B"): lambda row, col: f"local_col {col % 8} XOR ({row} % 8) = {(col % 8) ^ (row % 8)}",
    ("no", "128B"): lambda row, col: (
        f"local_col {col % 8} XOR ((2*{row} + {col // 8}) % 8) = {(col % 8) ^ ((2 * row + col // 8) % 8)}"
    ),
    ("yes", "none"): lambda row, col: f"local_col {col % 8}, no XOR",
    ("no", "none"): lambda row, col: f"local_col {col % 8}, no XOR",
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_each_chunk_stands_in_the_bank_group_of_the_printed_formula(spec, layout):
    for row, column in product(range(16), range(16)):
        found = TilingState(spec, state(*layout, cell=(row, column)))
        printed, group = FORMULAS[layout]
        assert found.layout["formula"] == printed
        assert found.groups(16 * row + column) == [group(row, column)]
        assert f"→ {FILLED[layout](row, column)} → S{group(row, column)}, banks " in found.sentence()


@pytest.mark.parametrize(("tiling", "swizzle"), LAYOUTS)
def test_the_map_of_chunks_is_the_same_for_elements_of_1_2_4_and_8_bytes(spec, tiling, swizzle):
    layout = spec["layouts"][LAYOUTS.index((tiling, swizzle))]
    assert len(layout["model"]) == len(layout["hardware"]) == len(TILING_DTYPES) == 4
    assert len({*layout["model"], *layout["hardware"]}) == 1
    assert layout["same"] == "uint8, float16, float32 and float64: the same map of chunks, measured."
    tables = [TilingState(spec, state(tiling, swizzle, dtype=dtype)).hardware for dtype in TILING_DTYPES]
    assert all(sorted(table) == list(range(256)) for table in tables)
    assert tables[1:] == tables[:-1]


def test_four_layouts_have_four_maps(spec):
    assert len(spec["tables"]) == 4


@pytest.mark.parametrize(("tiling", "swizzle", "degree"), [
    ("yes", "128B", 1), ("no", "128B", 2), ("yes", "none", 8), ("no", "none", 8),
])  # fmt: skip
def test_every_column_from_every_first_row_costs_its_highest_stack(figure, spec, tiling, swizzle, degree):
    for column, first_row in product(COLUMNS, FIRST_ROWS):
        found = TilingState(spec, state(tiling, swizzle, column, first_row), figure.provenance["counted"])
        assert max(map(len, found.stacks)) == found.predicted == found.counted == degree
        assert sum(map(len, found.stacks)) == 8
        assert found.results().endswith(f": {8 // degree} distinct")
        assert [chunk % 16 for chunk in found.reads] == [column] * 8
        assert [chunk // 16 for chunk in found.reads] == list(range(first_row, first_row + 8))


def test_the_drawn_rows_hold_all_of_shared_memory_once(spec):
    for layout, (tiling, _) in zip(spec["layouts"], LAYOUTS, strict=True):
        starts = [start for pair in layout["starts"] for start in pair]
        assert sorted(starts) == list(range(0, 256, 8))
        assert layout["starts"][3] == ([24, 152] if tiling == "yes" else [48, 56])


def test_the_refused_map_is_the_ungrouped_layouts_alone(spec):
    refused = [layout["refused"] for layout in spec["layouts"]]
    assert [one is None for one in refused] == [True, True, False, True]
    assert [one["accepted"] for one in refused[2]] == [False] * 4
    assert {one["rule"] for one in refused[2]} == {"box_inner_le_swizzle_span"}
    assert refused[2][1]["copy"] == "float16, box {128, 16}, strides {256}, SWIZZLE_128B"
    assert refused[2][1]["message"] == "box_dim[0]=128 float16 elements is 256 bytes; SWIZZLE_128B allows 128."
    assert spec["layouts"][0]["maps"][1]["copy"] == "float16, box {64, 16, 2}, strides {256, 128}, SWIZZLE_128B"


# --- in words --------------------------------------------------------------------------------------------------------


def test_the_sentence_names_the_rivals(spec):
    def said(*given, **more):
        return TilingState(spec, state(*given, **more)).sentence()

    assert said() == (
        "Row 3, column 5 → local_col 5 XOR (3 % 8) = 6 → S6, banks 24–27, shared byte 480. No other of the eight reads "
        "wants its banks. Measured: so it is."
    )
    assert " Of the eight reads row 7 wants its banks too." in said("no")
    assert " Of the eight reads rows 0, 1, 2, 4, 5, 6, 7 want its banks too." in said("yes", "none")
    assert "eight reads" not in said(cell=(3, 6))
    assert "eight reads" not in said(cell=(8, 5))


def test_the_cost_in_words(figure, spec):
    counted = figure.provenance["counted"]
    views = ("hardware", "model", "difference")
    costs = {view: TilingState(spec, state("no", view=view), counted).costs() for view in views}
    assert costs["model"] == ["predicted: 2 wavefronts (2-way conflict)"]
    assert costs["hardware"] == [*costs["model"], "measured: 2 wavefronts"]
    assert costs["difference"] == [*costs["hardware"], "they agree"]
    assert TilingState(spec, state()).costs()[0] == "predicted: 1 wavefront (no conflict)"
    assert figure.cycles() == figure.data()["measured"] == {"latency_cycles": 29.0, "cycles": 1.0}
    assert "Cycles (data after 29.0, one read every 1.0): Recorded on NVIDIA H200" in figure.source()
    assert figure.source().endswith(" 1 run; wavefronts counted by by-hand.cu 11111111.")
    assert "29.0" not in figure.svg() + figure.sentence()


def test_a_conflict_shows_in_the_wait_before_it_shows_in_the_rate(spec):
    paces = [TilingState(spec, state(*layout)).pace() for layout in LAYOUTS]
    assert paces[0].endswith("take 4 cycles to come back: one wavefront fits in that.")
    assert paces[2].endswith("take 4 cycles to come back: 2 wavefronts fit in that, and only the wait is longer.")
    assert paces[1] == paces[3]
    assert paces[1] == "The data take 4 cycles to come back; 8 wavefronts hold up the next read too."


# --- a wrong byte, a wrong count -------------------------------------------------------------------------------------


def test_one_flipped_byte_changes_its_chunk_and_no_other():
    spec, _ = tiling_spec(stand_in(FLIPPED), "Tiling")
    for tiling, swizzle, dtype in product(TILINGS, TILING_SWIZZLES, TILING_DTYPES):
        found = TilingState(spec, state(tiling, swizzle, dtype=dtype, view="difference"))
        assert found.unequal == ({30} if tiling_case(tiling, swizzle, dtype).name in FLIPPED else set())
    found = TilingState(spec, state(view="difference"))
    assert found.count() == "1 of 256 chunks differs"
    assert found.sentence().endswith(" Measured: it holds bytes a801a909aa01ab01ac01ad01ae01af01.")
    assert found.lost(16 * 3 + 5)
    assert found.results() == "5 4 7 – 1 0 3 2: 7 distinct"
    assert [row[6] for row in found.table()[1]] == ["equal"] * 3 + ["differs"] + ["equal"] * 4
    assert TilingState(spec, state(column=2)).table()[1][8][:3] == ["–", "–", "S6"]
    assert spec["layouts"][0]["same"].endswith(": not the same map of chunks.")
    model_view = TilingState(spec, state(view="model"))
    assert not model_view.wrong(30)
    assert model_view.results() == "5 4 7 6 1 0 3 2: 8 distinct"


def test_a_chunk_that_came_to_another_place_is_found_there():
    swapped = {"tiling/no/none/uint8": [*_bytes(0, 5), *_bytes(80, 0)]}
    spec, _ = tiling_spec(stand_in(swapped), "Tiling")
    found = TilingState(spec, state("no", "none", dtype="uint8", cell=(0, 5)))
    assert found.at(found.hardware, 5) == [0]
    assert found.sentence().endswith(" Measured: it holds row 0, column 0.")
    assert len(found.stacks[0]) == 1
    assert len(found.stacks[5]) == 7


def _bytes(where: int, chunk: int) -> list[tuple[int, int]]:
    whole = make_bytes({"pattern": "iota16", "bytes": 4096})
    return [(where + byte, int(whole[16 * chunk + byte])) for byte in range(16)]


def test_a_measurement_that_disagrees_says_so():
    figure = TilingFigure(stand_in(wavefronts=4), tiling="no", view="difference")
    assert figure.sentence().endswith("predicted: 2 wavefronts (2-way conflict); measured: 4 wavefronts; they differ.")


# --- what is not measured, and what failed ---------------------------------------------------------------------------


def test_without_recordings_it_is_the_model_and_says_so():
    figure = TilingFigure(None, tiling="no")
    assert figure.cycles() is None
    assert figure.source() == "Bytes: model, not measured. Cycles: not measured."
    assert figure.sentence().endswith(
        " Model, not measured. predicted: 2 wavefronts (2-way conflict); not counted on a GPU."
    )
    assert "model, not measured" in figure.svg()
    assert "refused, says the model" in figure.svg()
    assert {row[5] for row in figure.table()[1]} == {"not measured"}
    assert figure.spec["layouts"][0]["same"].endswith("by the model.")
    assert figure.data()["hardware_shared_bytes"] is None


def test_times_that_nobody_counted_are_no_wavefronts():
    figure = TilingFigure(stand_in(wavefronts=0))
    assert figure.provenance["counted"] is None
    assert figure.sentence().endswith("predicted: 1 wavefront (no conflict); not counted on a GPU.")
    assert figure.cycles() is not None
    assert "counted by" not in figure.source()


def test_bytes_without_times_and_times_without_bytes():
    no_times = TilingFigure(stand_in(missing={banks_case().name}))
    assert no_times.source().startswith("Bytes: Recorded on NVIDIA H200 (sm_90)")
    assert no_times.source().endswith(" 1 run. Cycles: not measured.")
    no_bytes = TilingFigure(stand_in(missing={tiling_case("yes", "128B", "float16").name}))
    assert no_bytes.source().startswith("Bytes: model, not measured")
    assert no_bytes.cycles() == {"latency_cycles": 29.0, "cycles": 1.0}
    assert no_bytes.spec["layouts"][0]["same"].endswith("by the model.")
    no_bytes.dtype = "float64"
    assert no_bytes.source().startswith("Bytes: Recorded on NVIDIA H200")


def test_a_damaged_recording_and_a_failed_run_are_no_answer():
    def damaged(case):
        raise RecordingError("the recording is damaged", field="file", value="x.npz")

    with pytest.raises(RecordingError, match="damaged"):
        TilingFigure(damaged)
    for name in ("tiling/yes/none/uint8", banks_case().name, refused_case("uint8").name):
        with pytest.raises(HardwareError, match=f"{name} ended with ILLEGAL_ADDRESS"):
            TilingFigure(stand_in(values={name: {"error": "ILLEGAL_ADDRESS"}}))


# --- the figure as a widget ------------------------------------------------------------------------------------------


def test_it_begins_with_the_tiled_swizzle():
    assert repr(TilingFigure(None)) == (
        "TilingFigure(tiling='yes', swizzle='128B', column=5, first_row=0, dtype='float16', view='hardware', "
        "cell=(3, 5))"
    )


@pytest.mark.parametrize(
    ("field", "value"),
    [("tiling", True), ("swizzle", "64B"), ("column", 16), ("column", 3.0), ("first_row", 9), ("dtype", "int4"),
     ("view", "both"), ("cell", (16, 0))],
)  # fmt: skip
def test_a_state_that_it_does_not_have_is_refused_with_those_it_has(field, value):
    with pytest.raises(InputError, match=f"{field}=.*Fix: use one of"):
        TilingFigure(None, **{field: value})


@pytest.mark.parametrize(("tiling", "swizzle"), LAYOUTS)
def test_the_still_labels_every_chunk_and_stacks_the_reads(tiling, swizzle):
    figure = TilingFigure(stand_in(), tiling=tiling, swizzle=swizzle, column=13, first_row=4)
    svg = ElementTree.fromstring(figure.svg())
    space = "{http://www.w3.org/2000/svg}"
    labels = [text for text in svg.iter(f"{space}text") if text.get("class") == "label"]
    spans = [span.text for text in labels for span in text.iter(f"{space}tspan")]
    assert sorted(spans) == sorted([str(column) for column in range(16)] * 32)  # the grid and shared memory
    assert [text.text for text in labels if text.text] == [
        f"row {chunk // 16}" for stack in figure._found.stacks for chunk in stack
    ]
    assert "H200" not in figure.svg()


def test_in_the_difference_view_what_is_equal_fades():
    plain, flipped = (TilingFigure(stand_in(change), view="difference").svg() for change in (None, FLIPPED))
    assert "class='wrong'" not in plain
    (wrong,) = re.findall(r"class='wrong' fill='none' d='([^']*)'", flipped)
    assert wrong.count("M") == 2  # in the grid and in shared memory


def test_another_machine_changes_volatile_elements_only():
    elsewhere = stand_in(provenance=replace(PROVENANCE, gpu="NVIDIA H100 NVL", date="2031-05-05"))
    one, other = TilingFigure(stand_in()).html(), TilingFigure(elsewhere).html()
    assert one != other
    assert VOLATILE.sub("", one) == VOLATILE.sub("", other)
    assert "29.0" in one
    assert "29.0" not in VOLATILE.sub("", one)


def test_a_machine_without_the_profiler_changes_volatile_elements_only():
    one, other = TilingFigure(stand_in()).html(), TilingFigure(stand_in(wavefronts=0)).html()
    assert one != other
    assert VOLATILE.sub("", one) == VOLATILE.sub("", other)
    assert '"tables":' in VOLATILE.sub("", one)  # the bytes are compared


def test_what_a_page_carries_is_small(figure):
    html = figure.html()
    assert len(html) <= 64_000
    assert len(gzip.compress(html.encode(), 6)) <= 12_000
    json.dumps(figure.data())


# --- the recordings --------------------------------------------------------------------------------------------------


def test_every_state_is_recorded_and_costs_what_was_foretold():
    from tmalab import observe

    spec, provenance = tiling_spec(lambda case: observe(case, live=False), "Tiling")
    assert provenance["counted"] == spec["predicted"]
    assert len(spec["predicted"]) == 576
    assert len(provenance["reads"]["cycles"]) == len(provenance["reads"]["latency_cycles"]) == 576
    for layout in spec["layouts"]:
        assert layout["hardware"] == layout["model"]
        assert layout["changed"] == {}
    assert all(one["accepted"] is False for one in spec["layouts"][2]["refused"])
