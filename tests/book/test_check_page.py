"""The page *Check my descriptor* in Chromium, the network cut: recorded answers at once, any other after one click."""

import json
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import pytest

from tmalab.checker.rule_examples import example_text
from tmalab.sphinxext.check_examples import EXAMPLES

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[2]
PAGE = "chapters/check.html"
GARBAGE = '{"dtype": "float16",\n "global_dim": [128, 16}'
LEGAL = '{"dtype": "float32", "global_dim": [256, 64], "global_strides": [1024], "box_dim": [32, 8]}'
LOAD_WITHIN_MS = 120_000  # of a busy machine; benchmarks/check_page.py says how long it takes


def settle(page) -> None:
    page.wait_for_selector(".check[data-mounted]")


def load(page) -> int:
    """Load the checker and return the milliseconds that it took."""
    page.get_by_role("button", name="Load the checker").click()
    page.wait_for_selector('.check[data-state="ready"], .check[data-state="failed"]', timeout=LOAD_WITHIN_MS)
    assert page.locator(".check").get_attribute("data-state") == "ready", page.locator("#check-note").inner_text()
    return int(page.locator(".check").get_attribute("data-ready-ms"))


def answered(page, act) -> str:
    """Do what asks a question, and the verdict of the worker's answer to it."""
    before = int(page.locator(".check").get_attribute("data-answered") or 0)
    act()
    page.wait_for_function("n => Number(document.querySelector('.check').dataset.answered) > n", arg=before)
    return verdict(page)


def put(page, text: str) -> str:
    """Paste `text`, and the verdict of its answer from the worker."""
    return answered(page, lambda: page.get_by_label("Your descriptor").fill(text))


def verdict(page) -> str:
    return page.locator("[data-part=answer] .check-verdict").first.inner_text()


def answer_json(page) -> dict:
    with page.expect_download() as download:
        page.get_by_role("link", name="The answer as JSON").click()
    return json.loads(Path(download.value.path()).read_text())


def command_line(text: str, *options: str) -> dict:
    """What `tmalab check --json` prints for `text`."""
    done = subprocess.run(
        [sys.executable, "-m", "tmalab", "check", "--json", *options, "-"],
        input=text, cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode in (0, 1, 2), done.stderr
    return json.loads(done.stdout)


# --- without the checker ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("over", ["http", "file"])
def test_the_examples_are_answered_before_anything_is_loaded(open_page, over):
    page = open_page(PAGE, over=over)
    settle(page)
    for example in EXAMPLES:
        page.get_by_label("Example").select_option(example.name)
        assert page.get_by_label("Your descriptor").input_value().strip() == example.text.strip()
        assert answer_json(page) == command_line(example.text)
        assert "Recorded when the book was built" in page.get_by_role("status").inner_text()
    assert not any("pyodide" in address or ".zip" in address for address, _ in page.addresses)


def test_from_a_file_the_page_says_why_it_answers_nothing_else(open_page):
    page = open_page(PAGE, over="file")
    settle(page)
    assert "opened from a file" in page.locator("#check-note").inner_text()
    assert "make serve" in page.locator("#check-note").inner_text()
    assert page.get_by_role("button", name="Load the checker").count() == 0
    assert page.get_by_label("Your descriptor").get_attribute("readonly") is not None
    assert page.faults_everywhere(preload=False) == []  # with it axe asks for the style sheets again: not from a file


def test_without_javascript_the_questions_stand_with_their_answers(open_page):
    page = open_page(PAGE, java_script_enabled=False)
    for example in EXAMPLES:
        details = page.locator(f"details[data-example={example.name}]")
        details.locator("summary").first.click()
        assert details.locator(".check-verdict").first.is_visible()
    assert page.locator("form.check-form").is_hidden()


def test_another_text_waits_for_the_checker(open_page):
    page = open_page(PAGE)
    settle(page)
    page.get_by_label("Your descriptor").fill(LEGAL)
    page.get_by_text("Not answered yet: load the checker.").wait_for()
    assert page.get_by_label("Example").input_value() == ""


def test_where_the_worker_cannot_be_loaded_the_page_says_so_and_offers_it_again(open_page):
    page = open_page(PAGE)
    settle(page)
    page.context.route("**/worker.mjs*", lambda asked: asked.abort())
    page.get_by_role("button", name="Load the checker").click()
    page.get_by_role("button", name="Try again").wait_for()
    assert "could not be loaded" in page.locator("#check-note").inner_text()
    assert verdict(page) == "Illegal on sm_90: 1 rule broken"
    page.problems.clear()  # Chromium itself may report what it could not load


# --- with it ----------------------------------------------------------------------------------------------------------


def test_loaded_it_answers_everything_as_the_command_line_does(open_page):
    page = open_page(PAGE)
    settle(page)
    ready_ms = load(page)
    page.wait_for_selector(".check[data-answered]")
    for example in EXAMPLES:
        assert put(page, example.text + "\n")
        assert answer_json(page) == command_line(example.text + "\n")
        assert page.get_by_label("Example").input_value() == example.name
    times = []
    for text in (LEGAL, "16,128:128,1:float16", example_text("im2col_corner_range")):
        put(page, text)
        assert answer_json(page) == command_line(text)
        times.append(page.locator(".check").get_attribute("data-answer-ms"))
    answered(page, lambda: page.get_by_role("radio", name="sm_100").check(force=True))
    put(page, example_text("packed_type_needs_sm100"))
    assert verdict(page).startswith("Legal on sm_100")
    assert answer_json(page) == command_line(example_text("packed_type_needs_sm100"), "--arch", "sm_100")
    print(f"ready after {ready_ms} ms, answers in {', '.join(times)} ms")
    assert page.faults_everywhere(preload=False) == []


def test_garbage_is_told_with_its_line_and_column_and_shown_there(open_page):
    page = open_page(PAGE)
    settle(page)
    load(page)
    page.wait_for_selector(".check[data-answered]")
    assert put(page, GARBAGE) == "Unreadable as JSON: line 2, column 24"
    text = page.get_by_label("Your descriptor")
    assert text.get_attribute("aria-invalid") == "true"
    assert "Unreadable as JSON: line 2, column 24" in page.get_by_role("status").text_content()
    error = answer_json(page)["error"]
    assert (error["line"], error["column"]) == (2, 24)
    page.get_by_role("button", name="Go to this place").click()
    assert text.evaluate("area => [area.selectionStart, area.value[area.selectionStart]]") == [44, "}"]
    assert page.faults_everywhere(preload=False) == []
    assert put(page, "<img src=x onerror=document.title='broken'>").startswith("Unreadable: line 1")
    assert page.title() != "broken"
    assert page.locator("[data-part=answer] img").count() == 0


def test_a_link_to_a_question_restores_it_and_sends_it_nowhere(open_page):
    page = open_page(f"{PAGE}#text={quote(LEGAL, safe='')}&arch=sm_100")
    settle(page)
    assert page.get_by_label("Your descriptor").input_value() == LEGAL
    assert page.get_by_role("radio", name="sm_100").is_checked()
    load(page)
    page.wait_for_selector(".check[data-answered]")
    assert verdict(page) == "Legal on sm_100"
    put(page, LEGAL.replace("[32, 8]", "[32, 512]"))
    assert verdict(page).startswith("Illegal on sm_100: 1 rule broken")
    page.reload()
    settle(page)
    assert "512" in page.get_by_label("Your descriptor").input_value()
    assert not any("512" in address or "float32" in address for address, _ in page.addresses)
    put_long = "// " + "x" * 20_000
    page.get_by_label("Your descriptor").fill(put_long)
    page.wait_for_function("location.hash === ''")
    assert page.get_by_role("link", name="Link to this question").count() == 0


def test_the_keyboard_alone_is_enough(open_page):
    page = open_page(PAGE)
    settle(page)
    page.get_by_label("Example").focus()
    page.keyboard.press("ArrowDown")
    assert page.get_by_label("Example").input_value() == EXAMPLES[1].name
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.name") == "arch"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "check-text"
    page.keyboard.press("Tab")  # out of the text again: no trap
    assert page.evaluate("document.activeElement.tagName") in ("A", "BUTTON")
    page.get_by_label("Your descriptor").focus()
    page.keyboard.press("Control+Enter")
    page.wait_for_selector('.check[data-state="ready"]', timeout=LOAD_WITHIN_MS)
    page.keyboard.press("Control+A")
    page.keyboard.type("Sw<3,4,3> o 0 o (8,64):(64,1)")
    page.wait_for_function("document.querySelector('.check-verdict').textContent === 'Legal'")
    page.get_by_role("link", name=re.compile("cute_layout_swizzle_mode")).click()
    page.wait_for_url("**/rules.html#rule-cute_layout_swizzle_mode")


def test_the_host_code_of_a_legal_map_can_be_copied(open_page):
    page = open_page(PAGE, permissions=["clipboard-read", "clipboard-write"])
    settle(page)
    page.get_by_label("Example").select_option("legal-map")
    page.get_by_role("button", name="Copy the host code").click()
    page.get_by_text("The host code is copied.").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "cuTensorMapEncodeTiled(" in copied
    assert "expect_tx(1024)" in copied


def test_an_example_of_a_rule_opens_in_the_checker(open_page):
    page = open_page("chapters/rules.html#rule-box_dim_range_1_256")
    page.locator("#rule-box_dim_range_1_256").get_by_role("link", name="Try it in the checker").click()
    settle(page)
    assert page.get_by_label("Your descriptor").input_value() == example_text("box_dim_range_1_256")
