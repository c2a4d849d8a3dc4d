"""The figure in a real JupyterLab: its keys stay in it, it talks with its kernel, and unrun it shows its still."""

import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import nbformat
import pytest
from jupyter_client import BlockingKernelClient
from playwright.sync_api import expect

from tmalab import observe
from tmalab.figures import TileFigure

pytestmark = pytest.mark.browser

NOTEBOOK = "figure.ipynb"
TOKEN = "tests"
CELLS = [
    "from tmalab import observe\nfrom tmalab.figures import TileFigure\n\nfigure = TileFigure(observe)\nfigure",
    "1 + 1",
    "figure.swizzle = '32B'",
    "print(figure)",
    "from tmalab.figures import BoxFigure\n\nBoxFigure(observe)",
]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    return tmp_path_factory.mktemp("lab")


@pytest.fixture(scope="module")
def committed():
    """A notebook as the book's are committed: outputs kept, widget views left out."""
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(source) for source in CELLS],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
    )
    bundle, _ = TileFigure(observe)._repr_mimebundle_()
    kept = {mime: bundle[mime] for mime in ("text/plain", "text/html")}
    notebook.cells[0].outputs = [nbformat.v4.new_output("execute_result", kept, execution_count=1)]
    return notebook


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """Where Jupyter keeps what it keeps: nothing of this machine's own."""
    own = tmp_path_factory.mktemp("jupyter")
    return {f"JUPYTER_{kind}_DIR": str(own / kind.lower()) for kind in ("CONFIG", "DATA", "RUNTIME")}


@pytest.fixture(scope="module")
def lab(workspace, places, tmp_path_factory):
    """The address of a JupyterLab of its own: no configuration of this machine, no look at the network."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    own = tmp_path_factory.mktemp("lab")
    options = [
        "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0",
        f"--IdentityProvider.token={TOKEN}", f"--ServerApp.root_dir={workspace}", "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate", "--LabApp.extension_manager=readonly",
        f"--LabApp.user_settings_dir={own / 'settings'}", f"--LabApp.workspaces_dir={own / 'workspaces'}",
    ]  # fmt: skip
    with (own / "log").open("w") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *options], env={**os.environ, **places, "JUPYTERLAB_SETTINGS_DIR": ""},
            stdout=log, stderr=subprocess.STDOUT,
        )  # fmt: skip
    try:
        address = f"http://127.0.0.1:{port}"
        for _ in range(300):
            assert server.poll() is None, (own / "log").read_text()
            try:
                urllib.request.urlopen(f"{address}/api", timeout=1).close()
                break
            except (urllib.error.URLError, OSError):
                time.sleep(0.2)
        else:
            pytest.fail("JupyterLab did not start:\n" + (own / "log").read_text())
        yield address
    finally:
        server.kill()  # each test has ended its own kernel
        server.wait()


@pytest.fixture
def kernel(lab, places):
    """The notebook's kernel, once it answers."""
    wanted = {"path": NOTEBOOK, "name": NOTEBOOK, "type": "notebook", "kernel": {"name": "python3"}}
    session = api(lab, "sessions", "POST", wanted)
    runtime = Path(places["JUPYTER_RUNTIME_DIR"])
    client = BlockingKernelClient(connection_file=str(runtime / f"kernel-{session['kernel']['id']}.json"))
    client.load_connection_file()
    client.start_channels(hb=False)  # a busy machine misses a heartbeat
    try:
        client.wait_for_ready(timeout=90)
        yield
    finally:
        client.stop_channels()
        api(lab, f"sessions/{session['id']}", "DELETE")


@pytest.fixture
def notebook(chromium, lab, workspace, committed, kernel):
    """The notebook in Lab, as it was committed, and connected: asked to run a cell before, Lab starts a second kernel,
    forgets the cell, or asks which kernel to take. What leaves the machine fails the test."""
    nbformat.write(committed, workspace / NOTEBOOK)
    context = chromium.new_context(viewport={"width": 1400, "height": 1200})
    outside = []

    def route(asked):
        if asked.request.url.startswith((lab, "data:", "blob:")):
            asked.continue_()
        else:
            outside.append(asked.request.url)
            asked.abort()

    context.route("**/*", route)
    page = context.new_page()
    page.goto(f"{lab}/lab/tree/{NOTEBOOK}?reset&token={TOKEN}", wait_until="domcontentloaded")
    page.locator(".jp-Notebook .jp-Cell").nth(len(CELLS) - 1).wait_for(timeout=90_000)
    expect(page.locator(".jp-NotebookPanel .jp-KernelName")).to_have_text("Python 3 (ipykernel)", timeout=90_000)
    expect(page.locator(".jp-Notebook-ExecutionIndicator")).to_have_attribute("data-status", "idle", timeout=90_000)
    yield page
    context.close()
    assert outside == []


@pytest.fixture
def figure(notebook):
    """The first cell's figure, run: anywidget has mounted it."""
    run(notebook, 0)
    figure = notebook.locator(".jp-Cell .tma:has(.tma-bar)").first
    figure.wait_for(timeout=90_000)
    return figure


def run(page, number: int) -> None:
    """Run a cell and wait for its number."""
    cell = page.locator(".jp-Notebook .jp-Cell").nth(number)
    cell.locator(".jp-Editor").click()
    page.keyboard.press("Control+Enter")
    expect(cell.locator(".jp-InputPrompt")).to_have_text(re.compile(r"\[\d+\]"), timeout=90_000)


def checked(figure, name: str) -> str:
    return figure.locator(f"input[name={name}]:checked").get_attribute("value")


def api(lab: str, path: str, method: str = "GET", body: dict | None = None) -> dict | None:
    """What Lab's server answers."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{lab}/api/{path}", data, {"Authorization": f"token {TOKEN}"}, method=method)
    with urllib.request.urlopen(request, timeout=90) as answer:
        return json.load(answer) if answer.status != 204 else None


def saved(lab: str) -> list[dict]:
    """The notebook's cells on disk."""
    return api(lab, f"contents/{NOTEBOOK}")["content"]["cells"]


def test_reopened_and_not_run_it_shows_its_still(notebook):
    still = notebook.locator(".jp-OutputArea img")
    still.wait_for()
    assert still.evaluate("image => image.naturalWidth > 700")
    assert still.get_attribute("alt").startswith("One tile through the TMA engine: Row 3, column 5")
    output = notebook.locator(".jp-OutputArea").first
    assert TileFigure(observe).sentence() in output.inner_text()
    assert "Loading widget" not in output.inner_text()
    output.locator("summary").click()
    assert output.locator("tbody tr").count() == 64


def test_its_keys_stay_in_it(notebook, figure, lab):
    figure.locator("input[value='128B']").focus()
    notebook.keyboard.press("ArrowLeft")
    notebook.keyboard.press("ArrowLeft")
    assert checked(figure, "swizzle") == "32B"
    figure.locator("input[type=range]").focus()
    notebook.keyboard.press("End")
    assert figure.locator("output").inner_text() == "1024 B"
    figure.locator(".tma-source [tabindex='0']").focus()
    notebook.keyboard.press("ArrowDown")
    notebook.keyboard.press("Home")
    assert figure.locator(".tma-say").inner_text().startswith("Row 4, column 0 → ")

    focusable = figure.locator("a, button, input, summary, [tabindex='0']").all()
    assert len(focusable) >= 15
    for one in focusable:
        if not one.is_visible():
            continue
        one.focus()
        notebook.keyboard.press("d")
        notebook.keyboard.press("d")
        notebook.keyboard.press("x")
        notebook.keyboard.press("b")
    assert notebook.locator(".jp-Notebook .jp-Cell").count() == len(CELLS)

    unsaved = notebook.locator(".jp-mod-dirty")
    expect(unsaved).not_to_have_count(0)
    assert saved(lab)[0]["execution_count"] is None
    notebook.locator(".lm-MenuBar-item", has_text="File").click()
    notebook.locator("li[data-command='docmanager:save']").click()
    expect(unsaved).to_have_count(0)
    assert saved(lab)[0]["execution_count"] == 1
    assert [cell["source"] for cell in saved(lab)] == CELLS


def test_figure_and_kernel_hold_the_same_state(notebook, figure):
    run(notebook, 2)
    notebook.wait_for_function("() => document.querySelector('.tma input[name=swizzle]:checked')?.value === '32B'")
    figure.locator("input[name=view][value=model]").check()
    figure.locator("input[type=range]").fill("2")
    told = notebook.locator(".jp-Cell").nth(3).locator(".jp-OutputArea-output")
    wanted = "TileFigure(swizzle='32B', row=0, col=0, base=256, view='model', cell=(3, 5))"
    for _ in range(10):  # ipywidgets holds a change back while the kernel has not answered the one before
        run(notebook, 3)
        try:
            return expect(told).to_have_text(wanted)
        except AssertionError:
            continue
    pytest.fail(f"the kernel holds {told.inner_text()}, not {wanted}")


def test_the_box_explorer_asks_its_kernel(notebook, figure):
    run(notebook, 4)
    explorer = notebook.locator(".jp-Notebook .jp-Cell").nth(4).locator(".tma:has(.tma-bar)")
    explorer.wait_for(timeout=90_000)
    explorer.locator(".tma-box").focus()
    notebook.keyboard.press("ArrowRight")
    explorer.get_by_text("coords[0]=5 float32 elements").first.wait_for()
    for key in ("ArrowLeft", "Shift+ArrowDown", "d", "d", "x"):
        notebook.keyboard.press(key)
    explorer.get_by_text("expects 160 bytes").wait_for()
    assert explorer.locator(".tma-prov").inner_text().startswith("Model, not measured")
    assert explorer.get_by_role("button", name="Let me change it").count() == 0
    assert notebook.locator(".jp-Notebook .jp-Cell").count() == len(CELLS)


def test_it_stands_in_labs_dark_theme(notebook, figure):
    notebook.evaluate("document.body.dataset.jpThemeLight = 'false'")
    assert figure.evaluate("card => getComputedStyle(card).colorScheme") == "dark"
    assert notebook.evaluate("location.hash") == ""  # the address is Lab's
    assert figure.get_by_role("link", name="link to this view").count() == 0
