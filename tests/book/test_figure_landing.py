"""The tile landing in a browser, with the network cut: cells, frames, play, keys, address, and as Python says."""

from dataclasses import replace

import pytest

from tmalab import observe
from tmalab.figures import LandingFigure
from tmalab.figures.landing_tables import FRAMES, SHOWN

pytestmark = pytest.mark.browser

RAMP = {f"var(--tma-r{shade})" for shade in range(8)}


def later(case):
    """The recordings, but for one piece of one tile, which lands 500 cycles later."""
    seen = observe(case)
    if case.name != "landing/64x64-128B/cold":
        return seen
    landed = seen["landed"].copy()
    landed[7] += 500
    return replace(seen, arrays={**seen.arrays, "landed": landed})


@pytest.fixture(scope="module")
def figure():
    return LandingFigure(observe)


@pytest.fixture(scope="module")
def page_file(figure, page_of):
    return page_of("Landing", figure, LandingFigure(later, title="One piece later"))


def cells(card):
    return card.locator(".tma-land-grid .tma-cell").all_inner_texts()


def put(figure, **state):
    for name, value in {"shown": "one run", "frame": FRAMES, "piece": 0, **state}.items():
        setattr(figure, name, value)
    return figure._found


@pytest.mark.parametrize("shown", SHOWN)
def test_every_tile_draws_what_python_says(visit_alone, figure, shown):
    card = visit_alone().card()
    card.choose(shown=shown)
    for tile in figure.spec["choices"]["tile"]:
        card.locator("select").select_option(tile)
        for warmth in ("warm", "cold"):
            card.choose(warmth=warmth)
            found = put(figure, tile=tile, warmth=warmth, shown=shown)
            assert [text.strip() for text in cells(card)] == [str(value) for value in found.values]
            tints = card.locator(".tma-land-grid .tma-cell").evaluate_all(
                "cells => cells.map(cell => cell.style.getPropertyValue('--tint'))"
            )
            assert tints == [f"var(--tma-r{shade})" for shade in found.shades]
            assert set(tints) <= RAMP
            assert card.say() == figure.sentence()


def test_data_and_table_are_pythons(visit_alone, figure):
    card = visit_alone("#landing=tile:64x8-128B-by-32,warmth:warm,shown:median,frame:7,piece:3").card()
    put(figure, tile="64x8-128B-by-32", warmth="warm", shown="median", frame=7, piece=3)
    card.check_data(figure)
    card.locator("summary").click()
    card.check_table(figure)


def test_the_frames_go_from_nothing_to_all_by_press_and_by_play(visit_alone, figure):
    card = visit_alone("#landing=tile:64x64-128B,warmth:cold,frame:0").card()
    seen = []
    for frame in range(FRAMES + 1):
        found = put(figure, tile="64x64-128B", warmth="cold", frame=frame)
        assert found.landed() in card.locator(".tma-head").inner_text()
        assert card.locator(".tma-land-grid .tma-shade").count() == sum(one is not None for one in found.shades)
        assert card.locator(".tma-stepper output").inner_text() == f"{found.now} cycles"
        seen.append(sum(one is not None for one in found.shades))
        if frame < FRAMES:
            card.get_by_role("button", name="one step on").click()
    assert (seen[0], seen[-1]) == (0, 64)
    card.get_by_role("button", name="play").click()  # at the end: from the beginning
    assert card.locator(".tma-land-grid .tma-shade").count() < 64
    card.get_by_role("button", name="pause").click()


def test_what_was_not_recorded_cannot_be_chosen_and_says_so(visit_alone):
    page = visit_alone()
    card = page.card()
    assert not card.locator("input[value='cold-data']").is_disabled()
    card.choose(warmth="cold-data")
    card.locator("select").select_option("32x128-64B")
    assert card.chosen("warmth") == "cold"
    assert card.locator("input[value='cold-data']").is_disabled()
    other = visit_alone("#landing=tile:32x128-64B,warmth:cold-data").card()
    assert "Not measured" in other.inner_text()
    assert set(cells(other)) == {""}
    assert other.data()["measured"] is None


def test_a_cell_under_the_pointer_is_told_and_the_keys_walk_the_grid(visit_alone, figure):
    page = visit_alone()
    card = page.card()
    put(figure, tile="64x64-128B", warmth="cold", piece=13)
    card.locator("[data-at='13']").hover()
    assert card.say() == figure.sentence()
    page.mouse.move(5, 5)
    put(figure, tile="64x64-128B", warmth="cold")
    assert card.say() == figure.sentence()
    card.get_by_role("grid").locator("[tabindex='0']").focus()
    for key in ("ArrowDown", "ArrowRight", "End", "ArrowDown"):
        page.keyboard.press(key)
    assert card.say().startswith("Piece 23, bytes 2944 to 3071 of the tile (row 23 of the box): ")
    assert "cycles, bytes 2944 to 3071" in page.evaluate("document.activeElement.ariaLabel")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.dataset.key") == "issue"
    assert card.say().startswith("The load's instruction took its thread ")
    page.keyboard.press("ArrowDown")
    assert card.say().startswith("Run drawn: the first of 64 pieces of 128 bytes was seen changed")
    page.wait_for_url("**#landing=piece:23")


def test_a_piece_that_lands_later_moves_its_cell_and_no_other(visit_alone):
    page = visit_alone()
    one, other = (cells(page.card(number)) for number in (0, 1))
    assert [at for at, (a, b) in enumerate(zip(one, other, strict=True)) if a != b] == [7]


def test_the_picture_is_a_drawing_of_what_is_seen(visit_alone, figure):
    card = visit_alone().card()
    found = put(figure, tile="64x64-128B", warmth="cold")
    card.check_picture(f">{found.values[5]}</text>", "cycles since the issue")


def test_without_a_script_the_still_stands(visit_alone, figure):
    page = visit_alone(java_script_enabled=False)
    put(figure, tile="64x64-128B", warmth="cold")
    page.card().check_still(figure, wider_than=800)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_is_accessible_and_fits(visit_alone, width, scheme):
    page = visit_alone(
        "#landing=tile:256x128-none,warmth:warm,frame:6&landing-2=shown:spread", width=width, scheme=scheme
    )
    page.check_fits()
    page.check_tall(".tma-bar button, .tma-bar label, .tma-bar select, .tma-cell, .tma-mark")
    assert page.faults() == []
