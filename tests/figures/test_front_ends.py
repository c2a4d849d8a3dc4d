"""One tile, many front ends: its tables against dumps made by hand, a refusal, a descriptor unlike the driver's."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from tmalab.errors import HardwareError, InputError, RecordingError
from tmalab.experiment.frontend_tile_cases import TASK, task_map
from tmalab.experiment.frontend_tiles import expected_tile
from tmalab.experiment.observation import Observation, Provenance
from tmalab.figures import FrontEndsFigure
from tmalab.figures.front_ends_tables import RAW, VIEWS, ways
from tmalab.model.encoded_map import bits_of

WHERE = Provenance("NVIDIA H200", "9.0", "580.0", "13.0", "13.0", "triton/tile.py", "0" * 64, "2000-01-01", 1)
OTHER = 3 * 128 + 5 * 16 + 7  # a byte of line 3, chunk 5


def encoded(**changes: int) -> np.ndarray:
    """The task's map as 128 bytes, put together from the table of places; `changes` are raw numbers of fields."""
    fields = {
        "address": 0x7F00_0000_0000, "rank": 1, "dtype": 6, "swizzle": 3, "global_strides[0]": 40, "global_dim[0]": 319,
        "global_dim[1]": 191, "box_dim[0]": 63, "box_dim[1]": 31, "box_bytes": 4096, "pattern_bytes": 1024, **changes,
    }  # fmt: skip
    whole = 0
    for field, value in fields.items():
        for first, count in bits_of(field):
            whole |= (value & (1 << count) - 1) << first
            value >>= count
    return np.frombuffer(whole.to_bytes(128, "little"), np.uint8)


def made_up(case) -> Observation:
    """Every way right, but for Triton's: on the host one byte is wrong, on the device box_bytes is 0; numba refuses."""
    smem = expected_tile(task_map(), TASK["at"][::-1]).copy()
    arrays = {"smem": smem, "descriptor": encoded(), "driver_descriptor": encoded()}
    values = {
        "completed": True, "error": None, "package": {"name": case.probe, "version": "1.2"}, "coords": [128, 96],
        "smem_address": 1024, "captured": "launch parameter", "raised": None, "package_mb": 3.0,
        "ptx": ["mbarrier.init.x [%r1], 1;", "@%p2 cp.async.bulk.tensor.2d.y [%r2], [%rd1, {%r3, %r4}], [%r1];"],
    }  # fmt: skip
    if case.name == "frontends/raw/descriptor":
        return Observation(case, {"encoded": encoded()}, {"error": None}, WHERE, "recorded")
    if case.name == "frontends/raw/load":
        return Observation(case, {"smem": smem}, {"completed": True, "error": None}, WHERE, "recorded")
    if case.name == "frontends/triton/host":
        smem[OTHER] ^= 0xFF
        arrays["descriptor"] = arrays["driver_descriptor"] = encoded(l2_promotion=2)
    if case.name == "frontends/triton/device":
        arrays["descriptor"] = encoded(box_bytes=0)
    if case.name == "frontends/numba/argument":
        values = {**values, "raised": {"message": "cannot tell", "type": "TypingError", "where": "x"}, "ptx": []}
        arrays = {}
    return Observation(case, arrays, values, WHERE, "recorded")


@pytest.fixture
def figure():
    return FrontEndsFigure(made_up)


def test_every_chunk_of_the_tile_is_drawn_where_the_dump_has_it(figure, put):
    found = put(figure, way="cuda.core")
    tile = expected_tile(task_map(), TASK["at"][::-1]).view("<u2").reshape(32, 8, 8)
    for chunk, what in enumerate(found.hardware):
        row, column = divmod(what, 8)
        assert tile[chunk // 8, chunk % 8, 0] == 320 * (96 + row) + 128 + 8 * column
        assert found.labels(chunk) == (str(column), str(row))
    assert sorted(found.hardware) == list(range(256))
    assert found.unequal == set()


def test_a_wrong_byte_is_one_wrong_chunk_in_each_view_but_the_model_s(figure, put):
    found = put(figure, way="Triton host")
    assert found.unequal == {OTHER // 16}
    right = expected_tile(task_map(), TASK["at"][::-1])[OTHER]
    assert found.labels(OTHER // 16) == (f"0x{right ^ 0xFF:02x}", f"≠ {right:02x}")
    assert "1 of 4096 bytes differ" in put(figure, cell=(3, 5)).sentence()
    assert put(figure, view="model").labels(OTHER // 16)[0].isdigit()
    assert found.verdict(found.way) == "1 bytes differ"


def fields_of(found):
    return {row[0]: (row[1:], mark) for row, mark in zip(found.way["fields"], found.marks(), strict=True)}


def test_a_descriptor_is_held_against_what_was_asked_and_against_the_driver(figure, put):
    rows = fields_of(put(figure, way="Triton host"))
    assert rows["l2_promotion"] == (["none", "128B", "128B"], "own")
    assert rows["box_bytes"] == (["4096"] * 3, "")
    rows = fields_of(put(figure, way="Triton device"))
    assert rows["box_bytes"] == (["4096", "0", "4096"], "wrong")
    assert figure._found.way["unlike"] == ["box_bytes"]


def test_the_raw_way_has_the_driver_s_descriptor_and_the_house_s_ptx(figure, put):
    found = put(figure, way=RAW)
    assert found.way["unlike"] == []
    assert found.marks() == [""] * 12
    assert found.way["call"].startswith("cp.async.bulk.tensor.2d.shared::cluster.global.tile")


def test_a_refusal_is_shown_and_the_model_still_stands(figure, put):
    found = put(figure, way="numba-cuda argument")
    assert found.empty
    assert found.sentence() == "numba-cuda argument refused: TypingError. Nothing was loaded."
    assert "cannot tell" in figure.svg()
    assert not put(figure, view="model").empty
    assert list(figure.data()["refused"].items()) == [
        ("type", "TypingError"),
        ("message", "cannot tell"),
        ("where", "x"),
    ]


def test_the_table_has_a_row_a_way(figure):
    head, rows = figure.table()
    assert [row[0] for row in rows] == list(ways())
    assert {len(row) for row in rows} == {len(head)}
    told = {row[0]: row[1:] for row in rows}
    assert told["Triton host"][1:4] == ["1 bytes differ", "equal", "l2_promotion 128B"]
    assert told["Triton device"][1:3] == ["equal", "differs in box_bytes"]
    assert told["numba-cuda argument"][1] == "refused: TypingError"


def not_recorded(case):
    raise RecordingError("not recorded yet", field="case", value=case.name)


@pytest.mark.parametrize("observe", [None, not_recorded])
def test_without_a_recording_the_model_stands_alone_and_says_so(observe):
    figure = FrontEndsFigure(observe)
    assert "not measured" in figure.source()
    assert figure.sentence().endswith("Not measured.")
    assert figure.data()["smem"] is None
    assert {row[2] for row in figure.table()[1]} == {"not measured"}
    for view in VIEWS:
        assert "<svg" in FrontEndsFigure(observe, view=view).svg()


def test_a_damaged_recording_and_a_failed_run_are_errors():
    def damaged(case):
        raise RecordingError("damaged", field="file", value="x")

    with pytest.raises(RecordingError):
        FrontEndsFigure(damaged)
    with pytest.raises(HardwareError, match="TIMEOUT"):
        FrontEndsFigure(lambda case: replace(made_up(case), values={"completed": False, "error": "TIMEOUT"}))


def test_a_state_that_it_does_not_have_is_refused(figure):
    with pytest.raises(InputError, match="Triton host"):
        figure.way = "BASIC"
    with pytest.raises(InputError):
        figure.cell = (32, 0)


def test_it_goes_into_a_page(figure, tmp_path):
    assert len(figure.html()) < 120_000
    figure.save(tmp_path / "x.json")
    saved = json.loads((tmp_path / "x.json").read_text(encoding="utf-8"))
    assert len(saved["smem"]) == 256
    assert saved["state"] == {"view": "hardware", "way": RAW, "cell": [2, 1]}
