"""Lanes in a still: every lane and mark is drawn where its time says, and the axis agrees with the page's."""

import json
import re
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tmalab.figures.bundle import STATIC
from tmalab.figures.lanes import KINDS, NAME, Lane, Mark, draw, height, ticks
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
