"""Loads that run ahead in a browser, with the network cut: every version as Python says, and by key."""

from itertools import product

import pytest

from tmalab import observe
from tmalab.figures import StagesFigure
from tmalab.figures.stages_tables import STAGES, VIAS

pytestmark = pytest.mark.browser


@pytest.fixture
def figure():
    return StagesFigure(observe)


@pytest.fixture(scope="module")
def page_file(page_of):
    return page_of("Stages", StagesFigure(observe), StagesFigure(None, title="Not measured", page=None))


def test_every_version_is_what_python_says(visit_alone, figure):
    card = visit_alone().card()
    card.locator("summary").click()
    for via, stages in product(VIAS, STAGES):
        figure.via, figure.stages = via, stages
        card.choose(via=via)
        card.choose(stages=stages)
        assert card.say() == figure.sentence()
        card.check_table(figure)
        said = [mark.say for lane in figure._found.lanes() for mark in lane.marks]
        labels = card.locator(".tma-mark").evaluate_all("marks => marks.map((mark) => mark.getAttribute('aria-label'))")
        assert len(labels) == len(said)
        assert all(label.endswith(one) for label, one in zip(labels, said, strict=True))


def test_a_mark_is_told_by_pointer_and_key(visit_alone, figure):
    page = visit_alone("#stages=via:tma,stages:2")
    card = page.card()
    figure.via, figure.stages = "tma", 2
    (first, second, *_), *_ = (lane.marks for lane in figure._found.lanes())
    card.locator("[data-key='load-0']").hover()
    assert card.say() == first.say
    card.locator("[data-key='load-0']").focus()
    page.keyboard.press("ArrowRight")
    assert card.say() == second.say
    card.check_data(figure)


def test_without_a_recording_it_says_so(visit_alone):
    card = visit_alone().card(1)
    assert card.say().endswith("not measured.")
    assert not card.locator(".tma-lane-chart").is_visible()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "dark"), (390, "light")])
def test_it_is_accessible_and_fits(visit_alone, width, scheme):
    page = visit_alone("#stages=via:registers,stages:4", width=width, scheme=scheme)
    page.check_fits()
    assert page.faults() == []
