"""A pipeline in a browser, with the network cut: every state as Python says, by pointer, by key, by address."""

import json
from itertools import product
from pathlib import Path

import pytest

from tmalab import observe
from tmalab.figures import PipelineFigure
from tmalab.figures.bundle import standalone_page
from tmalab.figures.pipeline_lanes import bands, lanes_of
from tmalab.figures.pipeline_tables import VIEWS

pytestmark = pytest.mark.browser

AXE = Path(__file__).parent.parent / "node_modules" / "axe-core" / "axe.min.js"
STATES = [(16384, 0, 1), (16384, 0, 4), (4096, 64, 8), (32768, 512, 2), (8192, 256, 3), (32768, 0, 8)]


@pytest.fixture(scope="module")
def figure():
    return PipelineFigure(observe)


@pytest.fixture(scope="module")
def page_file(figure, tmp_path_factory):
    file = tmp_path_factory.mktemp("pipeline") / "pipeline.html"
    both = [figure, PipelineFigure(None, title="Not measured", page=None)]
    file.write_text(standalone_page("A pipeline", "\n".join(one.html() for one in both)), "utf-8")
    return file


@pytest.fixture
def visit(visit_alone):
    return visit_alone


def card_of(page, number=0):
    return page.locator(".tma").nth(number)


def say(card):
    return card.locator(".tma-say").inner_text()


def choose(card, **state):
    for name, value in state.items():
        card.locator(f"input[name={name}][value='{value}']").check()


def put(figure, **state):
    for name, value in {"tile": 16384, "compute": 0, "stages": 1, "view": "hardware", **state}.items():
        setattr(figure, name, value)
    return figure._found


def data(card):
    with card.page.expect_download() as download:
        card.get_by_role("button", name="data (JSON)").click()
    return json.loads(Path(download.value.path()).read_text("utf-8"))


def plain(value):
    return json.loads(json.dumps(value))


@pytest.mark.parametrize("view", VIEWS)
def test_every_state_is_what_python_says(visit, figure, view):
    card = card_of(visit())
    card.locator("summary").click()
    for tile, compute, stages in STATES:
        choose(card, tile=tile, compute=compute, stages=stages, view=view)
        found = put(figure, tile=tile, compute=compute, stages=stages, view=view)
        assert say(card) == figure.sentence()
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
        assert plain(data(card)) == plain(figure.data())
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


def test_the_depth_chart_has_a_dot_a_state_where_its_time_says(visit, figure):
    card = card_of(visit())
    for tile, view in product((4096, 32768), VIEWS):
        choose(card, tile=tile, view=view)
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


def test_a_mark_is_told_by_pointer_and_key(visit, figure):
    page = visit("#pipeline=stages:2")
    card = card_of(page)
    lanes = lanes_of(put(figure, stages=2))
    says = {mark.key: mark.say for lane in lanes for mark in lane.marks}
    card.locator("[data-key='flight-3']").hover()
    assert say(card) == says["flight-3"]
    kin = card.locator(".tma-kin").evaluate_all("marks => marks.map(mark => mark.dataset.key)")
    assert set(kin) == {key for key in says if key.endswith("-3")} - {"flight-3"}
    page.mouse.move(2, 2)
    assert say(card) == figure.sentence()
    assert card.locator(".tma-kin").count() == 0
    card.locator("[data-key='empty-3']").hover()  # the lower of two thin rows
    assert say(card) == says["empty-3"]
    keys = [mark.key for mark in lanes[-1].marks]
    bubble = next(number for number, key in enumerate(keys) if key.startswith("bubble-"))
    card.locator(f"[data-key='{keys[bubble - 2]}']").focus()
    for key in ("ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    assert page.evaluate("document.activeElement.dataset.key") == keys[bubble]
    assert say(card) == says[keys[bubble]]
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.dataset.key").split("-")[0] in ("full", "empty")


def test_a_dot_is_chosen_by_pointer_and_key(visit, figure):
    page = visit()
    card = card_of(page)
    dot = card.locator(".tma-depth-dot[data-key='3.2']")
    dot.hover()
    assert say(card) == dot.get_attribute("aria-label")
    dot.click()
    page.mouse.move(2, 2)
    assert say(card) == (put(figure, stages=3, compute=128) and figure.sentence())
    assert card.locator("input[name=stages]:checked").get_attribute("value") == "3"
    card.locator(".tma-depth-dot[tabindex='0']").focus()
    for key, there in [("ArrowRight", "4.2"), ("ArrowUp", "4.3"), ("ArrowLeft", "3.3"), ("ArrowDown", "3.2")]:
        page.keyboard.press(key)
        assert page.evaluate("document.activeElement.dataset.key") == there
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "link to this view"
    assert say(card) == figure.sentence()


def test_the_address_keeps_the_state(visit):
    card = card_of(visit("#pipeline=tile:4096,compute:64,stages:5,view:model"))
    for name, value in {"tile": "4096", "compute": "64", "stages": "5", "view": "model"}.items():
        assert card.locator(f"input[name={name}]:checked").get_attribute("value") == value
    choose(card, stages=6)
    link = card.get_by_role("link", name="link to this view")
    assert link.get_attribute("href") == "#pipeline=tile:4096,compute:64,stages:6,view:model"


def test_the_picture_shows_the_bubble_and_its_number(visit, figure):
    card = card_of(visit())
    with card.page.expect_download() as download:
        card.get_by_role("button", name="picture (SVG)").click()
    picture = Path(download.value.path()).read_text("utf-8")
    found = put(figure)
    assert picture.startswith("<svg ")
    for words in (found.heading(), "consumers", "Little's law:", "latency hidden", "8"):
        assert words in picture
    assert picture.count('fill="rgb(238, 136, 102)"') > 6


def test_without_a_recording_it_says_so(visit):
    card = card_of(visit(), 1)
    assert say(card).startswith("Not measured")
    assert card.locator(".tma-pipe-number").inner_text() == "not measured"
    assert not card.locator(".tma-lane-chart").is_visible()
    assert not card.locator(".tma-depth").is_visible()


def test_without_a_script_the_still_stands(visit, figure):
    page = visit(java_script_enabled=False)
    assert page.locator("img.tma-still").first.evaluate("image => image.naturalWidth") > 800
    put(figure)
    assert figure.sentence()[:60] in page.locator(".tma-say").first.inner_text()


@pytest.mark.parametrize(
    ("width", "scheme", "fragment"),
    [
        (1280, "light", ""), (1280, "dark", "#pipeline=stages:8,compute:64"), (390, "light", "#pipeline=stages:2"),
        (390, "dark", "#pipeline=view:difference,stages:3"),
    ],
)  # fmt: skip
def test_it_is_accessible_and_fits(visit, width, scheme, fragment):
    page = visit(fragment, width=width, scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    small = page.locator(".tma-bar label, .tma-lane-track").evaluate_all(
        "nodes => nodes.filter(node => node.getBoundingClientRect().height < 24).map(node => node.outerHTML)"
    )
    assert small == []
    rows = (
        page.locator(".tma")
        .first.locator(".tma-bar > *")
        .evaluate_all("nodes => new Set(nodes.map(n => n.getBoundingClientRect().y)).size")
    )
    assert rows == 1 or width < 1280
    page.add_script_tag(path=str(AXE))
    found = page.evaluate("axe.run()")["violations"]
    assert [(fault["id"], [node["html"][:200] for node in fault["nodes"]]) for fault in found] == []
