"""The built book, a server for it, and a Chromium that reaches nothing else: what the tests of this folder share.

TMALAB_BOOK names a book that is built already; without it one is built, once, into a temporary folder. Nothing is
imported from here: a page that a fixture opens brings `page.card(number)`, `page.faults()` and `page.check_fits()`.
"""

import functools
import http.server
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tmalab import observe
from tmalab.figures.bundle import bundle_css, bundle_js, standalone_page
from tmalab.sphinxext import python_worker

ROOT = Path(__file__).parent.parent.parent
AXE = ROOT / "tests" / "node_modules" / "axe-core" / "axe.min.js"
ROWS = "table => [...table.rows].map(row => [...row.cells].map(cell => cell.textContent))"
WIDTHS = {"wide": 1280, "phone": 390}
# axe lists all that it passed, too: to bring that out of the browser takes four times as long as to find it.
VIOLATIONS = "found => found.violations"

BARE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Figures</title><link rel="icon" href="data:,"><link rel="stylesheet" href="figures.css">
<style>:root {{ color-scheme: light dark }} body {{ margin: 16px }}</style>
<script async src="figures.js"></script></head>
<body><main><h1>Figures</h1>{}<h2 id="below">Below</h2><p>The end.</p></main></body></html>
"""


class Card:
    """One figure on a page, as a reader sees it. What is not said here is its element's own: `card.locator(…)`."""

    def __init__(self, page, number: int = 0):
        self.page, self.root = page, page.locator(".tma").nth(number)

    def __getattr__(self, name: str):
        return getattr(self.root, name)

    def say(self) -> str:
        """The sentence that stands below the drawing."""
        return self.root.locator(".tma-say").inner_text()

    def choose(self, **state) -> None:
        for name, value in state.items():
            self.root.locator(f"input[name={name}][value='{value}']").check()

    def chosen(self, name: str) -> str:
        return self.root.locator(f"input[name={name}]:checked").get_attribute("value")

    def link(self) -> str:
        """Where "link to this view" leads."""
        return self.root.get_by_role("link", name="link to this view").get_attribute("href")

    def download(self, button: str) -> str:
        with self.page.expect_download() as download:
            self.root.get_by_role("button", name=button).click()
        return Path(download.value.path()).read_text("utf-8")

    def data(self) -> dict:
        return json.loads(self.download("data (JSON)"))

    def rows(self) -> list[list[str]]:
        """The text table, its head first."""
        return self.root.locator(".tma-text table").evaluate(ROWS)

    def check_data(self, figure) -> None:
        """The data that the figure gives is what Python gives."""
        assert self.data() == json.loads(json.dumps(figure.data()))

    def check_table(self, figure) -> None:
        """The text table is Python's."""
        head, rows = figure.table()
        assert self.rows() == [list(head), *rows]

    def check_picture(self, *words: str) -> str:
        """The picture that the figure gives is a drawing in which `words` stand; its text."""
        picture = self.download("picture (SVG)")
        assert picture.startswith("<svg ")
        assert [word for word in words if word not in picture] == []
        return picture

    def drawn(self) -> list[str]:
        """The texts of the picture that the figure gives."""
        picture = ElementTree.fromstring(self.download("picture (SVG)"))
        return [text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")]

    def check_still(self, figure, wider_than: int) -> None:
        """Without a script there are the still, whole, and the sentence that Python says."""
        still = self.root.locator("img.tma-still")
        assert still.evaluate("image => image.complete && image.naturalWidth") > wider_than
        assert self.say() == figure.sentence()

    def check_one_row(self) -> None:
        """Its controls stand in one row."""
        tops = "bar => new Set([...bar.children].map((field) => Math.round(field.getBoundingClientRect().top))).size"
        assert self.root.locator(".tma-bar").evaluate(tops) == 1

    def check_print(self) -> None:
        """On paper stand the picture, the sentence and the provenance."""
        self.page.emulate_media(media="print")
        wanted = {"stage": True, "say": True, "prov": True, "bar": False, "links": False, "text": False}
        assert {name: self.root.locator(f".tma-{name}").is_visible() for name in wanted} == wanted

    def check_one_differs(self, whole: "Card", labels, marks: dict[str, int] | None = None) -> None:
        """Of the `labels` one is another than in `whole`, and `marks` tell it; the model, shown alone, knows of none.

        It leaves the view at hardware.
        """
        for view, differing in (("model", 0), ("difference", 1), ("hardware", 1)):
            for one in (whole, self):
                one.choose(view=view)
            assert sum(one != other for one, other in zip(labels(whole), labels(self), strict=True)) == differing
            for mark, number in (marks or {".tma-wrong": 1}).items():
                assert self.root.locator(mark).count() == number * differing
                assert whole.root.locator(mark).count() == 0


def faults(page, within: str = "", number: int = 0) -> list[tuple[str, list[str]]]:
    """What axe finds on the page, or within one of its elements."""
    page.add_script_tag(path=str(AXE))
    where = f"document.querySelectorAll('{within}')[{number}]" if within else "document"
    found = page.evaluate(f"axe.run({where}).then({VIOLATIONS})")
    return [(fault["id"], [node["html"][:200] for node in fault["nodes"]]) for fault in found]


def faults_everywhere(page, **options) -> list[tuple[str, str, list[str]]]:
    """What axe, told `options`, finds on the page, wide and on a phone, light and dark."""
    page.add_script_tag(path=str(AXE))
    found = []
    for width, scheme in itertools.product(WIDTHS.values(), ("light", "dark")):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        page.wait_for_timeout(500)  # the theme fades from one to the other
        found += [
            (f"{width} {scheme}", fault["id"], [node["html"][:150] for node in fault["nodes"]])
            for fault in page.evaluate(f"options => axe.run(options).then({VIOLATIONS})", options)
        ]
        check_fits(page)
    return found


def check_fits(page) -> None:
    """Nothing asks for scrolling sideways."""
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]


def check_tall(page, selector: str) -> None:
    """A finger finds each of them: it is 24 px high."""
    low = "nodes => nodes.filter(node => node.getBoundingClientRect().height < 24).map(node => node.outerHTML)"
    assert page.locator(selector).evaluate_all(low) == []


def build_book(source: Path, out: Path) -> Path:
    """Build the book in `source` as `make book` does, warnings being errors; the folder of its pages."""
    command = [sys.executable, "-c", "from jupyter_book.cli.main import main; main()", "build", str(source)]
    options = ["--path-output", str(out), "--quiet", "-W", "-n", "--keep-going"]
    done = subprocess.run([*command, *options], cwd=source, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return out / "_build" / "html"


@pytest.fixture(scope="session")
def book(tmp_path_factory) -> Path:
    given = os.environ.get("TMALAB_BOOK")
    return Path(given).resolve() if given else build_book(ROOT, tmp_path_factory.mktemp("book"))


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class _Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        """A browser that leaves a page lets its requests drop: no fault of the page."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


@pytest.fixture(scope="session")
def serve():
    """serve(folder) → the address at which it is served, to this machine alone, until the tests end."""
    running = []

    def go(folder: Path) -> str:
        serving = _Server(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(folder)))
        thread = threading.Thread(target=serving.serve_forever, daemon=True)
        thread.start()
        running.append((serving, thread))
        return f"http://127.0.0.1:{serving.server_port}"

    yield go
    for serving, thread in running:
        serving.shutdown()
        serving.server_close()
        thread.join()


@pytest.fixture(scope="session")
def server(book, serve):
    """The address at which the book is served."""
    return serve(book)


@pytest.fixture(scope="session")
def chromium():
    from playwright.sync_api import sync_playwright

    executable = os.environ.get("CHROMIUM") or shutil.which("chromium")
    assert executable, "no chromium: apt-get install chromium, or name one in CHROMIUM"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def browse(chromium):
    """browse(root, width, **context options) → an empty page with what the tests ask of any page, kept within `root`.

    Every request that would leave it is refused. That and an error in the console are problems, and fail the test.
    """
    contexts, problems = [], []

    def go(root: str, width: int, **options):
        context = chromium.new_context(viewport={"width": width, "height": 900}, **options)
        context.set_default_timeout(60_000)  # of a busy machine
        contexts.append(context)

        def route(asked):
            if asked.request.url.startswith((root + "/", "data:", "blob:")):
                asked.continue_()
            else:
                problems.append(f"asked for {asked.request.url}")
                asked.abort()

        context.route("**/*", route)
        page = context.new_page()
        page.problems = problems
        for add in (Card, faults, faults_everywhere, check_fits, check_tall):
            setattr(page, add.__name__.lower(), functools.partial(add, page))
        page.on("pageerror", lambda error: problems.append(f"error: {error}"))
        page.on("console", lambda said: said.type in ("error", "warning") and problems.append(said.text))
        return page

    yield go
    for context in contexts:
        context.close()
    assert problems == []


@pytest.fixture
def open_page(browse, server, book):
    """open_page(path, width=…, scheme=…, over="http" or "file") → a page of the book."""

    def go(path: str, *, width: str = "wide", scheme: str = "light", over: str = "http", **options):
        root = server if over == "http" else book.as_uri()
        page = browse(root, WIDTHS[width], color_scheme=scheme, **options)
        page.addresses = []
        page.on("response", lambda answer: page.addresses.append((answer.url, answer.status)))
        page.goto(f"{root}/{path}")
        page.wait_for_load_state("networkidle")
        return page

    return go


@pytest.fixture(scope="session")
def page_of(tmp_path_factory):
    """page_of(title, *figures) → the file of a page that holds them and needs nothing else."""

    def go(title: str, *figures) -> Path:
        file = tmp_path_factory.mktemp("page") / "index.html"
        file.write_text(standalone_page(title, "\n".join(figure.html() for figure in figures)), "utf-8")
        return file

    return go


@pytest.fixture(scope="session")
def site_of(tmp_path_factory):
    """site_of(figure, *others, python=False) → a folder: a bare page of them with the bundle, and the first's own page.

    With `python` there is the worker, too, that a click loads.
    """

    def go(figure, *others, python: bool = False) -> Path:
        folder, worker, first = tmp_path_factory.mktemp("site"), None, figure.html()
        [name] = re.findall(r'data-tma-page="(\w+)"', first)
        if python:
            pyodide = python_worker.find_pyodide(ROOT)
            assert pyodide, "no Pyodide in node_modules: npm ci --ignore-scripts"
            python_worker.write(pyodide, folder / "python")
            worker = {"address": "python/worker.mjs", "megabytes": "5.6"}
        (folder / "figures.js").write_text(bundle_js([name] if python else None, worker), "utf-8")
        (folder / "figures.css").write_text(bundle_css(), "utf-8")
        first = first.replace(f'data-tma-page="{name}"', f'data-tma-page="{name}" data-tma-href="alone.html"')
        (folder / "index.html").write_text(BARE.format("\n".join([first, *(one.html() for one in others)])), "utf-8")
        figure.save(folder / "alone.html")
        return folder

    return go


@pytest.fixture(scope="session")
def flipped():
    """flipped(name, byte) → the recordings, but for one bit of this byte of what the case `name` left."""

    def make(name: str, byte: int):
        def observed(case):
            seen = observe(case)
            if case.name != name:
                return seen
            smem = seen["smem"].copy()
            smem[byte] ^= 0x80
            return replace(seen, arrays={**seen.arrays, "smem": smem})

        return observed

    return make


@pytest.fixture
def visit_alone(browse, page_file):
    """visit_alone(fragment, **context options) → a module's own `page_file`, opened from the file with no network."""

    def go(fragment="", *, width=1280, scheme="light", **options):
        page = browse(page_file.parent.as_uri(), width, color_scheme=scheme, offline=True, **options)
        page.goto(page_file.as_uri() + fragment)
        if options.get("java_script_enabled", True):
            page.locator(".tma-bar").first.wait_for()
        return page

    return go


@pytest.fixture(scope="module")
def address(site, serve):
    """The address of a module's own `site`, a folder with an index.html of its figures."""
    return serve(site)


@pytest.fixture
def visit(browse, site, address):
    """visit("http" or "file", path, **context options) → page of `site`; `page.asked` lists what the page asked for."""

    def go(over="http", path="index.html", *, width=1280, **options):
        root = address if over == "http" else site.as_uri()
        page = browse(root, width, **options)
        page.asked = []
        page.on("request", lambda asked: page.asked.append(asked.url))
        page.goto(f"{root}/{path}")
        if options.get("java_script_enabled", True):
            page.wait_for_function("() => document.querySelector('[data-tma-esm] .tma-bar, [data-tma-failed]')")
        return page

    return go
