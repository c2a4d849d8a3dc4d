"""The tables beside each other: what is said of order, units and names, from programs' values made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tmalab import observe
from tmalab.errors import RecordingError
from tmalab.experiment.frontend_tile_cases import TITLES, WAYS, tile_case
from tmalab.experiment.frontend_tiles import TileVerdict
from tmalab.experiment.observation import Observation, Provenance
from tmalab.experiment.refusal_cases import SITUATIONS
from tmalab.experiment.refusals import Answer, answers
from tmalab.frontends.checks import CHECKS
from tmalab.frontends.comparison import FEATURES, Table, answer_table, check_table, compare, told
from tmalab.frontends.programs import tile_common

WHERE = Provenance("NVIDIA H200", "9.0", "580.0", "13.0", "13.0", "triton/tile.py", "0" * 64, "2000-01-01", 1)


def seen(case, **values) -> Observation:
    exposes = {feature: {"found": [], "looked": ["x"]} for feature in FEATURES}
    exposes["fill"]["found"] = ["thing: pad", "other: fill"]
    exposes["reductions"]["found"] = ["thing: add, min, max"]
    given = {"shape": [192, 320], "strides": [320, 1], "box": [32, 64], "at": [96, 128]}
    values = {
        "package": {"name": case.probe, "version": "1.2"}, "package_mb": 12.6, "exposes": exposes, "given": given,
        "encode_calls": [], "captured": "global memory", **values,
    }  # fmt: skip
    return Observation(case, {"smem": np.zeros(4096, np.uint8)}, values, WHERE, "recorded")


def of(**values) -> list[str]:
    return told(TileVerdict(seen(tile_case("triton", "host"), **values)))


def test_the_features_are_the_programs():
    assert FEATURES == tile_common.FEATURES


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"shape": [192, 320], "strides": [320, 1], "box": [32, 64], "at": [96, 128]},
         ["outermost first", "elements", "elements, outermost first"]),
        ({"shape": [320, 192], "strides": [640], "box": [64, 32], "at": [128, 96]},
         ["innermost first", "bytes", "elements, innermost first"]),
        ({"shape": [192, 320], "box": [64, 32], "tile index": [3, 2]},
         ["mixed", "the array's own", "tiles, outermost first"]),
        ({"box": [32, 64]}, ["outermost first", "the array's own", "the kernel's own"]),
        ({}, ["–", "–", "the kernel's own"]),
    ],
)  # fmt: skip
def test_order_and_units_are_read_from_what_was_handed_over(given, expected):
    assert of(given=given)[:3] == expected


def test_who_encoded_is_told_by_the_driver_s_calls():
    assert of()[3:] == ["itself", "global memory"]
    assert of(encode_calls=[{"answer": 0}], captured="launch parameter")[3:] == ["the driver", "launch parameter"]


def test_a_row_a_way_and_a_row_a_front_end():
    found = compare(seen)
    assert len(found.told.rows) == len(WAYS)
    names = [row[0] for row in found.named.rows]
    assert len(names) == len(set(names)) == len({front_end for front_end, _ in WAYS})
    row = dict(zip(found.named.head, found.named.rows[0], strict=True))
    assert (row["fill"], row["reductions"], row["im2col"]) == ("pad", "add and 2 more", "–")
    assert found.installed.rows[0][1:] == ["1.2", "13"]


def test_unusual_maps_are_answered_in_a_row_each():
    def answer(name, situation="tall", smem=None, **values):
        arrays = {} if smem is None else {"smem": smem}
        case = tile_case("triton", "host")
        return Answer(
            SITUATIONS[situation], name, Observation(case, arrays, {"raised": None, **values}, WHERE, "recorded")
        )

    right = answer("driver")._expected()[0]
    said = {"type": "ValueError", "message": "no"}
    table = answer_table(
        [
            answer("driver", smem=right), answer("cccl-3.4", raised=said), answer("triton", smem=right ^ 1),
            answer("cudacore", "low", raised=said, encode_calls=[{"answer": 1}]),
        ]
    )  # fmt: skip
    assert list(table.head) == ["asked for", "driver", "CCCL 3.4", "Triton", "cuda.core"]
    assert table.rows[0][1:] == ["loads", "refuses", "loads other elements", "–"]
    assert table.rows[1][1:] == ["–", "–", "–", "the driver refuses"]


def test_what_another_installation_changes_is_shown_and_not_compared():
    table = Table(("a", "b"), (("x", "<1>"),), volatile=("b",))
    assert repr(table) == "a\nx"
    html = table._repr_html_()
    assert html.startswith("<section data-volatile>")
    assert "&lt;1&gt;" in html
    noted = Table(("a", "b"), (("x", "1"),), volatile=("b",), note="an H200 & a date")
    assert noted._repr_html_().endswith("<small>an H200 &amp; a date</small></p>\n</section>")
    assert "H200" not in repr(noted)
    assert "data-volatile" not in Table(("a",), (("x",),))._repr_html_()


def test_a_long_word_may_be_broken_and_a_short_one_may_not():
    html = Table(
        ("a", "b"),
        (
            ("box_fits_shared_memory", "fence.proxy.async"),
            ("x<y", "cp.async.bulk.tensor.2d::b"),
        ),
    )
    shown = html._repr_html_()
    assert "box_<wbr>fits_<wbr>shared_<wbr>memory" in shown
    assert "<td>fence.proxy.async</td>" in shown
    assert "x&lt;y" in shown
    assert "cp.<wbr>async.<wbr>bulk.<wbr>tensor.<wbr>2d::<wbr>b" in shown
    assert "<wbr>" not in repr(html)


def test_the_copy_is_read_out_of_the_ptx_and_a_way_without_one_has_no_row():
    load = "cp.async.bulk.tensor.2d.shared::cta.global"

    def observe(case):
        refused = (case.probe, case.params["way"]) == ("numba", "argument")
        return seen(case, ptx=[] if refused else ["fence.proxy.async;", f"@%p1 {load} [%r1], [%rd1];"])

    copies = compare(observe).copies
    assert {row[1] for row in copies.rows} == {load}
    assert len(copies.rows) == len(WAYS) - 1


def test_every_check_stands_in_one_row_of_its_rule_and_in_the_column_of_its_kind():
    table = check_table()
    rows = {rule: (too, alone) for rule, too, alone in table.rows}
    assert len(rows) == len(table.rows)
    for check in CHECKS:
        assert TITLES[check.front_end] in rows[check.rule][check.only_here].split(", ")
    cells = sum(cell != "–" and len(cell.split(", ")) for row in rows.values() for cell in row)
    assert cells == len(CHECKS)


def test_who_is_said_to_refuse_what_the_driver_takes_did_so_in_the_run_that_shows_it():
    recorded = {
        (one.name.split("-")[0], one.situation.words): one for one in answers(lambda name: observe(name, live=False))
    }
    for check in (check for check in CHECKS if check.situation):
        assert recorded[check.front_end, SITUATIONS[check.situation].words].refused


def test_a_way_that_was_not_recorded_says_so():
    def observe(case):
        raise RecordingError("not recorded yet", field="case", value=case.name)

    with pytest.raises(RecordingError):
        compare(observe)
