"""Loads that run ahead in a browser, with the network cut: every version as Python says, and by key."""

import json
from itertools import product
from pathlib import Path

import pytest

from tmalab import observe
from tmalab.figures import StagesFigure
from tmalab.figures.bundle import standalone_page
from tmalab.figures.stages_tables import STAGES, VIAS

pytestmark = pytest.mark.browser

AXE = Path(__file__).parent.parent / "node_modules" / "axe-core" / "axe.min.js"


@pytest.fixture
def figure():
    return StagesFigure(observe)


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    file = tmp_path_factory.mktemp("stages") / "stages.html"
    both = [StagesFigure(observe), StagesFigure(None, title="Not measured", page=None)]
    file.write_text(standalone_page("Stages", "\n".join(one.html() for one in both)), "utf-8")
    return file


@pytest.fixture
def visit(chromium, page_file):
    contexts, problems = [], []

    def go(fragment="", *, width=1280, scheme="light"):
        context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(f"error: {error}"))
        page.on("console", lambda said: said.type in ("error", "warning") and problems.append(said.text))
        page.on("request", lambda asked: asked.url.startswith("http") and problems.append(f"asked for {asked.url}"))
        page.goto(page_file.as_uri() + fragment)
        page.locator(".tma-bar").first.wait_for()
        return page

    yield go
    for context in contexts:
        context.close()
    assert problems == []


def say(card):
    return card.locator(".tma-say").inner_text()


def test_every_version_is_what_python_says(visit, figure):
    card = visit().locator(".tma").first
    card.locator("summary").click()
    for via, stages in product(VIAS, STAGES):
        figure.via, figure.stages = via, stages
        card.locator(f"input[name=via][value={via}]").check()
        card.locator(f"input[name=stages][value='{stages}']").check()
        assert say(card) == figure.sentence()
        table = card.locator("table")
        rows = table.evaluate("table => [...table.rows].map(row => [...row.cells].map(c => c.textContent))")
        assert rows == [figure.table()[0], *figure.table()[1]]
        said = [mark.say for lane in figure._found.lanes() for mark in lane.marks]
        labels = card.locator(".tma-mark").evaluate_all("marks => marks.map((mark) => mark.getAttribute('aria-label'))")
        assert len(labels) == len(said)
        assert all(label.endswith(one) for label, one in zip(labels, said, strict=True))


def test_a_mark_is_told_by_pointer_and_key(visit, figure):
    page = visit("#stages=via:tma,stages:2")
    card = page.locator(".tma").first
    figure.via, figure.stages = "tma", 2
    (first, second, *_), *_ = (lane.marks for lane in figure._found.lanes())
    card.locator("[data-key='load-0']").hover()
    assert say(card) == first.say
    card.locator("[data-key='load-0']").focus()
    page.keyboard.press("ArrowRight")
    assert say(card) == second.say
    with page.expect_download() as download:
        card.get_by_role("button", name="data (JSON)").click()
    assert json.loads(Path(download.value.path()).read_text("utf-8")) == json.loads(json.dumps(figure.data()))


def test_without_a_recording_it_says_so(visit):
    card = visit().locator(".tma").nth(1)
    assert say(card).endswith("not measured.")
    assert not card.locator(".tma-lane-chart").is_visible()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "dark"), (390, "light")])
def test_it_is_accessible_and_fits(visit, width, scheme):
    page = visit("#stages=via:registers,stages:4", width=width, scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.add_script_tag(path=str(AXE))
    found = page.evaluate("axe.run()")["violations"]
    assert [(fault["id"], [node["html"][:200] for node in fault["nodes"]]) for fault in found] == []
