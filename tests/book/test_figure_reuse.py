"""When may I reuse the buffer? In a browser, with the network cut: by pointer, by key, by address, as Python says."""

from dataclasses import replace

import pytest

from tmalab import observe
from tmalab.figures import ReuseFigure
from tmalab.figures.reuse_tables import WAITS

pytestmark = pytest.mark.browser

FLIPPED_LINE = 7  # of store 0, which the wait covers in the first state


def flipped(case):
    """The recordings, but for one line in two rounds: three stores, a commit after each, wait_group 1."""
    seen = observe(case)
    if case.name != "reuse/stores-3":
        return seen
    arrays = {name: array.copy() for name, array in seen.arrays.items()}
    at = seen["masks"].index(0b111), WAITS.index(("group", 1))
    arrays["line_runs"][(*at, FLIPPED_LINE)] = 2
    arrays["new_lines"][at][:2, 0] = 1
    return replace(seen, arrays=arrays)


@pytest.fixture(scope="module")
def figure():
    return ReuseFigure(observe)


@pytest.fixture(scope="module")
def page_file(figure, page_of):
    return page_of(
        "Reuse", figure, ReuseFigure(flipped, title="One line flipped"), ReuseFigure(None, title="Not measured")
    )


def cell(card, store, line):
    return card.locator(".tma-reuse-block").nth(store).locator(f"[data-at='{line}']")


def test_combinations_by_pointer_are_what_python_says(visit_alone, figure):
    card = visit_alone().card()
    card.locator("summary").click()
    states = [
        (1, 0b1, "full", 0), (2, 0b01, "full", 0), (3, 0b101, ".read", 1), (4, 0b1111, "full", 3),
        (4, 0b0110, ".read", 0), (4, 0b1111, "none", 3),
    ]  # fmt: skip
    for stores, commits, wait, n in states:
        for view in figure.spec["choices"]["view"]:
            figure.stores, figure.commits, figure.wait, figure.n, figure.view = stores, commits, wait, n, view
            state = f"stores:{stores},commits:{commits},wait:{wait},n:{n},view:{view}"
            card.page.evaluate("state => { location.hash = `#reuse=${state}` }", state)
            # Two views of one combination differ in this sentence alone; the page may be late.
            card.page.wait_for_function("([say, text]) => say.innerText === text", arg=[
                card.locator(".tma-say").element_handle(), figure.sentence(),
            ])  # fmt: skip
            assert figure._found.says() in card.locator(".tma-reuse-says").inner_text()
            assert card.locator(".tma-reuse-steps code").all_inner_texts() == figure._found.program()
            card.check_table(figure)
            assert card.locator(".tma-reuse-block:visible").count() == stores
            if view == "hardware":
                numbers = card.locator(".tma-reuse-block:visible .tma-cell b").all_inner_texts()
                assert [int(text or 0) for text in numbers] == figure._found.counts
                marks = [mark for lane in figure._found.lanes() for mark in lane.marks]
                labels = card.get_by_role("option").evaluate_all("all => all.map((one) => one.ariaLabel)")
                assert [label.endswith(mark.say) for label, mark in zip(labels, marks, strict=True)] == [True] * 6
    figure.stores, figure.commits, figure.wait, figure.n, figure.view = 3, 0b111, "full", 1, "hardware"


def test_every_control_by_key(visit_alone):
    page = visit_alone()
    card = page.card()
    page.locator("body").press("Tab")
    page.keyboard.press("ArrowRight")
    assert card.locator(".tma-reuse-steps code").count() == 4 + 3 + 2  # no commit follows store 3
    for _ in range(4):
        page.keyboard.press("Tab")
    page.keyboard.press("Space")
    assert card.locator(".tma-reuse-steps code").count() == 4 + 4 + 2
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowLeft")
    assert "wait_group.read 1" in card.locator(".tma-reuse-steps").inner_text()
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowLeft")
    assert "BarrierProgram says: completes." in card.inner_text()
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    assert card.chosen("view") == "model"
    page.keyboard.press("Tab")
    for key in ("Home", "ArrowDown"):
        page.keyboard.press(key)
    assert card.say().startswith("Store 0, line 8: wait_group.read 0 waits for its group, 0. It is safe.")
    for _ in range(4):
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('role')") == "option"
    page.keyboard.press("ArrowRight")
    assert card.say().startswith("The wait_group.read 0 was done after ")


def test_a_wait_that_is_not_there_has_no_n(visit_alone):
    card = visit_alone().card()
    card.choose(wait="none")
    assert card.locator("input[name=n]:enabled").count() == 0
    assert card.get_by_role("checkbox", name="commit_group after store 3").is_disabled()
    card.choose(wait=".read")
    assert card.locator("input[name=n]:enabled").count() == 4


def test_pointing_lights_the_line_and_its_row(visit_alone):
    card = visit_alone().card()
    card.locator("summary").click()
    cell(card, 2, 120).hover()
    assert card.locator(".tma-cell.tma-hot").evaluate_all("all => all.map((one) => one.dataset.at)") == ["120"]
    assert card.locator("tr.tma-hot td").nth(0).inner_text() == "2"
    assert card.say().startswith("Store 2, line 120: wait_group 1 leaves the newest group pending")
    card.locator(".tma-mark-hatch").hover()
    assert card.say().startswith("The wait_group 1 was done after")
    assert card.locator(".tma-mark.tma-hot").count() == 1


def test_one_line_of_a_covered_store_shows_and_no_other(visit_alone):
    page = visit_alone()
    whole, card = page.card(0), page.card(1)

    def labels(one):
        return one.locator(".tma-reuse-block:visible .tma-cell").evaluate_all("all => all.map((one) => one.ariaLabel)")

    card.check_one_differs(whole, labels)
    assert "1 of 256 lines that the wait covers were overwritten" in card.inner_text()
    cell(card, 0, FLIPPED_LINE).hover()
    assert card.say().endswith("overwritten in 2 of 40 rounds. The model says never.")
    nothing = page.card(2)
    assert "Model, not measured" in nothing.say()
    assert nothing.locator(".tma-lane-chart").is_hidden()


def test_the_address_keeps_the_state_and_restores_it(visit_alone):
    page = visit_alone("#reuse=stores:4,commits:10,wait:.read,n:2,view:difference,line:300")
    card = page.card()
    there = ReuseFigure(observe, stores=4, commits=10, wait=".read", n=2, view="difference", line=300)
    told = there.sentence()
    assert card.say() == told
    card.get_by_role("checkbox", name="commit_group after store 0").check()
    page.wait_for_url("**#reuse=stores:4,commits:11,wait:.read,n:2,view:difference,line:300")


def test_the_data_and_the_picture(visit_alone, figure):
    card = visit_alone().card()
    card.check_data(figure)
    card.check_picture(">commit_group<")


def test_without_javascript_there_is_the_still_and_the_table(visit_alone, figure):
    page = visit_alone(java_script_enabled=False)
    page.card().check_still(figure, wider_than=0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_is_accessible_and_fits(visit_alone, width, scheme):
    page = visit_alone("#reuse=stores:4,commits:6,wait:none&reuse-2=view:difference", width=width, scheme=scheme)
    page.check_fits()
    # One of the cards: axe takes seconds over a thousand cells.
    assert page.faults(within=".tma-host", number=int(scheme == "dark")) == []
