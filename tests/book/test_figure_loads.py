"""Two loads, one barrier in a browser, with the network cut: walked through, played, by pointer, by key, by address."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tmalab import observe
from tmalab.figures import LoadsFigure
from tmalab.figures.bundle import standalone_page

pytestmark = pytest.mark.browser

AXE = Path(__file__).parent.parent / "node_modules" / "axe-core" / "axe.min.js"


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
def page_file(figure, tmp_path_factory):
    file = tmp_path_factory.mktemp("loads") / "loads.html"
    all_of_them = [figure, LoadsFigure(swapped, title="B before A"), LoadsFigure(None, title="Not recorded")]
    file.write_text(standalone_page("Loads", "\n".join(one.html() for one in all_of_them)), "utf-8")
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


def data(card):
    with card.page.expect_download() as download:
        card.get_by_role("button", name="data (JSON)").click()
    return json.loads(Path(download.value.path()).read_text("utf-8"))


def rows_of(card):
    return card.locator("table").evaluate("table => [...table.rows].map(row => [...row.cells].map(c => c.textContent))")


@pytest.mark.parametrize("warmth", ["warm", "cold-data", "cold"])
@pytest.mark.parametrize("view", ["hardware", "model", "difference"])
def test_every_view_draws_what_python_says(visit, figure, warmth, view):
    card = card_of(visit())
    choose(card, "warmth", warmth)
    choose(card, "view", view)
    figure.warmth, figure.view, figure.step = warmth, view, 2
    assert data(card) == json.loads(json.dumps(figure.data()))
    assert say(card) == figure.sentence()
    card.locator("summary").click()
    assert rows_of(card) == [list(figure.table()[0]), *figure.table()[1]]
    assert card.get_by_role("option").count() == len(figure.table()[1])
    differing = [mark for lane in figure._found.lanes for mark in lane["marks"] if mark["kind"] == "wrong"]
    assert card.locator(".tma-mark-wrong").count() == len(differing)


def test_the_steps_are_walked_and_scrubbed(visit, figure):
    card = card_of(visit())
    order = figure.provenance["states"][0]["order"]
    figure.warmth, figure.view = "warm", "hardware"
    for step in range(3, len(order)):
        card.get_by_role("button", name="one step on").click()
        figure.step = step
        assert say(card) == figure.sentence()
        assert card.locator(".tma-mark.tma-hot").get_attribute("data-key") == order[step]
    assert card.get_by_role("button", name="one step on").is_disabled()
    card.get_by_role("slider", name="Step").fill("0")
    figure.step = 0
    assert say(card) == figure.sentence()
    assert card.get_by_role("button", name="one step back").is_disabled()
    figure.step = 2


def test_it_plays_to_its_end_and_stops_at_a_press(visit, figure):
    card = card_of(visit())
    card.get_by_role("button", name="play").click()
    card.page.wait_for_function("() => document.querySelector('.tma-stepper output').textContent.startsWith('4 ')")
    card.get_by_role("button", name="pause").click()
    stopped = card.locator(".tma-stepper output").inner_text()
    card.page.wait_for_timeout(900)
    assert card.locator(".tma-stepper output").inner_text() == stopped


def test_who_asks_for_less_motion_gets_one_step_a_press(visit):
    card = card_of(visit(reduced_motion="reduce"))
    card.get_by_role("button", name="play").click()
    assert card.locator(".tma-stepper output").inner_text().startswith("4 of ")
    card.page.wait_for_timeout(900)
    assert card.locator(".tma-stepper output").inner_text().startswith("4 of ")


def test_a_mark_under_the_pointer_is_told_and_a_press_keeps_it(visit, figure):
    card = card_of(visit())
    marks = {mark["key"]: mark["say"] for mark in figure.data()["marks"]}
    card.locator("[data-key='flight-A']").hover()
    assert say(card) == marks["flight-A"]
    card.page.mouse.move(5, 5)
    assert say(card) == marks["arm"]
    card.locator("[data-key='bytes-1']").click()
    card.page.mouse.move(5, 5)
    assert say(card) == marks["bytes-1"]
    card.locator("[data-key='wait']").click()
    card.page.mouse.move(5, 5)
    assert say(card) == marks["wait"]
    order = figure.provenance["states"][0]["order"]
    assert card.locator(".tma-stepper output").inner_text() == f"{order.index('wait') + 1} of {len(order)}"


def test_the_keys_walk_the_lanes_and_leave_them(visit):
    page = visit()
    card = card_of(page)
    card.get_by_role("listbox").locator("[tabindex='0']").focus()
    assert page.evaluate("document.activeElement.dataset.key") == "arm"
    for key, there in [
        ("ArrowRight", "issue-A"), ("ArrowRight", "issue-B"), ("ArrowDown", "flight-A"), ("ArrowDown", "flight-B"),
        ("ArrowDown", "arrivals-1"), ("ArrowDown", "bytes-1"), ("Home", "bytes-0"), ("ArrowUp", "arrivals-0"),
        ("ArrowUp", "flight-B"),
    ]:  # fmt: skip
        page.keyboard.press(key)
        assert page.evaluate("document.activeElement.dataset.key") == there
        assert page.locator(f"[data-key='{there}']").first.get_attribute("aria-label").endswith(say(card))
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "link to this view"


def test_the_address_keeps_the_state(visit, figure):
    card = card_of(visit("#loads=warmth:cold,view:difference,step:9"))
    assert card.locator("input[name=warmth]:checked").get_attribute("value") == "cold"
    assert card.locator("input[name=view]:checked").get_attribute("value") == "difference"
    steps = len(figure.provenance["states"][2]["order"])
    assert card.locator(".tma-stepper output").inner_text() == f"10 of {steps}"
    choose(card, "view", "model")
    assert card.locator(".tma-stepper output").inner_text() == "8 of 8"
    link = card.get_by_role("link", name="link to this view")
    assert link.get_attribute("href") == "#loads=warmth:cold,view:model,step:9"


def test_a_run_in_another_order_stands_out_and_what_is_not_recorded_says_so(visit):
    page = visit()
    card = card_of(page, 1)
    choose(card, "view", "difference")
    assert "2 of 6 steps in another order" in card.inner_text()
    wrong = card.locator(".tma-mark-wrong").evaluate_all("marks => marks.map(mark => mark.dataset.key)")
    assert sorted(wrong) == ["land-A", "land-B"]
    empty = card_of(page, 2)
    assert "Model, not measured" in empty.inner_text()
    assert empty.get_by_role("listbox").locator("[data-key='flight-A']").count() == 1
    assert data(empty)["provenance"].startswith("Model, not measured")


def test_the_picture_is_a_drawing_of_what_is_seen(visit):
    card = card_of(visit())
    with card.page.expect_download() as download:
        card.get_by_role("button", name="picture (SVG)").click()
    picture = Path(download.value.path()).read_text("utf-8")
    assert picture.startswith("<svg ")
    for words in ("A in flight", "4096", "waits", "mbarrier.arrive.expect_tx", "cycles"):
        assert words in picture


def test_without_a_script_the_still_stands(visit, figure):
    page = visit(java_script_enabled=False)
    assert page.locator("img.tma-still").count() == 3
    assert page.locator("img.tma-still").first.evaluate("image => image.naturalWidth") > 800
    assert figure.sentence()[:60] in page.locator(".tma-say").first.inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_is_accessible_and_fits(visit, width, scheme):
    page = visit("#loads=warmth:cold,step:5&loads-2=view:difference", width=width, scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    small = page.locator(".tma-bar button, .tma-bar label, .tma-mark").evaluate_all(
        "nodes => nodes.filter(node => node.getBoundingClientRect().height < 24).map(node => node.outerHTML)"
    )
    assert small == []
    page.add_script_tag(path=str(AXE))
    found = page.evaluate("axe.run()")["violations"]
    assert [(fault["id"], [node["html"][:200] for node in fault["nodes"]]) for fault in found] == []
