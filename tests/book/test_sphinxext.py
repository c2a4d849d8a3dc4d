"""The book's extension, on books of two pages: what it warns of, what it loads where, what a second build leaves."""

import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parent.parent.parent
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
HOST = '<div class="tma-host" data-tma-esm="tile" data-tma-page="one" data-tma-title="A &amp; B">STILL</div>'


@pytest.fixture
def small_book(tmp_path):
    """small_book(pages: name → text) → a function that builds them with the book's own configuration."""

    def write(pages: dict[str, str]):
        source = tmp_path / "source"
        source.mkdir()
        (source / "tmalab").symlink_to(ROOT / "tmalab")
        (source / "_config.yml").write_text((ROOT / "_config.yml").read_text())
        first, *others = (Path(name).stem for name in pages)
        listed = "".join(f"- file: {name}\n" for name in others)
        (source / "_toc.yml").write_text(f"format: jb-book\nroot: {first}\nchapters:\n{listed}")
        for name, text in pages.items():
            (source / name).write_text(text)

        def build() -> subprocess.CompletedProcess[str]:
            command = [sys.executable, "-c", "from jupyter_book.cli.main import main; main()", "build", str(source)]
            return subprocess.run(
                [*command, "--path-output", str(tmp_path / "out"), "--quiet", "-W", "-n", "--keep-going"],
                env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
            )  # fmt: skip

        build.source, build.out = source, tmp_path / "out" / "_build" / "html"
        return build

    return write


def notebook(**data: str) -> str:
    cell = nbformat.v4.new_code_cell("figure", execution_count=1)
    cell.outputs = [nbformat.v4.new_output("execute_result", data, execution_count=1)]
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# A notebook"), cell])
    made.metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return nbformat.writes(made)


def test_a_widget_without_html_fails_the_build(small_book):
    build = small_book({"index.md": "# First\n", "dead.ipynb": notebook(**{"text/plain": "W", WIDGET_VIEW: {}})})
    done = build()
    assert done.returncode != 0
    assert "widget output without a text/html form" in done.stdout + done.stderr


def test_a_figure_gets_its_script_its_page_and_the_way_there(small_book):
    pages = {
        "index.md": "# First\n",
        "figure.ipynb": notebook(**{"text/plain": "F", "text/html": HOST, WIDGET_VIEW: {}}),
    }
    build = small_book(pages)
    done = build()
    assert done.returncode == 0, done.stdout + done.stderr
    with_figure, without = ((build.out / f"{name}.html").read_text() for name in ("figure", "index"))
    assert with_figure.index("tmalab/figures.js") < with_figure.index("tmalab/figures/tile.js")
    assert "tmalab/figures/edges.js" not in with_figure
    assert 'data-tma-href="figures/one.html"' in with_figure
    assert "tmalab/figures.js" not in without
    alone = (build.out / "figures" / "one.html").read_text()
    assert '<script defer src="../_static/tmalab/figures/tile.js">' in alone
    assert "<h1>A &amp; B</h1>" in alone
    assert HOST in alone
    assert '<a href="../figure.html">Back to the chapter “A notebook”</a>' in alone


def test_a_formula_brings_mathjax_to_its_page_and_no_more_of_it_than_it_loads(small_book):
    build = small_book({"index.md": "# First\n", "formula.md": "# Formula\n\n$p = c \\oplus r$\n"})
    done = build()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "mathjax/tex-chtml.js" in (build.out / "formula.html").read_text()
    assert "mathjax" not in re.sub("mathjax_ignore", "", (build.out / "index.html").read_text())
    files = [path for path in (build.out / "_static" / "mathjax").rglob("*") if path.is_file()]
    assert {path.suffix for path in files} == {".js", ".woff"}
    assert sum(path.stat().st_size for path in files) < 3_000_000


def test_a_second_build_builds_what_changed_and_mends_it(small_book):
    build = small_book({"index.md": "# First\n", "second.md": "# Second\n\nOld.\n", "third.md": "# Third\n"})
    assert build().returncode == 0
    kept, changed = build.out / "third.html", build.out / "second.html"
    written = kept.stat().st_mtime_ns
    (build.source / "second.md").write_text("# Second\n\nNew.\n")
    assert build().returncode == 0
    assert kept.stat().st_mtime_ns == written
    assert "New." in changed.read_text()
    assert "fontawesome.js" not in changed.read_text()
    assert not (build.out / "_static" / "scripts" / "fontawesome.js").exists()
    assert not (build.out / "_static" / "mathjax").exists()


def test_without_pyodide_the_build_says_so_and_the_page_shows_recorded_answers(small_book):
    pages = {"index.md": "# First\n", "check.md": "# Check\n\n```{tma-check}\n```\n"}
    build = small_book(pages)
    done = build()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no Pyodide in node_modules" in done.stderr
    text = (build.out / "check.html").read_text()
    assert "data-worker" not in text
    assert "box_dim[1]=512" in text
    assert "tmalab/check/page.js" in text
    assert "tmalab/check/page.js" not in (build.out / "index.html").read_text()
    assert not (build.out / "_static" / "tmalab" / "python").exists()
    environment = pickle.loads((build.out.parent / ".doctrees" / "environment.pickle").read_bytes())
    depends_on = {Path(path).name for path in environment.dependencies["check"]}
    assert depends_on >= {"check_page.py", "check_examples.py", "detect.py", "page.js"}  # or it goes stale


def test_the_rules_need_no_checker_s_page(small_book):
    build = small_book({"index.md": "# First\n", "rules.md": "# Rules\n\n```{tma-rules}\n```\n"})
    done = build()
    assert done.returncode == 0, done.stdout + done.stderr
    text = (build.out / "rules.html").read_text()
    assert 'id="rule-inner_coordinate_16B"' in text
    assert "Try it in the checker" not in text
