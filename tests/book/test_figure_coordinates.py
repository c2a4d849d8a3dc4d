"""A coordinate tensor in a browser, with the network cut: by pointer, key and address, and the same as Python says."""

import numpy as np
import pytest

from tmalab.experiment.observation import Observation, Provenance
from tmalab.figures import CoordinatesFigure
from tmalab.figures.coordinates_tables import COLS, ROWS, STRIPS, TILES

pytestmark = pytest.mark.browser

WRONG = (5, 3)


def made_up(case):
    """A run that never was: times that tell their tile, and one element wrong in one tile."""
    block, column = np.arange(STRIPS)[:, None], np.arange(TILES)[None, :]
    issued = (32 * (block % 16) + 2048 * column).astype(np.int32)
    differ = np.zeros((STRIPS, TILES), np.int32)
    differ[WRONG] = 1
    arrays = {
        "issued_ns": issued, "landed_ns": (issued + 1024 + 32 * (block % 3)).astype(np.int32), "differ": differ,
        "sm": np.arange(STRIPS)[::-1].astype(np.int16),
    }  # fmt: skip
    values = {
        "completed": True, "error": None, "timer_step_ns": 32, "elements": ROWS * COLS,
        "package": {"name": "cute", "version": "0.0"},
    }  # fmt: skip
    where = Provenance("NVIDIA H200", "9.0", "580.0", "13.0", "13.0", "cute/strips.py", "0" * 64, "2000-01-01", 21)
    return Observation(case, arrays, values, where, "recorded")


@pytest.fixture
def figure():
    return CoordinatesFigure(made_up)


@pytest.fixture(scope="module")
def page_file(page_of):
    return page_of(
        "A coordinate tensor", CoordinatesFigure(made_up), CoordinatesFigure(None, title="Not measured", page=None)
    )


def cell(card, block, column):
    """The cell of a tile: 33 strips run down each of four bands."""
    at = block % 33 * 28 + block // 33 * TILES + column
    return card.get_by_role("grid").locator(f"[data-at='{at}']")


@pytest.mark.parametrize("view", ["hardware", "model", "difference"])
@pytest.mark.parametrize("shown", ["landed", "SM"])
def test_every_cell_and_line_is_what_python_says(visit_alone, figure, view, shown):
    figure.view, figure.shown, figure.block, figure.column = view, shown, 70, 4
    card = visit_alone(f"#coordinates=view:{view},shown:{shown},block:70,column:4").card()
    found = figure._found
    texts = card.get_by_role("grid").locator(".tma-cell b").all_inner_texts()
    for block, column in ((0, 0), (1, 2), (32, 6), (33, 0), (70, 4), WRONG, (131, 6)):
        at = block % 33 * 28 + block // 33 * TILES + column
        assert texts[at] == found.cell(block * TILES + column)[0]
    assert card.say() == figure.sentence()
    assert card.locator(".tma-coord-calls dd").all_inner_texts() == [gives for _, gives in found.calls()]
    assert card.locator(".tma-coord-calls dt").all_inner_texts() == [call for call, _ in found.calls()]
    assert card.locator(".tma-lane-name b").all_inner_texts() == [lane.name for lane in found.lanes()]
    assert card.locator(".tma-coord-key span").all_inner_texts() == [words for _, words in found.key]
    card.locator("summary").click()
    card.check_table(figure)


def test_a_press_chooses_a_tile_and_the_pointer_only_names_it(visit_alone, figure):
    card = visit_alone().card()
    cell(card, 40, 6).click()
    figure.block, figure.column = 40, 6
    card.page.mouse.move(0, 0)
    assert card.say() == figure.sentence()
    cell(card, 2, 1).hover()
    assert card.say().startswith("Tile (2, 1), rows 128 to 191 and columns 256 to 511")
    assert "(1536,2560)" in card.locator(".tma-coord-calls").inner_text()
    card.locator(".tma-lane-track").first.locator("[role=option]").first.hover()
    assert card.say().startswith("Block 40, tile 0: issued")
    assert "tma-hot" in cell(card, 40, 0).get_attribute("class")


def test_the_keys_walk_the_grid_from_band_to_band(visit_alone):
    page = visit_alone()
    card = page.card()
    cell(card, 1, 6).focus()
    page.keyboard.press("ArrowRight")
    assert card.say().startswith("Tile (34, 0)")
    page.keyboard.press("ArrowDown")
    assert card.say().startswith("Tile (35, 0)")
    page.keyboard.press("End")
    assert card.say().startswith("Tile (101, 6)")
    assert card.locator("output").first.inner_text() == "101"


def test_a_wrong_element_stands_out_in_the_difference_alone(visit_alone):
    card = visit_alone("#coordinates=view:difference,block:5,column:3").card()
    assert card.locator(".tma-wrong").count() == 1
    assert "tma-wrong" in cell(card, *WRONG).get_attribute("class")
    assert "1 of 15138816 in all" in card.say()
    card.choose(view="hardware")
    assert card.locator(".tma-wrong").count() == 0


def test_the_address_and_the_data(visit_alone, figure):
    page = visit_alone("#coordinates=view:hardware,shown:SM,block:9,column:1")
    card = page.card()
    figure.shown, figure.block, figure.column = "SM", 9, 1
    card.check_data(figure)
    card.check_picture()
    card.choose(shown="landed")
    page.wait_for_url("**#coordinates=block:9,column:1")


def test_without_a_recording_it_says_so(visit_alone):
    card = visit_alone().card(1)
    assert card.say().endswith("Not measured.")
    assert "not measured" in card.locator(".tma-prov").inner_text()
    assert not card.locator(".tma-lane-chart").is_visible()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])  # 924 cells take axe half a minute
def test_it_is_accessible_and_fits(visit_alone, width, scheme):
    page = visit_alone("#coordinates=view:hardware,shown:SM,block:99,column:0", width=width, scheme=scheme)
    page.check_fits()
    assert page.faults(within=".tma-host") == []
