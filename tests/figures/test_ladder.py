"""The ladder: rates, shares and lanes of a made-up run that can be counted by hand, and of what was recorded."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from tmalab import observe
from tmalab.errors import HardwareError, InputError
from tmalab.experiment.gemm_plan import RUNGS
from tmalab.experiment.observation import Observation, Provenance
from tmalab.figures import LadderFigure
from tmalab.figures.ladder_lanes import lanes_of
from tmalab.figures.ladder_stalls import PARTS, stretch
from tmalab.figures.ladder_tables import BOUGHT, FIRST_SIZE, VIEWS, ladder_cases, numbers_of, rungs, sizes

MADE = Provenance("A GPU", "9.0", "1", "2", "3", "made up", "0" * 64, "2026-11-30", 5)
CLIMBED = [rung for rung, size in ladder_cases() if size == FIRST_SIZE]
WAIT, WORK, OUT = 100, 400, 1000  # cycles


def made(case):
    """A step takes 500 cycles, of which 100 are waited; a tile's way out 1000; cuBLAS needs 9 us where we need 10."""
    rung, k = RUNGS[case.params["rung"]], case.params["k"]
    steps = -(-k // rung.tile[2])
    waits, epilogues = np.full((3, 160, 2), -1, np.int32), np.full((2, 8, 2), -1, np.int32)
    roles = [0, 1, 2] if rung.barriers >= 8 else [1]
    for role in roles:
        now = 0
        for step in range(160 if rung.persistent else min(steps, 160)):
            waits[role, step] = now, now + WAIT
            now += WAIT + WORK
            if step % steps == steps - 1:
                if role and step // steps < 8:
                    epilogues[role - 1, step // steps] = now, now + OUT
                now += OUT
    values = {"cycles_per_ns": 2.0, "registers": 168, "counters": None, "completed": True, "error": None}
    if not case.params.get("traced", True):
        del waits, epilogues, values["cycles_per_ns"]
    times = {"ours_ns": np.float32([9e3, 10e3, 10e3, 10e3, 12e3]), "cublas_ns": np.float32([9e3] * 5)}
    stamps = {"waits": waits, "epilogues": epilogues} if "cycles_per_ns" in values else {}
    return Observation(case, {**times, **stamps}, values, MADE, "recorded")


@pytest.fixture(scope="module")
def figure():
    return LadderFigure(made)


def put(figure, **state):
    for name, value in {"size": FIRST_SIZE, "rung": "store", "part": "middle", "view": "hardware", **state}.items():
        setattr(figure, name, value)
    return figure._found


def test_every_case_that_is_timed_is_in_the_figure():
    assert rungs() == tuple(name for name in RUNGS if name in {rung for rung, _ in ladder_cases()})
    assert set(BOUGHT) >= {rung for rung in CLIMBED if not rung.startswith("fastest")}
    for (rung, size), case in ladder_cases().items():
        assert (rung, numbers_of(size)) == (case.params["rung"], tuple(case.params[name] for name in "mnk"))
    assert {size for _, size in ladder_cases()} == set(sizes())


def test_the_rate_is_that_of_the_median(figure):
    found = put(figure)
    flops = 2 * 8192**3
    ours, slow, fast = found.one["ours"]
    assert ours == pytest.approx(flops / 10e3 / 1e3, abs=0.1)
    assert slow < ours < fast
    assert found.one["ratio"] == 0.9
    assert figure.sentence().startswith(f"TMA store in the background: {ours:.1f} TFLOP/s, 0.900 of cuBLAS")
    assert "1.00 times the rung below" in figure.sentence()


@pytest.mark.parametrize("rung", CLIMBED)
def test_what_a_tile_waited_is_counted(figure, rung):
    found = put(figure, rung=rung)
    steps = 8192 // 64
    life = steps * (WAIT + WORK)
    assert found.one["waits"][1] == pytest.approx(steps * WAIT / (life - WORK), abs=6e-4)
    assert found.one["way_out"] == pytest.approx(OUT / (life + OUT), abs=6e-4)
    assert found.one["step"] == WAIT + WORK
    assert (found.one["waits"][0] is None) == (RUNGS[rung].barriers < 8)


@pytest.mark.parametrize("rung", CLIMBED)
@pytest.mark.parametrize("part", PARTS)
def test_the_lanes_hold_the_stamps(figure, rung, part):
    found = put(figure, rung=rung, part=part)
    stamps = made(ladder_cases()[rung, FIRST_SIZE])["waits"]
    lanes, begin = found.lanes(), found.part["begin"]
    assert len(lanes) == (stamps[:, 0, 1] >= 0).sum()
    for lane, role in zip(lanes, np.flatnonzero(stamps[:, 0, 1] >= 0), strict=True):
        ends = {int(one) for one in stamps[role].ravel() if one >= 0}
        inside = [
            mark
            for mark in lane.marks
            if mark.key.startswith("wait") and 0 < mark.start and mark.end < found.part["end"]
        ]
        assert len(inside) >= 4
        assert all({mark.start + begin, mark.end + begin} <= ends for mark in inside)
        assert all(one.end <= other.start for one, other in zip(lane.marks, lane.marks[1:], strict=False))
        assert lane.marks[0].start >= 0
        assert lane.marks[-1].end <= found.part["end"]
    outs = [mark for lane in lanes for mark in lane.marks if mark.text == "out"]
    consumers = [lane for lane in lanes if lane.name != "producer"]
    assert len(outs) == (len(consumers) if part == "way out" else 0)
    assert all(mark.end - mark.start == OUT for mark in outs)


def test_a_stretch_that_was_not_stamped_is_none(figure):
    found = put(figure, size="16384", part="way out")  # 256 steps a tile, and stamps of 160
    assert found.part is None
    assert found.lanes() == []
    assert found.one["way_out"] is None or found.one["way_out"] < 0.1
    assert "<svg" in figure.svg()


def test_a_rung_that_was_timed_alone_has_no_lanes(figure):
    found = put(figure, size="2048", rung="wgmma")
    assert found.one["ratio"] == 0.9
    assert found.lanes() == []
    assert "Block 0" not in figure.sentence()
    assert "a clock unknown" in found.facts()


def test_consumers_that_take_turns_have_a_tile_each():
    """Consumer 0 multiplies the first 128 steps and consumer 1 the next: each begins where the other's way out does."""
    seen = made(ladder_cases()["store", FIRST_SIZE])
    waits = seen["waits"].copy()
    waits[2] = -1
    waits[2, 128:] = waits[1, 128:]
    waits[1, 128:] = -1
    part = stretch(replace(seen, arrays={**seen.arrays, "waits": waits}), list(range(123, 133)))
    assert part["turns"]
    lanes = lanes_of({"stages": 4, "carries": False, "step_cycles": 1024}, part)
    assert [lane.note for lane in lanes] == ["fills stages", "a tile of its own", "a tile of its own"]
    assert [mark.text for mark in lanes[1].marks if mark.text] == ["123", "124", "125", "126", "127", "out"]
    assert all(mark.text in ("", "128", "129", "out") for mark in lanes[2].marks)


def test_the_model_is_the_roof_and_has_no_lanes(figure):
    found = put(figure, view="model")
    assert found.lanes() == []
    assert "not measured" in figure.sentence()
    assert "not measured" in figure.source()
    assert found.bar("store") == "959.4 · 97.0% of the peak"  # 2048 tiles are 16 waves of 132, which have room for 2112
    found = put(figure, view="difference")
    assert figure.sentence().endswith("that its tiles allow.")
    assert "under its roof of 959.4" in found.bar("store")


def test_the_table_has_a_row_a_rung_that_has_a_case(figure):
    put(figure)
    head, rows = figure.table()
    assert [row[0] for row in rows] == CLIMBED
    assert {len(row) for row in rows} == {len(head)}
    put(figure, size="2048")
    assert [row[0] for row in figure.table()[1]] == [rung for rung in RUNGS if (rung, "2048") in ladder_cases()]


@pytest.mark.parametrize("view", VIEWS)
def test_without_a_recording_it_says_so(view):
    figure = LadderFigure(None, view=view)
    assert "not measured" in figure.source().lower()
    assert "not measured" in figure.sentence()
    assert "<svg" in figure.svg()
    assert {cell for row in figure.table()[1] for at, cell in enumerate(row) if at not in (0, 6)} == {"–"}
    if view == "hardware":
        with pytest.raises(InputError, match="nothing to draw"):
            figure.matplotlib()


def test_a_failed_run_is_an_error():
    def failed(case):
        return replace(made(case), values={"error": "TIMEOUT"})

    with pytest.raises(HardwareError, match="TIMEOUT"):
        LadderFigure(failed)


def test_a_state_that_it_does_not_have_is_refused(figure):
    with pytest.raises(InputError):
        figure.rung = "ground floor"


def test_it_is_drawn_for_print(figure):
    put(figure)
    printed = figure.matplotlib()
    (axes,) = printed.axes
    assert len(axes.patches) == len(CLIMBED)
    assert figure.source() in [text.get_text() for text in printed.texts]


def test_it_goes_into_a_page_and_all_of_it_is_volatile(figure, tmp_path):
    put(figure)
    assert len(figure.html()) < 80_000
    assert figure.html().count("<section data-volatile>") == 1
    assert "A GPU" not in json.dumps(figure.spec)
    figure.save(tmp_path / "x.json")
    assert len(json.loads((tmp_path / "x.json").read_text(encoding="utf-8"))["rungs"]) == len(CLIMBED)


@pytest.fixture(scope="module")
def recorded():
    return LadderFigure(lambda case: observe(case, live=False))


class TestRecorded:
    """What an H200 did, as the figure tells it."""

    def test_every_case_was_recorded(self, recorded):
        assert set(recorded.provenance["states"]) == {"/".join(key) for key in ladder_cases()}

    def test_the_numbers_are_the_recording_s(self, recorded):
        for (rung, size), case in ladder_cases().items():
            one, seen = recorded.provenance["states"][f"{rung}/{size}"], observe(case, live=False)
            assert one["ours"][0] == pytest.approx(seen["tflops"], abs=0.1)
            assert one["ratio"] == pytest.approx(seen["ratio"], abs=6e-4)

    def test_no_rate_is_over_its_roof(self, recorded):
        for key, one in recorded.provenance["states"].items():
            assert one["ours"][0] < recorded.spec["roofs"][key]
