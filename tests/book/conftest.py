"""The built book, a server for it, and a Chromium that reaches nothing else: what the tests of this folder share.

TMALAB_BOOK names a book that is built already; without it one is built, once, into a temporary folder.
"""

import functools
import http.server
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
WIDTHS = {"wide": 1280, "phone": 390}


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
def open_page(chromium, server, book):
    """open_page(path, width=…, scheme=…, over="http" or "file") → page; `page.problems` must be [] when the test ends.

    Every request that would leave the book is refused and is a problem; so is an error in the console.
    """
    contexts, pages = [], []

    def go(path: str, *, width: str = "wide", scheme: str = "light", over: str = "http", **options):
        root = server if over == "http" else book.as_uri()
        viewport = {"width": WIDTHS[width], "height": 900}
        context = chromium.new_context(viewport=viewport, color_scheme=scheme, **options)
        contexts.append(context)
        page = context.new_page()
        page.problems = []
        page.addresses = []

        def route(asked):
            if asked.request.url.startswith((root + "/", "data:", "blob:")):
                asked.continue_()
            else:
                page.problems.append(f"asked for {asked.request.url}")
                asked.abort()

        context.route("**/*", route)
        page.on("pageerror", lambda error: page.problems.append(f"error: {error}"))
        page.on("console", lambda said: said.type in ("error", "warning") and page.problems.append(said.text))
        page.on("response", lambda answer: page.addresses.append((answer.url, answer.status)))
        page.goto(f"{root}/{path}")
        page.wait_for_load_state("networkidle")
        pages.append(page)
        return page

    yield go
    problems = [problem for page in pages for problem in page.problems]
    for context in contexts:
        context.close()
    assert problems == []


@pytest.fixture(scope="module")
def address(site, serve):
    """The address of a module's own `site`, a folder with an index.html of its figures."""
    return serve(site)


@pytest.fixture
def visit(chromium, site, address):
    """visit("http" or "file", path, **context options) → page of `site`. Any error or outside request fails the test.

    `page.asked` lists every address that the page asked for.
    """
    contexts, problems = [], []

    def go(over="http", path="index.html", *, width=1280, **options):
        root = address if over == "http" else site.as_uri()
        context = chromium.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)

        def route(asked):
            if asked.request.url.startswith((root + "/", "data:", "blob:")):
                asked.continue_()
            else:
                problems.append(f"asked for {asked.request.url}")
                asked.abort()

        context.route("**/*", route)
        page = context.new_page()
        page.asked = []
        page.on("request", lambda asked: page.asked.append(asked.url))
        page.on("pageerror", lambda error: problems.append(f"error: {error}"))
        page.on("console", lambda said: said.type in ("error", "warning") and problems.append(said.text))
        page.goto(f"{root}/{path}")
        if options.get("java_script_enabled", True):
            page.wait_for_function("() => document.querySelector('[data-tma-esm] .tma-bar, [data-tma-failed]')")
        return page

    yield go
    for context in contexts:
        context.close()
    assert problems == []


@pytest.fixture
def visit_alone(chromium, page_file):
    """visit(fragment, **context options) → a module's own `page_file`, opened from the file with the network cut."""
    contexts, problems = [], []

    def go(fragment="", *, width=1280, scheme="light", **options):
        context = chromium.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True, **options
        )
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(f"error: {error}"))
        page.on("console", lambda said: said.type in ("error", "warning") and problems.append(said.text))
        page.on("request", lambda asked: asked.url.startswith("http") and problems.append(f"asked for {asked.url}"))
        page.goto(page_file.as_uri() + fragment)
        if options.get("java_script_enabled", True):
            page.locator(".tma-bar").first.wait_for()
        return page

    yield go
    for context in contexts:
        context.close()
    assert problems == []
