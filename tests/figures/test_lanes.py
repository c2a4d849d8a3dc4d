"""Lanes in a still: every lane and mark is drawn where its time says, and the axis agrees with the page's."""

import itertools
import json
import re
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tmalab.figures.bundle import STATIC
from tmalab.figures.lanes import BAND, KINDS, NAME, Lane, Mark, draw, height, lane_of, ticks
from tmalab.figures.still import Still

UNITS = [("cycles", 1), ("ns", 0.5)]


def drawn(marks, **changes):
    lanes = [Lane("producer", tuple(marks), "thread 0"), Lane("engine", ())]
    still = Still(NAME + 400, height(lanes, UNITS) + 10, "A chart")
    draw(still, 0, 5, NAME + 400, lanes, **{"start": 0, "end": 400, "units": UNITS, **changes})
    return still.svg()


def test_a_mark_stands_where_its_time_says():
    svg = drawn([Mark("a", 100, 300, "A", "tint-3", "A in flight")])
    (path,) = re.findall(r"fill='#bbcc33' d='M([\d.]+) ", svg)
    assert float(path) - 3 == NAME + 100  # 400 px for 400 cycles; a box's path begins after its round corner
    assert ">A</text>" in svg
    assert all(word in svg for word in ("producer", "thread 0", "engine"))


def test_a_text_that_does_not_fit_is_left_out():
    assert ">a long text</text>" not in drawn([Mark("a", 100, 120, "a long text", "outline", "A")])


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_look_in_the_page_and_in_the_still(kind):
    css = (STATIC / "lanes.css").read_text("utf-8")
    assert f".tma-mark-{kind.partition('-')[0]} " in css
    assert drawn([Mark("a", 10, 60, "", kind, "A")]) != drawn([])


def test_marks_of_several_rows_overlap_in_time_and_not_on_the_page():
    marks = tuple(Mark(f"m{row}", 100, 300, "", "tint-3", "A", row) for row in range(3))
    lane = Lane("engine", marks, rows=3)
    still = Still(NAME + 400, height([lane], UNITS) + 10, "A chart")
    draw(still, 0, 5, NAME + 400, [lane], start=0, end=400, units=UNITS)
    tops = [float(y) for y in re.findall(rf"M{NAME + 103} ([\d.]+)h", still.svg())]
    assert len(tops) == 3
    assert all(other - one > lane.thin for one, other in itertools.pairwise(tops))
    assert tops[-1] + lane.thin < 25 + lane.height
    assert lane_of(lane.to_dict()) == lane
    assert "row" not in Lane("one", (Mark("a", 1, 2, "", "solid", "A"),)).to_dict()["marks"][0]


def test_a_band_goes_through_all_lanes():
    svg = drawn([], bands=[(100, 300)])
    assert f"fill='{BAND}' d='M{NAME + 100} 25h200v76h" in svg


def test_both_axes_name_their_unit_once():
    svg = drawn([])
    assert len(re.findall(r">0 cycles<", svg)) == len(re.findall(r">0 ns<", svg)) == 1
    assert ">200<" in svg


@given(st.integers(0, 10**6), st.integers(1, 10**6), st.integers(2, 12))
def test_ticks_are_few_and_inside(start, length, wanted):
    found = ticks(start, start + length, wanted)
    assert len(found) <= wanted + 1
    assert all(start - 1e-6 * length <= one <= start + length + 1e-6 * length for one in found)


def test_python_and_the_page_put_the_same_ticks():
    asked = [(0, 700, 4), (130, 470, 4), (0, 1, 5), (0, 3, 6), (1000, 1001, 3), (0, 98765, 6)]
    program = (
        f'import {{ ticks }} from "{STATIC.as_uri()}/lanes.js";\n'
        f"console.log(JSON.stringify({json.dumps(asked)}.map((one) => ticks(...one))));"
    )
    node = shutil.which("node")
    assert node, "no node: apt-get install nodejs"
    done = subprocess.run([node, "--input-type=module"], input=program, capture_output=True, text=True, check=True)
    for there, one in zip(json.loads(done.stdout), asked, strict=True):
        assert there == pytest.approx(ticks(*one))
