"""The tile landing in a browser, with the network cut: cells, frames, play, keys, address, and as Python says."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tmalab import observe
from tmalab.figures import LandingFigure
from tmalab.figures.bundle import standalone_page
from tmalab.figures.landing_tables import FRAMES, SHOWN

pytestmark = pytest.mark.browser

AXE = Path(__file__).parent.parent / "node_modules" / "axe-core" / "axe.min.js"
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
def page_file(figure, tmp_path_factory):
    file = tmp_path_factory.mktemp("landing") / "landing.html"
    both = [figure, LandingFigure(later, title="One piece later")]
    file.write_text(standalone_page("Landing", "\n".join(one.html() for one in both)), "utf-8")
    return file


@pytest.fixture
def visit(visit_alone):
    return visit_alone


def card_of(page, number=0):
    return page.locator(".tma").nth(number)


def say(card):
    return card.locator(".tma-say").inner_text()


def choose(card, name, value):
    card.locator(f"input[name={name}][value='{value}']").check()


def cells(card):
    return card.locator(".tma-land-grid .tma-cell").all_inner_texts()


def data(card):
    with card.page.expect_download() as download:
        card.get_by_role("button", name="data (JSON)").click()
    return json.loads(Path(download.value.path()).read_text("utf-8"))


def rows_of(card):
    return card.locator("table").evaluate("table => [...table.rows].map(row => [...row.cells].map(c => c.textContent))")


def put(figure, **state):
    for name, value in {"shown": "one run", "frame": FRAMES, "piece": 0, **state}.items():
        setattr(figure, name, value)
    return figure._found


@pytest.mark.parametrize("shown", SHOWN)
def test_every_tile_draws_what_python_says(visit, figure, shown):
    card = card_of(visit())
    choose(card, "shown", shown)
    for tile in figure.spec["choices"]["tile"]:
        card.locator("select").select_option(tile)
        for warmth in ("warm", "cold"):
            choose(card, "warmth", warmth)
            found = put(figure, tile=tile, warmth=warmth, shown=shown)
            assert [text.strip() for text in cells(card)] == [str(value) for value in found.values]
            tints = card.locator(".tma-land-grid .tma-cell").evaluate_all(
                "cells => cells.map(cell => cell.style.getPropertyValue('--tint'))"
            )
            assert tints == [f"var(--tma-r{shade})" for shade in found.shades]
            assert set(tints) <= RAMP
            assert say(card) == figure.sentence()


def test_data_and_table_are_pythons(visit, figure):
    card = card_of(visit("#landing=tile:64x8-128B-by-32,warmth:warm,shown:median,frame:7,piece:3"))
    put(figure, tile="64x8-128B-by-32", warmth="warm", shown="median", frame=7, piece=3)
    assert data(card) == json.loads(json.dumps(figure.data()))
    card.locator("summary").click()
    assert rows_of(card) == [list(figure.table()[0]), *figure.table()[1]]


def test_the_frames_go_from_nothing_to_all_by_press_and_by_play(visit, figure):
    card = card_of(visit("#landing=tile:64x64-128B,warmth:cold,frame:0"))
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


def test_what_was_not_recorded_cannot_be_chosen_and_says_so(visit):
    page = visit()
    card = card_of(page)
    assert not card.locator("input[value='cold-data']").is_disabled()
    choose(card, "warmth", "cold-data")
    card.locator("select").select_option("32x128-64B")
    assert card.locator("input[name=warmth]:checked").get_attribute("value") == "cold"
    assert card.locator("input[value='cold-data']").is_disabled()
    other = card_of(visit("#landing=tile:32x128-64B,warmth:cold-data"))
    assert "Not measured" in other.inner_text()
    assert set(cells(other)) == {""}
    assert data(other)["measured"] is None


def test_a_cell_under_the_pointer_is_told_and_the_keys_walk_the_grid(visit, figure):
    page = visit()
    card = card_of(page)
    put(figure, tile="64x64-128B", warmth="cold", piece=13)
    card.locator("[data-at='13']").hover()
    assert say(card) == figure.sentence()
    page.mouse.move(5, 5)
    put(figure, tile="64x64-128B", warmth="cold")
    assert say(card) == figure.sentence()
    card.get_by_role("grid").locator("[tabindex='0']").focus()
    for key in ("ArrowDown", "ArrowRight", "End", "ArrowDown"):
        page.keyboard.press(key)
    assert say(card).startswith("Piece 23, bytes 2944 to 3071 of the tile (row 23 of the box): ")
    assert "cycles, bytes 2944 to 3071" in page.evaluate("document.activeElement.ariaLabel")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.dataset.key") == "issue"
    assert say(card).startswith("The load's instruction took its thread ")
    page.keyboard.press("ArrowDown")
    assert say(card).startswith("Run drawn: the first of 64 pieces of 128 bytes was seen changed")
    page.wait_for_url("**#landing=piece:23")


def test_a_piece_that_lands_later_moves_its_cell_and_no_other(visit):
    page = visit()
    one, other = (cells(card_of(page, number)) for number in (0, 1))
    assert [at for at, (a, b) in enumerate(zip(one, other, strict=True)) if a != b] == [7]


def test_the_picture_is_a_drawing_of_what_is_seen(visit, figure):
    card = card_of(visit())
    with card.page.expect_download() as download:
        card.get_by_role("button", name="picture (SVG)").click()
    picture = Path(download.value.path()).read_text("utf-8")
    found = put(figure, tile="64x64-128B", warmth="cold")
    assert picture.startswith("<svg ")
    assert f">{found.values[5]}</text>" in picture
    assert "cycles since the issue" in picture


def test_without_a_script_the_still_stands(visit, figure):
    page = visit(java_script_enabled=False)
    put(figure, tile="64x64-128B", warmth="cold")
    assert page.locator("img.tma-still").first.evaluate("image => image.naturalWidth") > 800
    assert page.locator(".tma-say").first.inner_text() == figure.sentence()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_is_accessible_and_fits(visit, width, scheme):
    page = visit("#landing=tile:256x128-none,warmth:warm,frame:6&landing-2=shown:spread", width=width, scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    small = page.locator(".tma-bar button, .tma-bar label, .tma-bar select, .tma-cell, .tma-mark").evaluate_all(
        "nodes => nodes.filter(node => node.getBoundingClientRect().height < 24).map(node => node.outerHTML)"
    )
    assert small == []
    page.add_script_tag(path=str(AXE))
    found = page.evaluate("axe.run()")["violations"]
    assert [(fault["id"], [node["html"][:200] for node in fault["nodes"]]) for fault in found] == []
