"""Many atoms in one copy in a browser, with the network cut: by pointer, by key, by address, as Python says it."""

from itertools import product

import pytest

from tmalab import observe
from tmalab.experiment.atoms_cases import atoms_case
from tmalab.figures import AtomsFigure

pytestmark = pytest.mark.browser

FLIPPED_BYTE = 3472 + 3  # of row 11, column 80, where 128B puts it


@pytest.fixture(scope="module")
def figure():
    return AtomsFigure(observe)


@pytest.fixture(scope="module")
def site(figure, page_of, flipped):
    wrong = flipped(atoms_case("128B", 128, 0).name, FLIPPED_BYTE)
    folder = page_of("Atoms", figure, AtomsFigure(wrong, title="One byte flipped")).parent
    figure.save(folder / "alone.html")  # one figure: what looks at every cell has fewer to look at
    return folder


@pytest.fixture
def open_figure(visit):
    """open_figure(fragment, **context options) → the page, from a file, with no network."""

    def go(fragment="", **options):
        return visit("file", "index.html" + fragment, offline=True, **options)

    return go


def cell(card, side, at):
    return card.get_by_role("grid", name=f"{side} memory").locator(f"[data-at='{at}']")


def lit(card, side):
    cells = card.get_by_role("grid", name=f"{side} memory").locator(".tma-cell.tma-hot")
    return cells.evaluate_all("cells => cells.map((cell) => +cell.dataset.at)")


def test_every_view_is_what_python_says(open_figure, figure):
    card = open_figure().card()
    card.locator(".tma-text summary").click()
    maps = card.locator(".tma-atoms-maps")
    for swizzle, group, copies in product(*(figure.spec["choices"][name] for name in ("swizzle", "group", "copies"))):
        figure.swizzle, figure.group, figure.copies = swizzle, group, copies
        card.choose(swizzle=swizzle, group=group, copies=copies)
        card.check_table(figure)
        assert card.say() == figure.sentence()
        shown = maps.evaluate("table => [...table.tBodies[0].rows].map(row => [...row.cells].map(c => c.textContent))")
        assert [[one.removeprefix("✗ ") for one in row] for row in shown] == [
            [name, *row] for name, row in zip(figure.spec["fields"], figure.data()["maps"].values(), strict=True)
        ]
        refused = "Refused" in figure.sentence()
        assert card.locator(".tma-cell.tma-wrong").count() == 0
        assert card.locator(".tma-atoms-refused").count() == refused
        frames = card.locator(".tma-atoms-shared .tma-atoms-frame").count()
        assert frames == (0 if refused else figure._found.one["atoms"] or figure._found.one["groups"])
    figure.swizzle, figure.group, figure.copies = "128B", 128, "3-D"


def test_every_control_by_key_and_the_arrows_stay_in_the_slice(open_figure):
    page = open_figure()
    card = page.card()
    page.locator("body").press("Tab")
    for name, value in (("swizzle", "64B"), ("group", "64"), ("col", "128"), ("copies", "2-D"), ("view", "model")):
        assert page.evaluate("document.activeElement.name") == name
        page.keyboard.press("ArrowLeft" if name in ("swizzle", "group") else "ArrowRight")
        assert card.locator(f"input[name={name}]:checked").get_attribute("value") == value
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('[role=grid]').ariaLabel").endswith("global memory")
    for key in ("Home", "ArrowLeft", "ArrowDown"):
        page.keyboard.press(key)
    assert card.say().startswith("Row 12, column 128 → copy 1 of 4, g0, atom 1, row 4")
    page.keyboard.press("Tab")
    page.keyboard.press("End")
    assert page.evaluate("document.activeElement.closest('[role=grid]').ariaLabel").endswith("shared memory")
    assert page.evaluate("+document.activeElement.dataset.at") % 8 == 7
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('[role=grid]')") is None


def test_a_chunk_lights_its_partner_and_its_atom_from_either_side(open_figure):
    card = open_figure().card()
    cell(card, "shared", 3472 // 16 + 1).hover()
    assert lit(card, "shared") == [218]
    assert lit(card, "global") == [11 * 32 + 9]
    assert card.say().startswith("Row 11, column 72 = {8, 11, 1} → g1, atom 3, row 3 → place 1 XOR 3 = 2")
    hot = "frames => frames.map((frame, i) => [i, frame.classList.contains('tma-hot')]).filter(([, on]) => on)"
    for side in ("source", "shared"):
        assert card.locator(f".tma-atoms-{side} .tma-atoms-frame").evaluate_all(hot) == [[3, True]]
    cell(card, "global", 0).hover()
    assert lit(card, "shared") == [0]
    card.page.mouse.move(0, 0)
    assert card.say().startswith("Row 11, column 80")


def test_padding_is_drawn_and_told(open_figure):
    card = open_figure("#atoms=group:32").card()
    assert card.get_by_role("grid", name="shared memory").locator(".tma-cell").count() == 16384 // 16
    assert card.locator(".tma-atoms-shared .tma-cell.tma-out").count() == (16384 - 4096) // 16
    cell(card, "shared", 2).hover()
    assert card.say().startswith("Shared byte 32, g0, atom 0, row 0: padding. No copy wrote it; it still holds cd")
    assert lit(card, "global") == []


def test_one_flipped_byte_changes_its_chunk_and_no_other(open_figure):
    page = open_figure()
    whole, card = page.card(0), page.card(1)

    def labels(one):
        return one.locator(".tma-atoms-shared .tma-cell").all_inner_texts()

    card.check_one_differs(whole, labels, {".tma-cell.tma-wrong": 2})
    assert "1 of 256 chunks differs" in card.inner_text()
    assert "1 of 4224 bytes differs" in card.inner_text()
    assert card.say().endswith(" where the model says row 11, column 80.")
    assert "differs" in cell(card, "shared", FLIPPED_BYTE // 16).get_attribute("aria-label")
    card.choose(copies="2-D")
    assert card.locator(".tma-cell.tma-wrong").count() == 0


def test_the_address_keeps_the_state_and_restores_it(open_figure, figure):
    page = open_figure("#atoms=swizzle:64B,group:32,col:128,copies:2-D,view:difference,cell:2.3")
    card = page.card()
    figure.swizzle, figure.group, figure.col, figure.copies, figure.cell = "64B", 32, 128, "2-D", (2, 3)
    told = figure.sentence()
    figure.swizzle, figure.group, figure.col, figure.copies, figure.cell = "128B", 128, 0, "3-D", (11, 10)
    assert card.say() == told
    card.choose(swizzle="none")
    page.wait_for_url("**#atoms=swizzle:none,group:32,col:128,copies:2-D,view:difference,cell:2.3")
    assert card.link() == page.url.partition("index.html")[2]


def test_the_data_and_the_picture(open_figure, figure):
    card = open_figure().card()
    for group in (128, 256):
        figure.group = group
        card.choose(group=group)
        card.check_data(figure)
    figure.group = 128
    card.check_picture()


@pytest.mark.parametrize("width", [1280, 390])
def test_no_view_asks_for_scrolling_sideways(open_figure, figure, width):
    page = open_figure(width=width)
    card = page.card()
    for swizzle, group in product(figure.spec["choices"]["swizzle"], figure.spec["choices"]["group"]):
        card.choose(swizzle=swizzle, group=group)
        page.check_fits()


@pytest.mark.parametrize(
    ("fragment", "width", "scheme"),
    [("", 1280, "light"), ("", 390, "dark"), ("#atoms=group:64", 390, "light"), ("#atoms=group:256", 1280, "dark")],
)
def test_it_is_accessible(visit, fragment, width, scheme):
    page = visit("file", "alone.html" + fragment, width=width, color_scheme=scheme, offline=True)
    assert page.faults() == []


def test_without_javascript_the_still_is_there(open_figure, figure):
    open_figure(java_script_enabled=False).card().check_still(figure, wider_than=0)


def test_the_keys_speak_of_colour_only_where_there_is_some(open_figure):
    card = open_figure().card()
    source = card.locator(".tma-atoms-source")
    for view in ("hardware", "model", "difference"):
        card.choose(view=view)
        coloured = source.locator(".tma-cell[role=gridcell]:not(.tma-equal)").count()
        assert coloured == (0 if view == "difference" else 256)
        told = source.inner_text()
        assert ("the slice in colour" in told) == ("Its number and its colour" in told) == bool(coloured)
        assert ("the slice framed" in told) == ("Dashed: differs" in told) == (view == "difference")
