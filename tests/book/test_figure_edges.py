"""At the edges in a browser, with the network cut: by pointer, by key, by address, and the same as Python says."""

import pytest

from tmalab import observe
from tmalab.figures import EdgesFigure

pytestmark = pytest.mark.browser

FLIPPED_BYTE = 4 * 9 + 3  # of the second row's second element, as the box stands in shared memory


@pytest.fixture(scope="module")
def figure():
    return EdgesFigure(observe)


@pytest.fixture(scope="module")
def page_file(figure, page_of, flipped):
    return page_of("Edges", figure, EdgesFigure(flipped("edges/small/zero", FLIPPED_BYTE), title="One byte flipped"))


def cell(card, side, at):
    return card.get_by_role("grid", name=f"{side} memory").locator(f"[data-at='{at}']")


def test_every_experiment_by_pointer_is_what_python_says(visit_alone, figure):
    card = visit_alone().card()
    card.locator("summary").click()
    for name in figure.spec["choices"]["experiment"]:
        card.locator("select").select_option(name)
        figure.experiment = name
        card.check_table(figure)
        assert card.say() == figure.sentence()
        assert card.locator(".tma-wrong").count() == 0
        assert card.locator(".tma-edge-memory .tma-cell").count() == sum(
            one["window"][2] * one["window"][3] + one["shared"][2] * one["shared"][3]
            for one in figure.spec["experiments"]
            if one["name"] == name
        )
    figure.experiment = "zero"
    card.locator("select").select_option("zero")
    for view in ("model", "difference", "hardware"):
        card.choose(view=view)
        assert cell(card, "shared", 0).locator("b").inner_text() == "196"


def test_every_control_by_key_and_the_arrows_stay_in_the_grid(visit_alone):
    page = visit_alone()
    card = page.card()
    page.locator("body").press("Tab")
    assert page.evaluate("document.activeElement.tagName") == "SELECT"
    page.keyboard.press("ArrowDown")
    assert "NaN (7ff77ff7)" in card.say()
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    assert card.chosen("view") == "model"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('[role=grid]').ariaLabel") == "At the edges: global memory"
    for key in ("Home", "ArrowUp", "ArrowLeft"):
        page.keyboard.press(key)
    assert card.say() == "Row 4, column 0: 192, not in the box."
    page.keyboard.press("Tab")
    page.keyboard.press("End")
    assert card.say().startswith("Box row 1, column 7 is row 5, column 11, outside the tensor")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('[role=grid]')") is None


def test_a_cell_lights_its_partner_from_either_side(visit_alone):
    card = visit_alone("#edges=experiment:store-float32").card()

    def lit():
        return [[int(at) for at in _at(card, side)] for side in ("global", "shared")]

    cell(card, "shared", 2).hover()
    assert lit() == [[16 * 3 + 10], [2]]
    assert "past the tensor but in the last 16 bytes of its row: it was 186, now 2" in card.say()
    cell(card, "global", 16 * 5 + 9).hover()
    assert lit() == [[16 * 5 + 9], [17]]
    cell(card, "global", 0).hover()
    assert lit() == [[0], []]
    card.page.mouse.move(0, 0)
    assert card.say().startswith("Box row 1, column 6")


def _at(card, side):
    grid = card.get_by_role("grid", name=f"{side} memory")
    return grid.locator(".tma-cell.tma-hot").evaluate_all("cells => cells.map((cell) => cell.dataset.at)")


def test_one_flipped_byte_changes_its_cell_and_no_other(visit_alone):
    page = visit_alone()
    whole, card = page.card(0), page.card(1)

    def labels(one):
        return one.locator(".tma-edge-memory .tma-cell").all_inner_texts()

    card.check_one_differs(whole, labels)
    assert "1 of 32 elements differs" in card.inner_text()
    cell(card, "shared", 9).hover()
    assert card.say().endswith(" where the model says 213.")
    assert "differs" in cell(card, "shared", 9).get_attribute("aria-label")


def test_the_address_keeps_the_state_and_restores_it(visit_alone, figure):
    page = visit_alone("#edges=experiment:add,view:difference,cell:2.3")
    card = page.card()
    figure.experiment, figure.view, figure.cell = "add", "difference", (2, 3)
    told = figure.sentence()
    figure.experiment, figure.view, figure.cell = "zero", "hardware", (1, 6)
    assert card.say() == told
    assert card.locator("select").input_value() == "add"
    card.locator("select").select_option("larger")
    page.wait_for_url("**#edges=experiment:larger,view:difference,cell:2.3")
    assert card.link() == "#edges=experiment:larger,view:difference,cell:2.3"


def test_the_data_and_the_picture(visit_alone, figure):
    card = visit_alone().card()
    card.check_data(figure)
    card.check_picture(">196<")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_is_accessible_and_fits(visit_alone, width, scheme):
    page = visit_alone("#edges=experiment:bits-tfloat32&edges-2=experiment:store-float16", width=width, scheme=scheme)
    page.check_fits()
    assert page.faults() == []
