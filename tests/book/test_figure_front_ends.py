"""One tile, many front ends, in a browser, with the network cut: by pointer, key and address, and as Python says."""

import pytest

from tmalab import observe
from tmalab.figures import FrontEndsFigure

pytestmark = pytest.mark.browser


@pytest.fixture
def figure():
    return FrontEndsFigure(observe)


@pytest.fixture(scope="module")
def page_file(page_of):
    return page_of(
        "One tile, many front ends", FrontEndsFigure(observe), FrontEndsFigure(None, title="Not measured", page=None)
    )


def cell(card, line, chunk):
    return card.get_by_role("grid").locator(f"[data-at='{8 * line + chunk}']")


@pytest.mark.parametrize("view", ["hardware", "model", "difference"])
@pytest.mark.parametrize("way", ["raw PTX", "CuTe DSL", "Triton device", "Pallas", "numba-cuda argument"])
def test_every_cell_field_and_line_is_what_python_says(visit_alone, figure, view, way):
    figure.view, figure.way, figure.cell = view, way, (9, 4)
    card = visit_alone(f"#front_ends=view:{view},way:{way.replace(' ', '%20')},cell:9.4").card()
    found = figure._found
    assert card.get_by_role("grid").is_visible() is not found.empty
    if not found.empty:
        cells = [(one.inner_text()) for one in card.locator(".tma-front-shared .tma-cell").all()[::37]]
        assert [text.split() for text in cells] == [list(found.labels(at)) for at in range(0, 256, 37)]
    assert card.say() == figure.sentence()
    rows = card.locator(".tma-fields tbody tr").evaluate_all(
        "rows => rows.map(r => [...r.cells].map(c => c.textContent))"
    )
    assert [[text.lstrip("≠→ ") for text in row] for row in rows] == found.way["fields"]
    assert card.locator(".tma-wrong-field").count() == found.marks().count("wrong")
    assert card.locator(".tma-ptx li").all_inner_texts() == (found.one["ptx"] if found.one else [])
    card.locator("summary").click()
    card.check_table(figure)


def test_a_press_chooses_a_chunk_and_the_pointer_only_names_it(visit_alone, figure):
    card = visit_alone().card()
    cell(card, 20, 6).click()
    figure.cell = (20, 6)
    card.page.mouse.move(0, 0)
    assert card.say() == figure.sentence()
    cell(card, 2, 0).hover()
    assert card.say().startswith("Shared byte 256: row 98, columns 144 to 151 of the tensor.")
    assert "tma-hot" in cell(card, 2, 0).get_attribute("class")


def test_the_keys_walk_the_tile_and_the_front_ends(visit_alone):
    page = visit_alone()
    card = page.card()
    cell(card, 1, 7).focus()
    page.keyboard.press("ArrowDown")
    assert card.say().startswith("Shared byte 368")
    page.keyboard.press("Home")
    assert card.say().startswith("Shared byte 256")
    card.locator("input[name=way]").first.focus()
    page.keyboard.press("ArrowRight")
    assert card.locator(".tma-head b").first.inner_text() == "CuTe DSL: shared memory"
    assert card.locator(".tma-wrong-field").count() == 2


def test_the_address_and_the_data(visit_alone, figure):
    page = visit_alone("#front_ends=way:Triton%20host,cell:3.3")
    card = page.card()
    figure.way, figure.cell = "Triton host", (3, 3)
    card.check_data(figure)
    card.check_picture()
    card.choose(view="difference")
    page.wait_for_url("**#front_ends=view:difference,way:Triton%20host,cell:3.3")


def test_without_a_recording_it_says_so(visit_alone):
    card = visit_alone().card(1)
    assert card.say().endswith("Not measured.")
    assert "not measured" in card.locator(".tma-prov").inner_text()
    assert not card.locator(".tma-ptx").is_visible()


@pytest.mark.parametrize("way", ["CuTe%20DSL", "numba-cuda%20argument"])
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_it_is_accessible_and_fits(visit_alone, way, width, scheme):
    page = visit_alone(f"#front_ends=way:{way}", width=width, scheme=scheme)
    page.check_fits()
    assert page.faults(within=".tma-host") == []
