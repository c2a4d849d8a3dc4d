"""Two loads, one barrier in a browser, with the network cut: walked through, played, by pointer, by key, by address."""

from dataclasses import replace

import pytest

from tmalab import observe
from tmalab.figures import LoadsFigure

pytestmark = pytest.mark.browser


def swapped(case):
    """The recordings, but for the warm run that is drawn: there B is whole before A."""
    seen = observe(case)
    if case.name != "timeline/two-loads/warm/one-barrier":
        return seen
    lines = seen["lines"].copy()
    lines[seen["drawn"]] = [*lines[seen["drawn"]][16:], *lines[seen["drawn"]][:16]]
    return replace(seen, arrays={**seen.arrays, "lines": lines})


@pytest.fixture(scope="module")
def figure():
    return LoadsFigure(observe)


@pytest.fixture(scope="module")
def page_file(figure, page_of):
    return page_of("Loads", figure, LoadsFigure(swapped, title="B before A"), LoadsFigure(None, title="Not recorded"))


@pytest.mark.parametrize("warmth", ["warm", "cold-data", "cold"])
@pytest.mark.parametrize("view", ["hardware", "model", "difference"])
def test_every_view_draws_what_python_says(visit_alone, figure, warmth, view):
    card = visit_alone().card()
    card.choose(warmth=warmth)
    card.choose(view=view)
    figure.warmth, figure.view, figure.step = warmth, view, 2
    card.check_data(figure)
    assert card.say() == figure.sentence()
    card.locator("summary").click()
    card.check_table(figure)
    assert card.get_by_role("option").count() == len(figure.table()[1])
    differing = [mark for lane in figure._found.lanes for mark in lane["marks"] if mark["kind"] == "wrong"]
    assert card.locator(".tma-mark-wrong").count() == len(differing)


def test_the_steps_are_walked_and_scrubbed(visit_alone, figure):
    card = visit_alone().card()
    order = figure.provenance["states"][0]["order"]
    figure.warmth, figure.view = "warm", "hardware"
    for step in range(3, len(order)):
        card.get_by_role("button", name="one step on").click()
        figure.step = step
        assert card.say() == figure.sentence()
        assert card.locator(".tma-mark.tma-hot").get_attribute("data-key") == order[step]
    assert card.get_by_role("button", name="one step on").is_disabled()
    card.get_by_role("slider", name="Step").fill("0")
    figure.step = 0
    assert card.say() == figure.sentence()
    assert card.get_by_role("button", name="one step back").is_disabled()
    figure.step = 2


def test_it_plays_to_its_end_and_stops_at_a_press(visit_alone, figure):
    card = visit_alone().card()
    card.get_by_role("button", name="play").click()
    card.page.wait_for_function("() => document.querySelector('.tma-stepper output').textContent.startsWith('4 ')")
    card.get_by_role("button", name="pause").click()
    stopped = card.locator(".tma-stepper output").inner_text()
    card.page.wait_for_timeout(900)
    assert card.locator(".tma-stepper output").inner_text() == stopped


def test_who_asks_for_less_motion_gets_one_step_a_press(visit_alone):
    card = visit_alone(reduced_motion="reduce").card()
    card.get_by_role("button", name="play").click()
    assert card.locator(".tma-stepper output").inner_text().startswith("4 of ")
    card.page.wait_for_timeout(900)
    assert card.locator(".tma-stepper output").inner_text().startswith("4 of ")


def test_a_mark_under_the_pointer_is_told_and_a_press_keeps_it(visit_alone, figure):
    card = visit_alone().card()
    marks = {mark["key"]: mark["say"] for mark in figure.data()["marks"]}
    card.locator("[data-key='flight-A']").hover()
    assert card.say() == marks["flight-A"]
    card.page.mouse.move(5, 5)
    assert card.say() == marks["arm"]
    card.locator("[data-key='bytes-1']").click()
    card.page.mouse.move(5, 5)
    assert card.say() == marks["bytes-1"]
    card.locator("[data-key='wait']").click()
    card.page.mouse.move(5, 5)
    assert card.say() == marks["wait"]
    order = figure.provenance["states"][0]["order"]
    assert card.locator(".tma-stepper output").inner_text() == f"{order.index('wait') + 1} of {len(order)}"


def test_the_keys_walk_the_lanes_and_leave_them(visit_alone):
    page = visit_alone()
    card = page.card()
    card.get_by_role("listbox").locator("[tabindex='0']").focus()
    assert page.evaluate("document.activeElement.dataset.key") == "arm"
    for key, there in [
        ("ArrowRight", "issue-A"), ("ArrowRight", "issue-B"), ("ArrowDown", "flight-A"), ("ArrowDown", "flight-B"),
        ("ArrowDown", "arrivals-1"), ("ArrowDown", "bytes-1"), ("Home", "bytes-0"), ("ArrowUp", "arrivals-0"),
        ("ArrowUp", "flight-B"),
    ]:  # fmt: skip
        page.keyboard.press(key)
        assert page.evaluate("document.activeElement.dataset.key") == there
        assert page.locator(f"[data-key='{there}']").first.get_attribute("aria-label").endswith(card.say())
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "link to this view"


def test_the_address_keeps_the_state(visit_alone, figure):
    card = visit_alone("#loads=warmth:cold,view:difference,step:9").card()
    assert card.chosen("warmth") == "cold"
    assert card.chosen("view") == "difference"
    steps = len(figure.provenance["states"][2]["order"])
    assert card.locator(".tma-stepper output").inner_text() == f"10 of {steps}"
    card.choose(view="model")
    assert card.locator(".tma-stepper output").inner_text() == "8 of 8"
    assert card.link() == "#loads=warmth:cold,view:model,step:9"


def test_a_run_in_another_order_stands_out_and_what_is_not_recorded_says_so(visit_alone):
    page = visit_alone()
    card = page.card(1)
    card.choose(view="difference")
    assert "2 of 6 steps in another order" in card.inner_text()
    wrong = card.locator(".tma-mark-wrong").evaluate_all("marks => marks.map(mark => mark.dataset.key)")
    assert sorted(wrong) == ["land-A", "land-B"]
    empty = page.card(2)
    assert "Model, not measured" in empty.inner_text()
    assert empty.get_by_role("listbox").locator("[data-key='flight-A']").count() == 1
    assert empty.data()["provenance"].startswith("Model, not measured")


def test_the_picture_is_a_drawing_of_what_is_seen(visit_alone):
    words = ("A in flight", "4096", "waits", "mbarrier.arrive.expect_tx", "cycles")
    visit_alone().card().check_picture(*words)


def test_without_a_script_the_still_stands(visit_alone, figure):
    page = visit_alone(java_script_enabled=False)
    assert page.locator("img.tma-still").count() == 3
    page.card().check_still(figure, wider_than=800)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_is_accessible_and_fits(visit_alone, width, scheme):
    page = visit_alone("#loads=warmth:cold,step:5&loads-2=view:difference", width=width, scheme=scheme)
    page.check_fits()
    page.check_tall(".tma-bar button, .tma-bar label, .tma-mark")
    assert page.faults() == []
