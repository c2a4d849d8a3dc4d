"""Parity in a browser, with the network cut: by pointer, by key, by step, by address, and the same as Python says."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tmalab import observe
from tmalab.figures import ParityFigure
from tmalab.figures.bundle import standalone_page
from tmalab.figures.parity_tables import ROWS

pytestmark = pytest.mark.browser

AXE = Path(__file__).parent.parent / "node_modules" / "axe-core" / "axe.min.js"
TILES = 7


def changed(case):
    """The recordings, but for one answer: in one run of the right rule, parity 1 of tile 2 in flight."""
    seen = observe(case)
    if case.name != "parity/early/right":
        return seen
    answers = seen.arrays["answers"].copy()
    at = seen.values["answers"].index("flight_1")
    answers[0, 2, at] ^= 1
    return replace(seen, arrays={**seen.arrays, "answers": answers})


@pytest.fixture(scope="module")
def figure():
    return ParityFigure(observe)


@pytest.fixture(scope="module")
def page_file(figure, tmp_path_factory):
    file = tmp_path_factory.mktemp("parity") / "parity.html"
    three = [figure, ParityFigure(changed, title="One answer changed"), ParityFigure(None, title="Not measured")]
    file.write_text(standalone_page("Parity", "\n".join(one.html() for one in three)), "utf-8")
    return file


@pytest.fixture
def visit(visit_alone):
    return visit_alone


def card_of(page, number=0):
    return page.locator(".tma").nth(number)


def cell(card, row, tile):
    return card.locator(f".tma-parity [data-at='{row * TILES + tile}']")


def say(card):
    return card.locator(".tma-say").inner_text()


def rows_of(card):
    return card.locator("table").evaluate("table => [...table.rows].map(row => [...row.cells].map(c => c.textContent))")


def test_every_state_by_pointer_is_what_python_says(visit, figure):
    card = card_of(visit())
    card.locator("summary").click()
    for rule in figure.spec["choices"]["rule"]:
        card.locator(f"input[name=rule][value='{rule}']").check()
        figure.rule = rule
        assert card.locator(".tma-parity-rule").inner_text() == " ".join(figure._found.rule())
        for view in figure.spec["choices"]["view"]:
            card.locator(f"input[name=view][value={view}]").check()
            figure.view = view
            assert rows_of(card) == [figure.table()[0], *figure.table()[1]]
            texts = card.locator(".tma-parity .tma-cell").evaluate_all("all => all.map((one) => one.innerText.trim())")
            shown = [figure._found.shown(*one)[:2] for one in figure._found.cells]
            assert [text.split() for text in texts] == [f"{main} {small}".split() for main, small in shown]
            assert card.locator(".tma-wrong").count() == 0
    for row in range(len(ROWS)):
        for tile in (0, 3):
            figure.row, figure.tile = row, tile
            cell(card, row, tile).click()
            assert say(card) == figure.sentence()
    figure.rule, figure.view, figure.row, figure.tile = "right", "hardware", 6, 1


def test_every_control_by_key(visit):
    page = visit()
    card = card_of(page)
    page.locator("body").press("Tab")
    page.keyboard.press("ArrowRight")
    assert "Every wait is given 0." in card.inner_text()
    page.keyboard.press("Tab")  # one step back, from tile 1
    page.keyboard.press("Enter")
    assert say(card).startswith("Tile 0, while the load is in flight: the wait is given 0")
    card.get_by_role("slider").focus()
    page.keyboard.press("End")
    assert say(card).startswith("Tile 6, ")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    assert card.locator("input[name=view]:checked").get_attribute("value") == "model"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('[role=grid]') !== null")
    for key in ("Home", "ArrowUp", "ArrowUp"):
        page.keyboard.press(key)
    assert say(card).startswith("Tile 0, after its load has landed: test_wait with parity 0 answers yes.")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('[role=grid]')") is None


def test_stepping_walks_through_the_tiles_and_stops(visit):
    page = visit()
    card = card_of(page)
    card.get_by_role("slider").fill("4")
    assert say(card).startswith("Tile 4, ")
    card.get_by_role("button", name="play").click()
    page.wait_for_function("document.querySelector('.tma-say').innerText.startsWith('Tile 6')", timeout=5000)
    card.get_by_role("button", name="play").wait_for()
    assert card.get_by_role("button", name="one step on").is_disabled()


def test_one_other_answer_changes_its_cell_and_no_other(visit):
    page = visit()
    whole, card = card_of(page, 0), card_of(page, 1)

    def texts(one):
        return one.locator(".tma-parity .tma-cell").all_inner_texts()

    for view, differing in (("hardware", 1), ("difference", 1), ("model", 0)):
        for one in (whole, card):
            one.locator(f"input[name=view][value={view}]").check()
        assert sum(one != other for one, other in zip(texts(whole), texts(card), strict=True)) == differing
        assert card.locator(".tma-wrong").count() == differing
        assert whole.locator(".tma-wrong").count() == 0
    card.locator("input[name=view][value=hardware]").check()
    assert "1 of 77 cells differs from the model" in card.inner_text()
    cell(card, 3, 2).hover()
    assert say(card).endswith("The model says yes.")
    assert cell(card, 3, 2).get_attribute("aria-label").endswith("differs")
    assert "Model, not measured" in card_of(page, 2).locator(".tma-say").inner_text()


def test_the_address_keeps_the_state_and_restores_it(visit, figure):
    page = visit("#parity=rule:loop%20index,view:difference,tile:5,row:9")
    card = card_of(page)
    figure.rule, figure.view, figure.tile, figure.row = "loop index", "difference", 5, 9
    told = figure.sentence()
    assert "only bit 0 counts, 1" in told
    figure.rule, figure.view, figure.tile, figure.row = "right", "hardware", 1, 6
    assert say(card) == told
    card.locator("input[name=rule][value=inverted]").check()
    page.wait_for_url("**#parity=rule:inverted,view:difference,tile:5,row:9")


def test_the_data_and_the_picture(visit, figure):
    card = card_of(visit())
    with card.page.expect_download() as download:
        card.get_by_role("button", name="data (JSON)").click()
    assert json.loads(Path(download.value.path()).read_text("utf-8")) == json.loads(json.dumps(figure.data()))
    with card.page.expect_download() as download:
        card.get_by_role("button", name="picture (SVG)").click()
    picture = Path(download.value.path()).read_text("utf-8")
    assert picture.startswith("<svg ")
    assert ">yes<" in picture


def test_without_javascript_there_is_the_still_and_the_table(visit, figure):
    page = visit(java_script_enabled=False)
    assert page.locator("img.tma-still").first.evaluate("image => image.complete && image.naturalWidth > 0")
    assert figure.sentence() in page.locator(".tma").first.inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_is_accessible_and_fits(visit, width, scheme):
    page = visit("#parity=rule:inverted&parity-2=view:difference", width=width, scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    overflowing = "all => all.filter((one) => one.scrollWidth > one.clientWidth + 1).length"
    assert page.locator(".tma-parity .tma-cell").evaluate_all(overflowing) == 0
    page.add_script_tag(path=str(AXE))
    found = page.evaluate("axe.run()")["violations"]
    assert [(fault["id"], [node["html"][:200] for node in fault["nodes"]]) for fault in found] == []
