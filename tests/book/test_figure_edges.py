"""At the edges in a browser, with the network cut: by pointer, by key, by address, and the same as Python says."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tmalab import observe
from tmalab.figures import EdgesFigure
from tmalab.figures.bundle import standalone_page

pytestmark = pytest.mark.browser

AXE = Path(__file__).parent.parent / "node_modules" / "axe-core" / "axe.min.js"
FLIPPED_BYTE = 4 * 9 + 3  # of the second row's second element, as the box stands in shared memory


def flipped(case):
    """The recordings, but for one bit of the load that fills with zeros."""
    seen = observe(case)
    if not case.name.endswith("/zero"):
        return seen
    smem = seen["smem"].copy()
    smem[FLIPPED_BYTE] ^= 0x80
    return replace(seen, arrays={**seen.arrays, "smem": smem})


@pytest.fixture(scope="module")
def figure():
    return EdgesFigure(observe)


@pytest.fixture(scope="module")
def page_file(figure, tmp_path_factory):
    file = tmp_path_factory.mktemp("edges") / "edges.html"
    both = [figure, EdgesFigure(flipped, title="One byte flipped")]
    file.write_text(standalone_page("Edges", "\n".join(one.html() for one in both)), "utf-8")
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


def card_of(page, number=0):
    return page.locator(".tma").nth(number)


def cell(card, side, at):
    return card.get_by_role("grid", name=f"{side} memory").locator(f"[data-at='{at}']")


def say(card):
    return card.locator(".tma-say").inner_text()


def data(card):
    with card.page.expect_download() as download:
        card.get_by_role("button", name="data (JSON)").click()
    return json.loads(Path(download.value.path()).read_text("utf-8"))


def rows_of(card):
    return card.locator("table").evaluate("table => [...table.rows].map(row => [...row.cells].map(c => c.textContent))")


def test_every_experiment_by_pointer_is_what_python_says(visit, figure):
    card = card_of(visit())
    card.locator("summary").click()
    for name in figure.spec["choices"]["experiment"]:
        card.locator("select").select_option(name)
        figure.experiment = name
        assert rows_of(card) == [figure.table()[0], *figure.table()[1]]
        assert say(card) == figure.sentence()
        assert card.locator(".tma-wrong").count() == 0
        assert card.locator(".tma-edge-memory .tma-cell").count() == sum(
            one["window"][2] * one["window"][3] + one["shared"][2] * one["shared"][3]
            for one in figure.spec["experiments"]
            if one["name"] == name
        )
    figure.experiment = "zero"
    card.locator("select").select_option("zero")
    for view in ("model", "difference", "hardware"):
        card.locator(f"input[name=view][value={view}]").check()
        assert cell(card, "shared", 0).locator("b").inner_text() == "196"


def test_every_control_by_key_and_the_arrows_stay_in_the_grid(visit):
    page = visit()
    card = card_of(page)
    page.locator("body").press("Tab")
    assert page.evaluate("document.activeElement.tagName") == "SELECT"
    page.keyboard.press("ArrowDown")
    assert "NaN (7ff77ff7)" in say(card)
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    assert card.locator("input[name=view]:checked").get_attribute("value") == "model"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('[role=grid]').ariaLabel") == "At the edges: global memory"
    for key in ("Home", "ArrowUp", "ArrowLeft"):
        page.keyboard.press(key)
    assert say(card) == "Row 4, column 0: 192, not in the box."
    page.keyboard.press("Tab")
    page.keyboard.press("End")
    assert say(card).startswith("Box row 1, column 7 is row 5, column 11, outside the tensor")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('[role=grid]')") is None


def test_a_cell_lights_its_partner_from_either_side(visit):
    card = card_of(visit("#edges=experiment:store-float32"))

    def lit():
        return [[int(at) for at in _at(card, side)] for side in ("global", "shared")]

    cell(card, "shared", 2).hover()
    assert lit() == [[16 * 3 + 10], [2]]
    assert "past the tensor but in the last 16 bytes of its row: it was 186, now 2" in say(card)
    cell(card, "global", 16 * 5 + 9).hover()
    assert lit() == [[16 * 5 + 9], [17]]
    cell(card, "global", 0).hover()
    assert lit() == [[0], []]
    card.page.mouse.move(0, 0)
    assert say(card).startswith("Box row 1, column 6")


def _at(card, side):
    grid = card.get_by_role("grid", name=f"{side} memory")
    return grid.locator(".tma-cell.tma-hot").evaluate_all("cells => cells.map((cell) => cell.dataset.at)")


def test_one_flipped_byte_changes_its_cell_and_no_other(visit):
    page = visit()
    whole, card = card_of(page, 0), card_of(page, 1)

    def labels(one):
        return one.locator(".tma-edge-memory .tma-cell").all_inner_texts()

    for view, differing in (("hardware", 1), ("difference", 1), ("model", 0)):
        for one in (whole, card):
            one.locator(f"input[name=view][value={view}]").check()
        assert sum(one != other for one, other in zip(labels(whole), labels(card), strict=True)) == differing
        assert card.locator(".tma-wrong").count() == differing
        assert whole.locator(".tma-wrong").count() == 0
    card.locator("input[name=view][value=hardware]").check()
    assert "1 of 32 elements differs" in card.inner_text()
    cell(card, "shared", 9).hover()
    assert say(card).endswith(" where the model says 213.")
    assert "differs" in cell(card, "shared", 9).get_attribute("aria-label")


def test_the_address_keeps_the_state_and_restores_it(visit, figure):
    page = visit("#edges=experiment:add,view:difference,cell:2.3")
    card = card_of(page)
    figure.experiment, figure.view, figure.cell = "add", "difference", (2, 3)
    told = figure.sentence()
    figure.experiment, figure.view, figure.cell = "zero", "hardware", (1, 6)
    assert say(card) == told
    assert card.locator("select").input_value() == "add"
    card.locator("select").select_option("larger")
    page.wait_for_url("**#edges=experiment:larger,view:difference,cell:2.3")
    link = card.get_by_role("link", name="link to this view")
    assert link.get_attribute("href") == "#edges=experiment:larger,view:difference,cell:2.3"


def test_the_data_and_the_picture(visit, figure):
    card = card_of(visit())
    assert data(card) == json.loads(json.dumps(figure.data()))
    with card.page.expect_download() as download:
        card.get_by_role("button", name="picture (SVG)").click()
    picture = Path(download.value.path()).read_text("utf-8")
    assert picture.startswith("<svg ")
    assert ">196<" in picture


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_is_accessible_and_fits(visit, width, scheme):
    page = visit("#edges=experiment:bits-tfloat32&edges-2=experiment:store-float16", width=width, scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.add_script_tag(path=str(AXE))
    found = page.evaluate("axe.run()")["violations"]
    assert [(fault["id"], [node["html"][:200] for node in fault["nodes"]]) for fault in found] == []
