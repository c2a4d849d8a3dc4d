"""Many atoms in one copy in a browser, with the network cut: by pointer, by key, by address, as Python says it."""

import json
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from tmalab import observe
from tmalab.experiment.atoms_cases import atoms_case
from tmalab.figures import AtomsFigure
from tmalab.figures.bundle import standalone_page

pytestmark = pytest.mark.browser

AXE = Path(__file__).parent.parent / "node_modules" / "axe-core" / "axe.min.js"
FLIPPED_BYTE = 3472 + 3  # of row 11, column 80, where 128B puts it


def flipped(case):
    """The recordings, but for one bit of the figure's first state."""
    seen = observe(case)
    if case != atoms_case("128B", 128, 0):
        return seen
    smem = seen["smem"].copy()
    smem[FLIPPED_BYTE] ^= 0x80
    return replace(seen, arrays={**seen.arrays, "smem": smem})


@pytest.fixture(scope="module")
def figure():
    return AtomsFigure(observe)


@pytest.fixture(scope="module")
def site(figure, tmp_path_factory):
    folder = tmp_path_factory.mktemp("atoms")
    both = [figure, AtomsFigure(flipped, title="One byte flipped")]
    (folder / "index.html").write_text(standalone_page("Atoms", "\n".join(one.html() for one in both)), "utf-8")
    figure.save(folder / "alone.html")  # one figure: what looks at every cell has fewer to look at
    return folder


@pytest.fixture
def open_figure(visit):
    """open_figure(fragment, **context options) → the page, from a file, with no network."""

    def go(fragment="", **options):
        return visit("file", "index.html" + fragment, offline=True, **options)

    return go


def card_of(page, number=0):
    return page.locator(".tma").nth(number)


def cell(card, side, at):
    return card.get_by_role("grid", name=f"{side} memory").locator(f"[data-at='{at}']")


def say(card):
    return card.locator(".tma-say").inner_text()


def choose(card, **choices):
    for name, value in choices.items():
        card.locator(f"input[name={name}][value='{value}']").check()


def rows_of(card):
    table = card.locator(".tma-text table")
    return table.evaluate("table => [...table.rows].map(row => [...row.cells].map(c => c.textContent))")


def lit(card, side):
    cells = card.get_by_role("grid", name=f"{side} memory").locator(".tma-cell.tma-hot")
    return cells.evaluate_all("cells => cells.map((cell) => +cell.dataset.at)")


def test_every_view_is_what_python_says(open_figure, figure):
    card = card_of(open_figure())
    card.locator(".tma-text summary").click()
    maps = card.locator(".tma-atoms-maps")
    for swizzle, group, copies in product(*(figure.spec["choices"][name] for name in ("swizzle", "group", "copies"))):
        figure.swizzle, figure.group, figure.copies = swizzle, group, copies
        choose(card, swizzle=swizzle, group=group, copies=copies)
        assert rows_of(card) == [figure.table()[0], *figure.table()[1]]
        assert say(card) == figure.sentence()
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
    card = card_of(page)
    page.locator("body").press("Tab")
    for name, value in (("swizzle", "64B"), ("group", "64"), ("col", "128"), ("copies", "2-D"), ("view", "model")):
        assert page.evaluate("document.activeElement.name") == name
        page.keyboard.press("ArrowLeft" if name in ("swizzle", "group") else "ArrowRight")
        assert card.locator(f"input[name={name}]:checked").get_attribute("value") == value
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('[role=grid]').ariaLabel").endswith("global memory")
    for key in ("Home", "ArrowLeft", "ArrowDown"):
        page.keyboard.press(key)
    assert say(card).startswith("Row 12, column 128 → copy 1 of 4, g0, atom 1, row 4")
    page.keyboard.press("Tab")
    page.keyboard.press("End")
    assert page.evaluate("document.activeElement.closest('[role=grid]').ariaLabel").endswith("shared memory")
    assert page.evaluate("+document.activeElement.dataset.at") % 8 == 7
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('[role=grid]')") is None


def test_a_chunk_lights_its_partner_and_its_atom_from_either_side(open_figure):
    card = card_of(open_figure())
    cell(card, "shared", 3472 // 16 + 1).hover()
    assert lit(card, "shared") == [218]
    assert lit(card, "global") == [11 * 32 + 9]
    assert say(card).startswith("Row 11, column 72 = {8, 11, 1} → g1, atom 3, row 3 → place 1 XOR 3 = 2")
    hot = "frames => frames.map((frame, i) => [i, frame.classList.contains('tma-hot')]).filter(([, on]) => on)"
    for side in ("source", "shared"):
        assert card.locator(f".tma-atoms-{side} .tma-atoms-frame").evaluate_all(hot) == [[3, True]]
    cell(card, "global", 0).hover()
    assert lit(card, "shared") == [0]
    card.page.mouse.move(0, 0)
    assert say(card).startswith("Row 11, column 80")


def test_padding_is_drawn_and_told(open_figure):
    card = card_of(open_figure("#atoms=group:32"))
    assert card.get_by_role("grid", name="shared memory").locator(".tma-cell").count() == 16384 // 16
    assert card.locator(".tma-atoms-shared .tma-cell.tma-out").count() == (16384 - 4096) // 16
    cell(card, "shared", 2).hover()
    assert say(card).startswith("Shared byte 32, g0, atom 0, row 0: padding. No copy wrote it; it still holds cd")
    assert lit(card, "global") == []


def test_one_flipped_byte_changes_its_chunk_and_no_other(open_figure):
    page = open_figure()
    whole, card = card_of(page, 0), card_of(page, 1)

    def labels(one):
        return one.locator(".tma-atoms-shared .tma-cell").all_inner_texts()

    for view, differing in (("hardware", 1), ("difference", 1), ("model", 0)):
        for one in (whole, card):
            choose(one, view=view)
        assert sum(one != other for one, other in zip(labels(whole), labels(card), strict=True)) == differing
        assert card.locator(".tma-cell.tma-wrong").count() == 2 * differing
        assert whole.locator(".tma-cell.tma-wrong").count() == 0
    choose(card, view="hardware")
    assert "1 of 256 chunks differs" in card.inner_text()
    assert "1 of 4224 bytes differs" in card.inner_text()
    assert say(card).endswith(" where the model says row 11, column 80.")
    assert "differs" in cell(card, "shared", FLIPPED_BYTE // 16).get_attribute("aria-label")
    choose(card, copies="2-D")
    assert card.locator(".tma-cell.tma-wrong").count() == 0


def test_the_address_keeps_the_state_and_restores_it(open_figure, figure):
    page = open_figure("#atoms=swizzle:64B,group:32,col:128,copies:2-D,view:difference,cell:2.3")
    card = card_of(page)
    figure.swizzle, figure.group, figure.col, figure.copies, figure.cell = "64B", 32, 128, "2-D", (2, 3)
    told = figure.sentence()
    figure.swizzle, figure.group, figure.col, figure.copies, figure.cell = "128B", 128, 0, "3-D", (11, 10)
    assert say(card) == told
    choose(card, swizzle="none")
    page.wait_for_url("**#atoms=swizzle:none,group:32,col:128,copies:2-D,view:difference,cell:2.3")
    link = card.get_by_role("link", name="link to this view")
    assert link.get_attribute("href") == page.url.partition("index.html")[2]


def test_the_data_and_the_picture(open_figure, figure):
    card = card_of(open_figure())
    for group in (128, 256):
        figure.group = group
        choose(card, group=group)
        with card.page.expect_download() as download:
            card.get_by_role("button", name="data (JSON)").click()
        assert json.loads(Path(download.value.path()).read_text("utf-8")) == json.loads(json.dumps(figure.data()))
    figure.group = 128
    with card.page.expect_download() as download:
        card.get_by_role("button", name="picture (SVG)").click()
    assert Path(download.value.path()).read_text("utf-8").startswith("<svg ")


@pytest.mark.parametrize("width", [1280, 390])
def test_no_view_asks_for_scrolling_sideways(open_figure, figure, width):
    page = open_figure(width=width)
    card = card_of(page)
    for swizzle, group in product(figure.spec["choices"]["swizzle"], figure.spec["choices"]["group"]):
        choose(card, swizzle=swizzle, group=group)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize(
    ("fragment", "width", "scheme"),
    [("", 1280, "light"), ("", 390, "dark"), ("#atoms=group:64", 390, "light"), ("#atoms=group:256", 1280, "dark")],
)
def test_it_is_accessible(visit, fragment, width, scheme):
    page = visit("file", "alone.html" + fragment, width=width, color_scheme=scheme, offline=True)
    page.add_script_tag(path=str(AXE))
    found = page.evaluate("axe.run()")["violations"]
    assert [(fault["id"], [node["html"][:200] for node in fault["nodes"]]) for fault in found] == []


def test_without_javascript_the_still_is_there(open_figure, figure):
    page = open_figure(java_script_enabled=False)
    still = page.locator("img.tma-still").first
    assert still.evaluate("image => image.complete && image.naturalWidth > 0")
    assert figure.sentence() in page.locator("body").inner_text()


def test_the_keys_speak_of_colour_only_where_there_is_some(open_figure):
    card = card_of(open_figure())
    source = card.locator(".tma-atoms-source")
    for view in ("hardware", "model", "difference"):
        choose(card, view=view)
        coloured = source.locator(".tma-cell[role=gridcell]:not(.tma-equal)").count()
        assert coloured == (0 if view == "difference" else 256)
        told = source.inner_text()
        assert ("the slice in colour" in told) == ("Its number and its colour" in told) == bool(coloured)
        assert ("the slice framed" in told) == ("Dashed: differs" in told) == (view == "difference")
