"""The ladder in a browser, with the network cut: every rung, stretch and view as Python says, and by key."""

import pytest

from tmalab import observe
from tmalab.figures import LadderFigure
from tmalab.figures.ladder_tables import PARTS, VIEWS, ladder_cases

pytestmark = pytest.mark.browser


@pytest.fixture
def figure():
    return LadderFigure(observe)


@pytest.fixture(scope="module")
def page_file(page_of):
    return page_of("The ladder", LadderFigure(observe), LadderFigure(None, title="Not measured", page=None))


def agrees(card, figure):
    """What stands in the page is what Python says of the same state."""
    found = figure._found
    assert card.say() == figure.sentence()
    bars = card.locator(".tma-rung:visible small").all_inner_texts()
    assert bars == [found.bar(rung["name"]) for rung in found.shown]
    assert card.locator(".tma-rung-facts").inner_text() == found.facts()
    said = [mark.say for lane in found.lanes() for mark in lane.marks]
    shown = card.locator(".tma-lanes").is_visible()
    labels = card.locator(".tma-mark").evaluate_all("marks => marks.map((mark) => mark.getAttribute('aria-label'))")
    assert shown == bool(said)
    assert not shown or [label.endswith(one) for label, one in zip(labels, said, strict=True)] == [True] * len(said)


def test_every_rung_is_what_python_says(visit_alone, figure):
    card = visit_alone().card()
    card.locator("summary").click()
    for rung in [rung["name"] for rung in figure._found.shown]:
        card.choose(rung=rung)
        for part in PARTS:
            figure.rung, figure.part = rung, part
            card.choose(part=part)
            agrees(card, figure)
    card.check_table(figure)


def test_every_view_and_size_is_what_python_says(visit_alone, figure):
    card = visit_alone().card()
    for size in figure.spec["choices"]["size"]:
        card.locator("select[name=size]").select_option(size)
        have = [rung for rung, at in ladder_cases() if at == size]
        figure.size = size
        figure.rung = figure.rung if figure.rung in have else max(have, key=figure.spec["choices"]["rung"].index)
        for view in VIEWS:
            figure.view = view
            card.choose(view=view)
            agrees(card, figure)


def test_a_rung_and_a_mark_are_reached_by_key(visit_alone, figure):
    page = visit_alone("#ladder=size:8192,rung:producer,part:middle,view:hardware")
    card = page.card()
    card.locator("input[name=rung][value=producer]").focus()
    page.keyboard.press("ArrowDown")
    figure.rung = "consumers"
    assert card.say() == figure.sentence()
    (first, second, *_), *_ = (lane.marks for lane in figure._found.lanes())
    card.locator(f"[data-key='{first.key}']").focus()
    assert card.say() == first.say
    page.keyboard.press("ArrowRight")
    assert card.say() == second.say
    card.check_data(figure)


def test_without_a_recording_it_says_so(visit_alone):
    card = visit_alone().card(1)
    assert card.say().endswith("not measured at this size.")
    assert not card.locator(".tma-lane-chart").is_visible()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "dark"), (390, "light")])
def test_it_is_accessible_and_fits(visit_alone, width, scheme):
    page = visit_alone("#ladder=rung:stages,part:first steps", width=width, scheme=scheme)
    page.check_fits()
    assert page.faults() == []
