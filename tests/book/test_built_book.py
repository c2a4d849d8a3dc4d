"""The built book in a browser, with the network cut: it works, for everyone, at every width, within its weight."""

import gzip
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import yaml

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parent.parent.parent
TOC = yaml.safe_load((ROOT / "_toc.yml").read_text())
CHAPTERS = [TOC["root"], *(chapter["file"] for part in TOC["parts"] for chapter in part["chapters"])]
NOTEBOOKS = [name for name in CHAPTERS if (ROOT / f"{name}.ipynb").exists()]
PAGES = [f"{name}.html" for name in [*CHAPTERS, "search", "genindex"]]
SWIZZLE = "chapters/02-swizzle.html"

MOST_PAGE_BYTES = 600_000
MOST_FIGURE_BYTES = 60_000


def figure_pages(book: Path) -> list[str]:
    return [path.relative_to(book).as_posix() for path in sorted((book / "figures").glob("*.html"))]


def settle(page) -> None:
    """Wait until every figure of the page stands; a figure that failed is told by the console's error."""
    hosts = page.locator("[data-tma-esm]").count()
    page.wait_for_function("n => document.querySelectorAll('[data-tma-mounted]').length === n", arg=hosts)
    assert page.locator("[data-tma-failed]").count() == 0


# --- it works ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("over", ["http", "file"])
@pytest.mark.parametrize("path", PAGES)
def test_a_page_opens_without_a_word_and_without_the_network(open_page, path, over):
    page = open_page(path, over=over)
    settle(page)
    assert page.title()
    assert page.locator("h1:visible").count() == 1


@pytest.mark.parametrize("over", ["http", "file"])
def test_a_figure_has_a_page_of_its_own(open_page, book, over):
    assert figure_pages(book)
    for path in figure_pages(book):
        page = open_page(path, over=over)
        settle(page)
        page.get_by_role("link", name=re.compile("Back to the chapter")).click()
        page.wait_for_load_state("networkidle")
        assert "/chapters/" in page.url


def test_the_front_door_leads_to_the_first_chapter(open_page):
    page = open_page("index.html")
    page.wait_for_url("**/chapters/00-welcome.html")


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_without_javascript_the_stills_and_the_answers_are_there(open_page, name):
    page = open_page(f"{name}.html", java_script_enabled=False)
    for still in page.locator("img.tma-still").all():
        assert still.evaluate("image => image.complete && image.naturalWidth > 0")
        assert still.get_attribute("alt")


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_without_javascript_a_still_on_a_phone_is_as_large_as_it_was_drawn(open_page, name):
    """It moves sideways in its card; the sentence, the provenance and the table stay where they can be read."""
    page = open_page(f"{name}.html", width="phone", java_script_enabled=False)
    page.check_fits()
    for card in page.locator(".tma:has(.tma-still)").all():
        assert card.evaluate(
            """card => {
                card.scrollLeft = card.scrollWidth;
                const still = card.querySelector(".tma-still"), { left, right } = card.getBoundingClientRect();
                const inside = [still, ...card.querySelectorAll(".tma-say, .tma-foot, .tma-text")].map((node) => {
                    const box = node.getBoundingClientRect();
                    return (node === still || box.left >= left) && box.right <= right + 0.5;
                });
                return still.clientWidth >= still.naturalWidth && inside.length === 4 && inside.every(Boolean);
            }"""
        )


# Texts of figures that end outside of a box which cuts what leaves it, unless the box can be scrolled.
CUT = """() => {
    const found = [];
    for (const card of document.querySelectorAll(".tma")) {
        const texts = document.createTreeWalker(card, NodeFilter.SHOW_TEXT);
        while (texts.nextNode()) {
            const range = document.createRange();
            range.selectNodeContents(texts.currentNode);
            const text = range.getBoundingClientRect();
            if (!text.width || texts.currentNode.parentElement.closest("caption, select")) continue;
            for (let box = texts.currentNode.parentElement; box !== document.body; box = box.parentElement) {
                const { overflowX } = getComputedStyle(box), { left, right } = box.getBoundingClientRect();
                if (["auto", "scroll"].includes(overflowX)) break;
                if (overflowX === "visible" || (text.left > left - 1 && text.right < right + 1)) continue;
                found.push(`${texts.currentNode.data.trim()} in ${box.className}`);
                break;
            }
        }
    }
    return found;
}"""


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_no_text_of_a_figure_is_cut(open_page, name):
    page = open_page(f"{name}.html")
    settle(page)
    for width in (1280, 768, 390):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(CUT) == [], width


def test_search_finds_a_word(open_page):
    page = open_page("search.html?q=swizzle")
    page.locator("ul.search li a").first.wait_for()
    assert page.locator('ul.search a[href*="02-swizzle"]').count() >= 1


def test_the_reader_may_choose_dark(open_page):
    page = open_page(SWIZZLE)
    settle(page)

    def paper() -> str:
        return page.locator("body").evaluate("body => getComputedStyle(body).backgroundColor")

    light = paper()
    for _ in range(3):
        page.locator(".theme-switch-button:visible").click()
        if page.locator("html").get_attribute("data-mode") == "dark":
            break
    assert paper() != light
    assert page.locator(".tma").first.evaluate("card => getComputedStyle(card).colorScheme") == "dark"


@pytest.mark.parametrize(("system", "chosen", "dark"), [
    ("dark", "", True), ("light", "", False), ("light", "dark", True), ("dark", "light", False),
])  # fmt: skip
def test_a_figures_own_page_is_dark_where_its_figure_is(open_page, system, chosen, dark):
    page = open_page("figures/tile.html", scheme=system)
    settle(page)
    page.evaluate("mode => mode && (document.documentElement.dataset.theme = mode)", chosen)
    grounds = [
        page.locator(name).first.evaluate("node => getComputedStyle(node).backgroundColor") for name in ("body", ".tma")
    ]
    lightness = [sum(map(int, re.findall(r"\d+", ground)[:3])) for ground in grounds]
    assert [one < 300 for one in lightness] == [dark, dark]


def test_a_link_to_a_view_restores_it_and_goes_on_to_its_page(open_page):
    page = open_page(f"{SWIZZLE}#tile=swizzle:64B,base:256")
    settle(page)
    figure = page.get_by_role("group", name="One tile through the TMA engine")

    def chosen() -> tuple[str | None, str | None]:
        checked = figure.locator("input[name=swizzle]:checked").get_attribute("value")
        return checked, figure.locator("input[type=range]").get_attribute("aria-valuetext")

    assert chosen() == ("64B", "256 bytes")
    assert figure.is_visible()
    figure.locator("input[name=swizzle][value='32B']").check()
    figure.get_by_role("link", name="open as a page").click()
    page.wait_for_url("**/figures/tile.html#tile=swizzle:32B,base:256")
    settle(page)
    assert chosen() == ("32B", "256 bytes")
    page.get_by_role("link", name=re.compile("Back to the chapter")).click()
    page.wait_for_url(f"**/{SWIZZLE}")


def test_a_question_of_a_chapter_takes_its_answer(open_page):
    page = open_page(SWIZZLE)
    settle(page)
    question = page.get_by_role("group", name=re.compile("At which byte does chunk 6 of row 7 begin"))
    for answer, reply in (("896", "The place in it is 6 XOR 7"), ("912", "Right")):
        question.get_by_label("Your answer").fill(answer)
        question.get_by_role("button", name="Check").click()
        assert reply in question.get_by_role("status").inner_text()


# --- for everyone, at every width -------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PAGES)
def test_axe_finds_no_fault(open_page, path):
    page = open_page(path)
    settle(page)
    assert page.faults_everywhere() == []


def test_axe_finds_no_fault_on_a_figure_s_own_page(open_page, book):
    for path in figure_pages(book):
        page = open_page(path)
        settle(page)
        assert page.faults_everywhere() == []


@pytest.mark.parametrize("path", PAGES)
def test_nothing_is_wider_than_a_phone(open_page, path):
    page = open_page(path, width="phone")
    settle(page)
    page.check_fits()


def test_a_printed_table_keeps_its_lines_on_a_phone(open_page):
    page = open_page("chapters/14-gemm.html", width="phone")
    settle(page)
    tables = page.eval_on_selector_all(
        "div.columns pre",
        """found => found.map(pre => {
            const range = document.createRange();
            range.selectNodeContents(pre);
            const tops = new Set(Array.from(range.getClientRects(), rect => Math.round(rect.top)));
            const lines = pre.textContent.trimEnd().split("\\n").length;
            return {lines, drawn: tops.size, wider: pre.scrollWidth > pre.clientWidth, stop: pre.tabIndex};
        })""",
    )
    assert tables
    assert all(table["drawn"] == table["lines"] for table in tables)
    assert any(table["wider"] for table in tables)
    assert all(table["stop"] == 0 for table in tables if table["wider"])  # so that arrow keys move it


# --- its links --------------------------------------------------------------------------------------------------------


class _Links(HTMLParser):
    def __init__(self, text: str):
        super().__init__()
        self.ids, self.targets = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name == "id" and value:
                self.ids.add(value)
            elif name in ("href", "src") and value:
                self.targets.append(value)


def test_every_link_inside_the_book_leads_somewhere(book):
    parsed = {path: _Links(path.read_text("utf8")) for path in book.rglob("*.html") if "_static" not in path.parts}
    dead = []
    for path, page in parsed.items():
        for target in page.targets:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            there = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            # "#tile=base:128" is what a page is asked to show, and no anchor.
            anchor = "" if "=" in unquote(parts.fragment) else parts.fragment
            found = there.exists() and (not anchor or there not in parsed or anchor in parsed[there].ids)
            dead += [] if found else [f"{path.name}: {target}"]
    assert dead == []


def test_links_that_leave_the_book_are_followed_by_readers_only(book):
    for path in book.rglob("*.html"):
        text = path.read_text("utf8")
        assert re.findall(r'<(?:script|img|iframe)[^>]*\ssrc="(?:https?:)?//[^"]*"', text) == []
        assert re.findall(r'<link[^>]*\srel="(?:stylesheet|preload|icon)"[^>]*href="(?:https?:)?//', text) == []


# --- its weight -------------------------------------------------------------------------------------------------------


def transferred(page, book: Path) -> dict[str, int]:
    """What a cold visit brings, in bytes under gzip -6, fonts as they are."""
    root = page.url.split("/chapters/")[0]
    sizes = {}
    for address, status in page.addresses:
        assert status == 200, address
        path = book / unquote(urlsplit(address.removeprefix(root + "/")).path)
        content = path.read_bytes()
        sizes[path.relative_to(book).as_posix()] = (
            len(content) if path.suffix == ".woff2" else len(gzip.compress(content, 6, mtime=0))
        )
    return sizes


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_page_keeps_its_weight(open_page, book, name):
    page = open_page(f"{name}.html")
    settle(page)
    sizes = transferred(page, book)
    assert sum(sizes.values()) <= MOST_PAGE_BYTES, json.dumps(sizes, indent=1)
    formulas = page.locator("mjx-container, .math").count()
    assert any("mathjax" in path for path in sizes) == bool(formulas)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_the_figures_data_keep_theirs(book, name):
    text = (book / f"{name}.html").read_text("utf8")
    states = re.findall(r'<script type="application/json"[^>]*>.*?</script>', text, re.DOTALL)
    assert len(gzip.compress("".join(states).encode(), 6, mtime=0)) <= MOST_FIGURE_BYTES
