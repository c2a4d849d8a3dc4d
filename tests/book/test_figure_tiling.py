"""Tiling and bank conflicts in a browser, with the network cut: by pointer, by key, by address, as Python says it."""

from itertools import product

import pytest

from tmalab import observe
from tmalab.errors import RecordingError
from tmalab.figures import TilingFigure

pytestmark = pytest.mark.browser

FLIPPED_BYTE = 483  # in row 3, column 5, which stands at byte 480


def untimed(case):
    """The recorded bytes, and no recording of the reads or of what the driver refuses."""
    if case.probe != "transfer":
        raise RecordingError("not recorded yet", field="case", value=case.name)
    return observe(case)


@pytest.fixture(scope="module")
def figure():
    return TilingFigure(observe)


@pytest.fixture(scope="module")
def site(figure, page_of, flipped):
    wrong = flipped("tiling/yes/128B/float16", FLIPPED_BYTE)
    others = TilingFigure(wrong, title="One byte flipped"), TilingFigure(untimed, title="Not timed")
    return page_of("Tiling", figure, *others).parent


class Card:
    """One figure on a page, as a reader sees it."""

    def __init__(self, page, number=0):
        self.page, self.root = page, page.card(number)

    def choose(self, **state):
        for name, value in state.items():
            if name in ("column", "first_row"):
                label = {"column": "Column that is read", "first_row": "First of the eight rows"}[name]
                self.root.get_by_label(label).fill(str(value))
            else:
                self.root.choose(**{name: value})

    def grid(self, row, column):
        return self.root.locator(f".tma-tiling-source [data-at='{16 * row + column}']")

    def shared(self, row, column):
        """A cell by where it is drawn."""
        return self.root.locator(f".tma-tiling-shared [data-at='{16 * row + column}']")

    @property
    def sentence(self):
        return self.root.say()

    def told(self):
        return self.root.locator(".tma-tiling-told > code, .tma-tiling-told div p").all_inner_texts()

    def stacks(self):
        return self.page.evaluate(
            """root => [...root.querySelectorAll(".tma-tiling-stack")].map(
                (stack) => [...stack.children].map((read) => +read.dataset.chunk))""",
            self.root.element_handle(),
        )

    def hot(self):
        """What is lit: chunks of the grid, drawn cells of shared memory, reads of the chart, bank groups."""
        return self.page.evaluate(
            """root => {
                const all = (selector, say) => [...root.querySelectorAll(selector)].map(say);
                const at = (side) => all(`.tma-tiling-${side} .tma-cell.tma-hot`, (cell) => +cell.dataset.at);
                const reads = all(".tma-tiling-stack .tma-hot", (read) => +read.dataset.chunk);
                const groups = all(".tma-tiling-group.tma-hot > b", (group) => group.textContent);
                return [at("source"), at("shared"), reads, groups];
            }""",
            self.root.element_handle(),
        )


def test_every_layout_and_type_is_what_python_says(visit, figure):
    card = Card(visit())
    card.root.locator("summary").click()
    try:
        for tiling, swizzle, dtype in product(
            *(figure.spec["choices"][name] for name in ("tiling", "swizzle", "dtype"))
        ):
            figure.tiling, figure.swizzle, figure.dtype = tiling, swizzle, dtype
            card.choose(tiling=tiling, swizzle=swizzle, dtype=dtype)
            found = figure._found
            assert card.sentence == found.sentence()
            assert card.root.locator(".tma-tiling-told small").inner_text() == found.pace()
            assert card.root.locator(".tma-prov").inner_text() == figure.source()
            assert card.told() == [found.layout["formula"], found.results(), *found.costs()]
            assert card.stacks() == found.stacks
            card.root.check_table(figure)
            assert (
                card.root.locator(".tma-tiling-copy")
                .inner_text()
                .startswith((found.layout["refused"] or found.layout["maps"])[found.dtype]["copy"])
            )
            assert card.root.locator(".tma-wrong").count() == 0
            drawn = card.root.locator(".tma-tiling-shared .tma-cell b").all_inner_texts()
            places = [start + chunk for pair in found.layout["starts"] for start in pair for chunk in range(8)]
            assert drawn == [str(found.hardware[place] % 16) for place in places]
    finally:
        figure.tiling, figure.swizzle, figure.dtype = "yes", "128B", "float16"


def test_every_column_and_first_row_is_what_python_says(visit, figure):
    card = Card(visit("http", "index.html#tiling=tiling:no"))
    figure.tiling = "no"
    try:
        for column in figure.spec["choices"]["column"]:
            figure.column, figure.first_row = column, column % 9
            card.choose(column=column, first_row=column % 9)
            assert card.stacks() == figure._found.stacks
            assert card.told()[1] == figure._found.results()
            read = card.root.locator(".tma-tiling-shared .tma-tiling-read b").all_inner_texts()
            assert read == [str(column)] * 8
            waited, between = figure.cycles().values()
            assert card.root.locator(".tma-tiling-told > p").inner_text() == (
                f"H200: data after {waited:.1f} cycles, one read every {between:.1f}"
            )
    finally:
        figure.tiling, figure.column, figure.first_row = "yes", 5, 0


def test_a_cell_lights_its_partners_from_every_side(visit):
    card = Card(visit())
    here = [[16 * 3 + 5], [16 * 3 + 6], [16 * 3 + 5], ["S6"]]
    assert card.hot() == here
    card.grid(12, 13).hover()
    assert card.hot() == [[16 * 12 + 13], [16 * 12 + 8 + (5 ^ 4)], [], ["S1"]]
    card.shared(3, 6).hover()
    assert card.hot() == here
    assert card.sentence.startswith("Row 3, column 5")
    card.root.locator(".tma-tiling-stack [data-chunk='85']").hover()
    assert card.hot() == [[85], [16 * 5 + (5 ^ 5)], [85], ["S0"]]
    assert "Row 5, column 5" in card.sentence
    card.page.mouse.move(0, 0)
    assert card.hot() == here
    card.shared(0, 8).click()
    card.page.mouse.move(0, 0)
    assert card.sentence.startswith("Row 0, column 8 → local_col 0 XOR (0 % 8) = 0 → S0, banks 0–3, shared byte 2048.")


def test_the_chunk_that_is_singled_out_goes_with_the_reads_if_it_is_one(visit):
    card = Card(visit())
    card.choose(column=9, first_row=6)
    assert card.sentence.startswith("Row 9, column 9 → local_col 1 XOR (9 % 8) = 0 → S0")
    assert card.hot()[2] == [16 * 9 + 9]
    card.grid(0, 0).click()
    card.choose(column=3)
    card.page.mouse.move(0, 0)
    assert card.sentence.startswith("Row 0, column 0")
    asked = Card(visit("http", "index.html#tiling=column:9,cell:2.5"))  # a read of the first state, not of this one
    assert asked.sentence.startswith("Row 2, column 5")


def test_every_control_by_key_and_the_arrows_walk_the_grids(visit):
    page = visit()
    card = Card(page)

    def value(name):
        return card.root.locator(f"input[name={name}]:checked").get_attribute("value")

    page.locator("body").press("Tab")
    page.keyboard.press("ArrowRight")
    assert value("tiling") == "no"
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    assert value("swizzle") == "none"
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    assert card.root.get_by_label("Column that is read").get_attribute("aria-valuetext") == "column 6"
    page.keyboard.press("Tab")
    page.keyboard.press("End")
    assert card.root.get_by_label("First of the eight rows").get_attribute("aria-valuetext") == "rows 8 to 15"
    assert card.told()[1:] == [
        "6 6 6 6 6 6 6 6: 1 distinct", "predicted: 8 wavefronts (8-way conflict)", "measured: 8 wavefronts",
    ]  # fmt: skip
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    assert value("dtype") == "float32"
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    assert value("view") == "model"
    assert card.told()[2:] == ["predicted: 8 wavefronts (8-way conflict)"]
    page.keyboard.press("Tab")
    for key in ("ArrowDown", "End"):
        page.keyboard.press(key)
    assert card.sentence.startswith("Row 12, column 15 → local_col 7, no XOR → S7")
    page.keyboard.press("Tab")
    page.keyboard.press("Home")
    assert card.sentence.startswith("Row 12, column 0 → local_col 0, no XOR → S0, banks 0–3, shared byte 3072.")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('[role=grid]')") is None


def test_one_flipped_byte_changes_its_chunk_and_no_other(visit):
    page = visit()
    whole, card = Card(page), Card(page, 1)

    def labels(one):
        return one.locator(".tma-tiling .tma-row .tma-cell").all_inner_texts()

    card.root.check_one_differs(whole.root, labels, {".tma-wrong": 2})  # in the grid and in shared memory
    card.choose(view="difference")
    assert card.shared(3, 6).inner_text().strip() == "?≠5"
    assert "1 of 256 chunks differs" in card.root.inner_text()
    card.shared(3, 6).hover()
    assert card.sentence.endswith("; the model says row 3, column 5.")
    assert "differs" in card.shared(3, 6).get_attribute("aria-label")
    assert card.told()[1] == "5 4 7 – 1 0 3 2: 7 distinct"
    card.choose(dtype="uint8")
    assert card.root.locator(".tma-wrong").count() == 0


def test_what_is_not_measured_says_so(visit):
    card = Card(visit("http", "index.html#tiling-3=tiling:no"), 2)
    assert "refused, says the model" in card.root.inner_text()
    assert card.told()[-1] == "not counted on a GPU"
    assert card.root.locator(".tma-prov").inner_text().endswith(" Cycles: not measured.")
    assert card.root.locator(".tma-tiling-told > p").inner_text() == ""


def test_the_address_keeps_the_state_and_restores_it(visit, figure):
    page = visit("http", "index.html#tiling=tiling:no,column:13,first_row:4,dtype:uint8,view:difference,cell:9.13")
    card = Card(page)
    told = TilingFigure(observe, tiling="no", column=13, first_row=4, dtype="uint8", view="difference", cell=(9, 13))
    assert card.sentence == told._found.sentence()
    card.choose(tiling="yes", column=2)
    page.wait_for_url("**#tiling=column:2,first_row:4,dtype:uint8,view:difference,cell:9.2")
    link = card.root.get_by_role("link", name="link to this view")
    assert link.get_attribute("href") == "#tiling=column:2,first_row:4,dtype:uint8,view:difference,cell:9.2"


def test_the_data_and_the_picture(visit, figure):
    card = Card(visit())
    card.root.check_data(figure)
    assert {"S0", "row 7", "predicted: 1 wavefront (no conflict)"} <= set(card.root.drawn())


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_is_accessible_and_fits(visit, width, scheme):
    fragment = "#tiling=tiling:no,view:difference&tiling-2=view:difference&tiling-3=swizzle:none"
    page = visit("http", f"index.html{fragment}", width=width, color_scheme=scheme)
    page.check_fits()
    if width == 1280:
        page.card().check_one_row()
    assert page.faults() == []


def test_without_javascript_there_is_a_still_a_sentence_and_a_table(visit, figure):
    page = visit("file", java_script_enabled=False)
    host = page.locator(".tma-host").first
    page.card().check_still(figure, wider_than=900)
    assert host.locator(".tma-foot").inner_text() == figure.source()
    assert host.locator("tr").count() == 1 + 8


def test_in_print_stand_the_picture_the_sentence_and_the_provenance(visit):
    page = visit()
    page.emulate_media(media="print")
    card = Card(page)
    assert not card.root.locator(".tma-bar").is_visible()
    assert card.root.locator(".tma-tiling-chart").is_visible()
    assert card.root.locator(".tma-say").is_visible()
    assert card.root.locator(".tma-prov").is_visible()
