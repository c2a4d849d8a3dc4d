"""The ladder in a browser, with the network cut: every rung, stretch and view as Python says, and by key."""

import json
from pathlib import Path

import pytest

from tmalab import observe
from tmalab.figures import LadderFigure
from tmalab.figures.bundle import standalone_page
from tmalab.figures.ladder_tables import PARTS, VIEWS, ladder_cases

pytestmark = pytest.mark.browser

AXE = Path(__file__).parent.parent / "node_modules" / "axe-core" / "axe.min.js"


@pytest.fixture
def figure():
    return LadderFigure(observe)


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    file = tmp_path_factory.mktemp("ladder") / "ladder.html"
    both = [LadderFigure(observe), LadderFigure(None, title="Not measured", page=None)]
    file.write_text(standalone_page("The ladder", "\n".join(one.html() for one in both)), "utf-8")
    return file


@pytest.fixture
def visit(visit_alone):
    return visit_alone


def say(card):
    return card.locator(".tma-say").inner_text()


def agrees(card, figure):
    """What stands in the page is what Python says of the same state."""
    found = figure._found
    assert say(card) == figure.sentence()
    bars = card.locator(".tma-rung:visible small").all_inner_texts()
    assert bars == [found.bar(rung["name"]) for rung in found.shown]
    assert card.locator(".tma-rung-facts").inner_text() == found.facts()
    said = [mark.say for lane in found.lanes() for mark in lane.marks]
    shown = card.locator(".tma-lanes").is_visible()
    labels = card.locator(".tma-mark").evaluate_all("marks => marks.map((mark) => mark.getAttribute('aria-label'))")
    assert shown == bool(said)
    assert not shown or [label.endswith(one) for label, one in zip(labels, said, strict=True)] == [True] * len(said)


def test_every_rung_is_what_python_says(visit, figure):
    card = visit().locator(".tma").first
    card.locator("summary").click()
    for rung in [rung["name"] for rung in figure._found.shown]:
        card.locator(f"input[name=rung][value='{rung}']").check()
        for part in PARTS:
            figure.rung, figure.part = rung, part
            card.locator(f"input[name=part][value='{part}']").check()
            agrees(card, figure)
    rows = card.locator("table").evaluate("table => [...table.rows].map(row => [...row.cells].map(c => c.textContent))")
    assert rows == [figure.table()[0], *figure.table()[1]]


def test_every_view_and_size_is_what_python_says(visit, figure):
    card = visit().locator(".tma").first
    for size in figure.spec["choices"]["size"]:
        card.locator("select[name=size]").select_option(size)
        have = [rung for rung, at in ladder_cases() if at == size]
        figure.size = size
        figure.rung = figure.rung if figure.rung in have else max(have, key=figure.spec["choices"]["rung"].index)
        for view in VIEWS:
            figure.view = view
            card.locator(f"input[name=view][value={view}]").check()
            agrees(card, figure)


def test_a_rung_and_a_mark_are_reached_by_key(visit, figure):
    page = visit("#ladder=size:8192,rung:producer,part:middle,view:hardware")
    card = page.locator(".tma").first
    card.locator("input[name=rung][value=producer]").focus()
    page.keyboard.press("ArrowDown")
    figure.rung = "consumers"
    assert say(card) == figure.sentence()
    (first, second, *_), *_ = (lane.marks for lane in figure._found.lanes())
    card.locator(f"[data-key='{first.key}']").focus()
    assert say(card) == first.say
    page.keyboard.press("ArrowRight")
    assert say(card) == second.say
    with page.expect_download() as download:
        card.get_by_role("button", name="data (JSON)").click()
    assert json.loads(Path(download.value.path()).read_text("utf-8")) == json.loads(json.dumps(figure.data()))


def test_without_a_recording_it_says_so(visit):
    card = visit().locator(".tma").nth(1)
    assert say(card).endswith("not measured at this size.")
    assert not card.locator(".tma-lane-chart").is_visible()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "dark"), (390, "light")])
def test_it_is_accessible_and_fits(visit, width, scheme):
    page = visit("#ladder=rung:stages,part:first steps", width=width, scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.add_script_tag(path=str(AXE))
    found = page.evaluate("axe.run()")["violations"]
    assert [(fault["id"], [node["html"][:200] for node in fault["nodes"]]) for fault in found] == []
