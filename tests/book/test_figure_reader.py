"""What the reader gets, on its page of the built book: by pointer, by key, by address, and the same as Python says."""

import pytest

from tmalab import observe
from tmalab.figures import ReaderFigure

pytestmark = pytest.mark.browser

PAGE = "figures/reader.html"


@pytest.fixture
def card(open_page):
    page = open_page(PAGE)
    page.locator(".tma-bar").wait_for()
    return page.card()


@pytest.mark.parametrize("writer", ["128B", "none"])
@pytest.mark.parametrize("reader", ["nothing", "row", "line"])
def test_it_draws_what_python_says(card, writer, reader):
    figure = ReaderFigure(observe, writer=writer, reader=reader, base=128)
    card.choose(writer=writer)
    card.choose(reader=reader)
    card.locator("input[type=range]").fill("1")
    card.check_data(figure)
    assert card.say() == figure.sentence()
    assert card.locator(".tma-wrong").count() == len(figure.wrong())


def test_both_sides_are_linked(card):
    tile, shared = (
        card.get_by_role("grid", name="the tile as it is read"),
        card.get_by_role("grid", name="shared memory"),
    )
    tile.get_by_role("gridcell").nth(8).hover()
    assert card.say().startswith("Row 1, chunk 0: the reader looks at shared byte 128 ")
    card.choose(reader="line")
    shared.get_by_role("gridcell").nth(8).hover()
    assert card.say().startswith("Row 1, chunk 1: the reader looks at shared byte 128 ")
    assert shared.locator(".tma-hot[data-at='8']").count() == tile.locator(".tma-hot[data-at='9']").count() == 1


def test_the_keys_walk_it_and_the_address_keeps_it(card, open_page):
    page = card.page
    card.get_by_role("grid", name="the tile as it is read").locator("[tabindex='0']").focus()
    for key in ("ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    assert card.say().startswith("Row 4, chunk 6: ")
    card.choose(reader="row")
    page.wait_for_url("**#reader=reader:row,cell:4.6")
    again = open_page(PAGE + "#reader=reader:row,cell:4.6")
    again.locator(".tma-bar").wait_for()
    assert again.card().chosen("reader") == "row"
