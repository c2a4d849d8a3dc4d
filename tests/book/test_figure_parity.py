"""Parity in a browser, with the network cut: by pointer, by key, by step, by address, and the same as Python says."""

from dataclasses import replace

import pytest

from tmalab import observe
from tmalab.figures import ParityFigure
from tmalab.figures.parity_tables import ROWS

pytestmark = pytest.mark.browser

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
def page_file(figure, page_of):
    return page_of(
        "Parity", figure, ParityFigure(changed, title="One answer changed"), ParityFigure(None, title="Not measured")
    )


def cell(card, row, tile):
    return card.locator(f".tma-parity [data-at='{row * TILES + tile}']")


def test_every_state_by_pointer_is_what_python_says(visit_alone, figure):
    card = visit_alone().card()
    card.locator("summary").click()
    for rule in figure.spec["choices"]["rule"]:
        card.choose(rule=rule)
        figure.rule = rule
        assert card.locator(".tma-parity-rule").inner_text() == " ".join(figure._found.rule())
        for view in figure.spec["choices"]["view"]:
            card.choose(view=view)
            figure.view = view
            card.check_table(figure)
            texts = card.locator(".tma-parity .tma-cell").evaluate_all("all => all.map((one) => one.innerText.trim())")
            shown = [figure._found.shown(*one)[:2] for one in figure._found.cells]
            assert [text.split() for text in texts] == [f"{main} {small}".split() for main, small in shown]
            assert card.locator(".tma-wrong").count() == 0
    for row in range(len(ROWS)):
        for tile in (0, 3):
            figure.row, figure.tile = row, tile
            cell(card, row, tile).click()
            assert card.say() == figure.sentence()
    figure.rule, figure.view, figure.row, figure.tile = "right", "hardware", 6, 1


def test_every_control_by_key(visit_alone):
    page = visit_alone()
    card = page.card()
    page.locator("body").press("Tab")
    page.keyboard.press("ArrowRight")
    assert "Every wait is given 0." in card.inner_text()
    page.keyboard.press("Tab")  # one step back, from tile 1
    page.keyboard.press("Enter")
    assert card.say().startswith("Tile 0, while the load is in flight: the wait is given 0")
    card.get_by_role("slider").focus()
    page.keyboard.press("End")
    assert card.say().startswith("Tile 6, ")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    assert card.chosen("view") == "model"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('[role=grid]') !== null")
    for key in ("Home", "ArrowUp", "ArrowUp"):
        page.keyboard.press(key)
    assert card.say().startswith("Tile 0, after its load has landed: test_wait with parity 0 answers yes.")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('[role=grid]')") is None


def test_stepping_walks_through_the_tiles_and_stops(visit_alone):
    page = visit_alone()
    card = page.card()
    card.get_by_role("slider").fill("4")
    assert card.say().startswith("Tile 4, ")
    card.get_by_role("button", name="play").click()
    page.wait_for_function("document.querySelector('.tma-say').innerText.startsWith('Tile 6')")
    card.get_by_role("button", name="play").wait_for()
    assert card.get_by_role("button", name="one step on").is_disabled()


def test_one_other_answer_changes_its_cell_and_no_other(visit_alone):
    page = visit_alone()
    whole, card = page.card(0), page.card(1)

    def texts(one):
        return one.locator(".tma-parity .tma-cell").all_inner_texts()

    card.check_one_differs(whole, texts)
    assert "1 of 77 cells differs from the model" in card.inner_text()
    cell(card, 3, 2).hover()
    assert card.say().endswith("The model says yes.")
    assert cell(card, 3, 2).get_attribute("aria-label").endswith("differs")
    assert "Model, not measured" in page.card(2).say()


def test_the_address_keeps_the_state_and_restores_it(visit_alone, figure):
    page = visit_alone("#parity=rule:loop%20index,view:difference,tile:5,row:9")
    card = page.card()
    figure.rule, figure.view, figure.tile, figure.row = "loop index", "difference", 5, 9
    told = figure.sentence()
    assert "only bit 0 counts, 1" in told
    figure.rule, figure.view, figure.tile, figure.row = "right", "hardware", 1, 6
    assert card.say() == told
    card.choose(rule="inverted")
    page.wait_for_url("**#parity=rule:inverted,view:difference,tile:5,row:9")


def test_the_data_and_the_picture(visit_alone, figure):
    card = visit_alone().card()
    card.check_data(figure)
    card.check_picture(">yes<")


def test_without_javascript_there_is_the_still_and_the_table(visit_alone, figure):
    page = visit_alone(java_script_enabled=False)
    page.card().check_still(figure, wider_than=0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_is_accessible_and_fits(visit_alone, width, scheme):
    page = visit_alone("#parity=rule:inverted&parity-2=view:difference", width=width, scheme=scheme)
    page.check_fits()
    overflowing = "all => all.filter((one) => one.scrollWidth > one.clientWidth + 1).length"
    assert page.locator(".tma-parity .tma-cell").evaluate_all(overflowing) == 0
    assert page.faults() == []
