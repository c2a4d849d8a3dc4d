"""The figure "wgmma" in a browser, with the network cut: by pointer, by key, by address, and as Python says it."""

from dataclasses import replace

import pytest

from tmalab import observe
from tmalab.figures import WgmmaFigure

pytestmark = pytest.mark.browser


def one_wrong(case):
    """The recordings, but for one element of the tile 128B through its own descriptor."""
    seen = observe(case, live=False)
    if case.name != "wgmma/A/128B":
        return seen
    read = seen["read"].copy()
    read[0, 3, 9] = 77
    return replace(seen, arrays={**seen.arrays, "read": read})


@pytest.fixture(scope="module")
def figure():
    return WgmmaFigure(observe)


@pytest.fixture(scope="module")
def site(figure, page_of):
    return page_of("wgmma", figure, WgmmaFigure(one_wrong, descriptor="128B", title="One element wrong")).parent


def cell(card, row, column):
    return card.locator(f".tma-wgmma-band [data-at='{8 * row + column}']")


@pytest.mark.parametrize("over", ["http", "file"])
def test_every_state_by_pointer_is_what_python_says(visit, figure, over):
    card = visit(over).card()
    card.locator("summary").click()
    for tile in figure.spec["choices"]["tile"]:
        card.choose(tile=tile)
        for descriptor in figure.spec["choices"]["descriptor"]:
            card.choose(descriptor=descriptor)
            figure.tile, figure.descriptor = tile, descriptor
            card.check_table(figure)
            assert card.say() == figure.sentence()
            assert card.locator(".tma-wgmma-about").inner_text() == figure._found.about()
            wrong = sum(read != chunk for chunk, read in enumerate(figure._found.read))
            assert card.locator(".tma-wgmma-all .tma-wgmma-hollow").count() == wrong
            assert card.locator(".tma-cell.tma-wgmma-other").count() == [row[4] for row in figure.table()[1]].count(
                "wrong"
            )
            assert figure._found.product() in " ".join(card.locator(".tma-engine").inner_text().split())
    figure.tile, figure.descriptor = "128B", "none"


def test_every_control_by_key(visit, figure):
    page = visit()
    card = page.card()
    page.locator("body").press("Tab")
    page.keyboard.press("ArrowLeft")
    assert card.chosen("tile") == "rows"
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")  # from none around to 128B
    assert card.chosen("descriptor") == "128B"
    page.keyboard.press("Tab")
    page.keyboard.press("End")
    assert card.locator("output").inner_text() == "56–63"
    assert card.locator("input[type=range]").get_attribute("aria-valuetext") == "rows 56 to 63"
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    assert card.chosen("view") == "model"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('role')") == "gridcell"
    for key in ("Home", "ArrowUp", "ArrowUp", "ArrowUp", "ArrowUp", "ArrowLeft"):
        page.keyboard.press(key)
    assert card.say() == "Row 56, columns 0–7: read from shared byte 7168, where it stands."
    page.keyboard.press("End")
    assert card.say().startswith("Row 56, columns 56–63")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('[role=grid]')") is None


def test_what_is_hot_is_hot_on_every_side(visit):
    card = visit("http", "index.html#wgmma=tile:rows,descriptor:128B").card()

    def at(selector):
        found = card.locator(selector)
        return found.evaluate_all("cells => cells.map((cell) => +cell.dataset.at)")

    def lit():
        shared = ".tma-wgmma-shared .tma-wgmma"
        large, small = at(".tma-wgmma-band .tma-hot"), at(".tma-wgmma-all .tma-wgmma-hot")
        return [large, small, at(f"{shared}-hot"), at(f"{shared}-stands")]

    cell(card, 3, 1).hover()
    assert lit() == [[25], [25], [26], [25]]
    cell(card, 0, 5).hover()
    assert lit() == [[5], [5], [5], []]
    card.locator(".tma-wgmma-shared [data-at='105']").hover(force=True)  # line 13 is row 13, not drawn large
    assert lit() == [[], [13 * 8 + (1 ^ 5)], [105], [13 * 8 + (1 ^ 5)]]
    assert card.say().startswith("Asked for row 13, columns 32–39, which stands at shared byte 1728, wgmma read shared")
    card.locator(".tma-wgmma-shared [data-at='105']").click(force=True)
    card.page.mouse.move(0, 0)
    assert card.locator("output").inner_text() == "8–15"
    assert lit()[0] == [(13 - 8) * 8 + 4]
    card.locator(".tma-wgmma-all [data-at='511']").click(force=True)
    assert card.locator("output").inner_text() == "56–63"
    assert "row 63, columns 56–63" in card.say()


def test_a_wrong_element_changes_its_chunk_and_no_other(visit):
    page = visit("http", "index.html#wgmma=descriptor:128B")
    whole, card = page.card(0), page.card(1)

    def labels(one):
        return one.locator(".tma-wgmma-band .tma-cell").all_inner_texts()

    card.check_one_differs(whole, labels, {".tma-wrong": 1, ".tma-wgmma-differs": 1})
    assert "1 of 512 chunks differs" in card.inner_text()
    cell(card, 3, 1).hover()
    assert card.say().endswith("Measured, where the model says row 3, columns 8–15.")
    assert "differs" in cell(card, 3, 1).get_attribute("aria-label")


def test_the_address_keeps_the_state_and_restores_it(visit, figure):
    state = "tile:64B,descriptor:32B,rows:16,view:difference,cell:2.3"
    page = visit("http", f"index.html#wgmma={state}")
    card = page.card()
    figure.tile, figure.descriptor, figure.rows, figure.view, figure.cell = "64B", "32B", 16, "difference", (2, 3)
    told = figure.sentence()
    figure.tile, figure.descriptor, figure.rows, figure.view, figure.cell = "128B", "none", 0, "hardware", (3, 1)
    assert card.say() == told
    cell(card, 7, 7).click()
    page.wait_for_url("**#wgmma=tile:64B,descriptor:32B,rows:16,view:difference,cell:7.7")
    assert card.link() == "#wgmma=tile:64B,descriptor:32B,rows:16,view:difference,cell:7.7"


def test_the_data_and_the_picture(visit, figure):
    card = visit().card()
    card.check_data(figure)
    picture = card.check_picture(">8,24<")
    assert picture.count('stroke-dasharray="2 2"') == 1  # dotted: where what was asked for stands


def test_on_paper_it_fits_one_page(visit):
    page = visit(width=690)
    page.emulate_media(media="print")
    assert page.card().bounding_box()["height"] < 900


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_is_accessible_and_fits(visit, width, scheme):
    state = "#wgmma=tile:rows,descriptor:128B&wgmma-2=view:difference"
    page = visit("http", "index.html" + state, width=width, color_scheme=scheme)
    page.locator("summary").first.click()
    page.check_fits()
    assert page.faults() == []


def test_without_javascript_the_still_says_the_same(visit, figure):
    card = visit("file", java_script_enabled=False).card()
    card.check_still(figure, wider_than=0)
    assert "Recorded on NVIDIA H200" in card.inner_text()


def test_the_key_has_the_looks_that_the_view_draws(visit):
    card = visit().card(1)
    key = card.locator(".tma-wgmma-band .tma-key")
    card.choose(descriptor="none")
    assert "the ones asked for" in key.inner_text()
    assert card.locator(".tma-cell.tma-wgmma-other").count()
    card.choose(view="difference")
    assert "as the model says" in key.inner_text()
    assert "asked for" not in key.inner_text()
    assert card.locator(".tma-cell.tma-wgmma-other").count() == 0
    names = ["border-top-style", "background-color", "outline-style", "background-image"]
    look = "(node, names) => names.map((name) => getComputedStyle(node).getPropertyValue(name))"
    equal = card.locator(".tma-cell.tma-equal").last.evaluate(look, names)
    assert key.locator(".tma-wgmma-swatch").first.evaluate(look, names) == equal
    assert key.locator(".tma-wgmma-swatch").last.evaluate(look, names[2:]) == ["dashed", "none"]
