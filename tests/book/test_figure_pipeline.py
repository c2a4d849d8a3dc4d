"""A pipeline in a browser, with the network cut: every state as Python says, by pointer, by key, by address."""

from itertools import product

import pytest

from tmalab import observe
from tmalab.figures import PipelineFigure
from tmalab.figures.pipeline_lanes import bands, lanes_of
from tmalab.figures.pipeline_tables import VIEWS

pytestmark = pytest.mark.browser

STATES = [(16384, 0, 1), (16384, 0, 4), (4096, 64, 8), (32768, 512, 2), (8192, 256, 3), (32768, 0, 8)]


@pytest.fixture(scope="module")
def figure():
    return PipelineFigure(observe)


@pytest.fixture(scope="module")
def page_file(figure, page_of):
    return page_of("A pipeline", figure, PipelineFigure(None, title="Not measured", page=None))


def put(figure, **state):
    for name, value in {"tile": 16384, "compute": 0, "stages": 1, "view": "hardware", **state}.items():
        setattr(figure, name, value)
    return figure._found


@pytest.mark.parametrize("view", VIEWS)
def test_every_state_is_what_python_says(visit_alone, figure, view):
    card = visit_alone().card()
    card.locator("summary").click()
    for tile, compute, stages in STATES:
        card.choose(tile=tile, compute=compute, stages=stages, view=view)
        found = put(figure, tile=tile, compute=compute, stages=stages, view=view)
        assert card.say() == figure.sentence()
        assert card.locator(".tma-pipe-number").inner_text() == found.heading()
        assert card.locator(".tma-pipe-means").inner_text() == found.verdict()
        assert card.locator(".tma-pipe-law").inner_text() == found.law()
        assert card.locator(".tma-prov").inner_text() == figure.source()
        tables = card.locator("table").evaluate_all(
            """tables => tables.map(table => [table.caption.textContent,
              ...[...table.rows].map(row => [...row.cells].map(c => c.textContent))])"""
        )
        caption, head, rows = figure.more_tables()[0]
        assert tables == [["A pipeline", figure.table()[0], *figure.table()[1]], [caption, head, *rows]]
        card.check_data(figure)
        lanes = lanes_of(found)
        assert card.locator(".tma-lane-chart").is_visible() == bool(lanes)
        if lanes:
            marks = card.locator(".tma-mark").evaluate_all(
                "marks => marks.map(mark => [mark.dataset.key, mark.getAttribute('aria-label')])"
            )
            said = [
                [mark.key, f"{mark.text}: {mark.say}" if mark.text else mark.say]
                for lane in lanes
                for mark in lane.marks
            ]
            assert marks == said
            assert card.locator(".tma-lane-band").count() == len(bands(found))


def test_the_depth_chart_has_a_dot_a_state_where_its_time_says(visit_alone, figure):
    card = visit_alone().card()
    for tile, view in product((4096, 32768), VIEWS):
        card.choose(tile=tile, view=view)
        found = put(figure, tile=tile, view=view)
        points = found.points()
        dots = card.locator(".tma-depth-dot").evaluate_all(
            """dots => dots.map((dot) => [dot.dataset.key, dot.classList.contains("tma-depth-bubble"),
              dot.parentElement.getBoundingClientRect().bottom - dot.getBoundingClientRect().y])"""
        )
        assert [(key, bubbles) for key, bubbles, _ in dots] == [
            (f"{point['stages']}.{point['number']}", point["bubbles"]) for point in points
        ]
        heights = {key: height for key, _, height in dots}
        first = [point for point in points if point["number"] == 4]
        up = sorted(first, key=lambda point: point["value"])
        assert heights[f"{up[0]['stages']}.4"] <= heights[f"{up[-1]['stages']}.4"]
        labels = card.locator(".tma-depth-dot").evaluate_all("dots => dots.map(dot => dot.getAttribute('aria-label'))")
        for label, point in zip(labels, points, strict=True):
            cell = found.cell_of(point["stages"], point["number"])
            assert f": {found.ns(cell['tile'][0])} ns a tile" in label
            assert f"the model says {found.ns(cell['told'])} " in label


def test_a_mark_is_told_by_pointer_and_key(visit_alone, figure):
    page = visit_alone("#pipeline=stages:2")
    card = page.card()
    lanes = lanes_of(put(figure, stages=2))
    says = {mark.key: mark.say for lane in lanes for mark in lane.marks}
    card.locator("[data-key='flight-3']").hover()
    assert card.say() == says["flight-3"]
    kin = card.locator(".tma-kin").evaluate_all("marks => marks.map(mark => mark.dataset.key)")
    assert set(kin) == {key for key in says if key.endswith("-3")} - {"flight-3"}
    page.mouse.move(2, 2)
    assert card.say() == figure.sentence()
    assert card.locator(".tma-kin").count() == 0
    card.locator("[data-key='empty-3']").hover()  # the lower of two thin rows
    assert card.say() == says["empty-3"]
    keys = [mark.key for mark in lanes[-1].marks]
    bubble = next(number for number, key in enumerate(keys) if key.startswith("bubble-"))
    card.locator(f"[data-key='{keys[bubble - 2]}']").focus()
    for key in ("ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    assert page.evaluate("document.activeElement.dataset.key") == keys[bubble]
    assert card.say() == says[keys[bubble]]
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.dataset.key").split("-")[0] in ("full", "empty")


def test_a_dot_is_chosen_by_pointer_and_key(visit_alone, figure):
    page = visit_alone()
    card = page.card()
    dot = card.locator(".tma-depth-dot[data-key='3.2']")
    dot.hover()
    assert card.say() == dot.get_attribute("aria-label")
    dot.click()
    page.mouse.move(2, 2)
    assert card.say() == (put(figure, stages=3, compute=128) and figure.sentence())
    assert card.chosen("stages") == "3"
    card.locator(".tma-depth-dot[tabindex='0']").focus()
    for key, there in [("ArrowRight", "4.2"), ("ArrowUp", "4.3"), ("ArrowLeft", "3.3"), ("ArrowDown", "3.2")]:
        page.keyboard.press(key)
        assert page.evaluate("document.activeElement.dataset.key") == there
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "link to this view"
    assert card.say() == figure.sentence()


def test_the_address_keeps_the_state(visit_alone):
    card = visit_alone("#pipeline=tile:4096,compute:64,stages:5,view:model").card()
    for name, value in {"tile": "4096", "compute": "64", "stages": "5", "view": "model"}.items():
        assert card.locator(f"input[name={name}]:checked").get_attribute("value") == value
    card.choose(stages=6)
    assert card.link() == "#pipeline=tile:4096,compute:64,stages:6,view:model"


def test_the_picture_shows_the_bubble_and_its_number(visit_alone, figure):
    card = visit_alone().card()
    found = put(figure)
    picture = card.check_picture(found.heading(), "consumers", "Little's law:", "latency hidden", "8")
    assert picture.count('fill="rgb(238, 136, 102)"') > 6


def test_without_a_recording_it_says_so(visit_alone):
    card = visit_alone().card(1)
    assert card.say().startswith("Not measured")
    assert card.locator(".tma-pipe-number").inner_text() == "not measured"
    assert not card.locator(".tma-lane-chart").is_visible()
    assert not card.locator(".tma-depth").is_visible()


def test_without_a_script_the_still_stands(visit_alone, figure):
    page = visit_alone(java_script_enabled=False)
    put(figure)
    page.card().check_still(figure, wider_than=800)


@pytest.mark.parametrize(
    ("width", "scheme", "fragment"),
    [
        (1280, "light", ""), (1280, "dark", "#pipeline=stages:8,compute:64"), (390, "light", "#pipeline=stages:2"),
        (390, "dark", "#pipeline=view:difference,stages:3"),
    ],
)  # fmt: skip
def test_it_is_accessible_and_fits(visit_alone, width, scheme, fragment):
    page = visit_alone(fragment, width=width, scheme=scheme)
    page.check_fits()
    page.check_tall(".tma-bar label, .tma-lane-track")
    if width == 1280:
        page.card().check_one_row()
    assert page.faults() == []
