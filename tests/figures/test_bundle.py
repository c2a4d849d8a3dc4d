"""The two forms of the figures' code are made of the same lines, run as they are, and stay small."""

import gzip
import re
import shutil
import subprocess

import pytest

from tmalab.figures.bundle import STATIC, bundle_css, bundle_js, esm, figures, standalone_page


def node(*arguments: str, text: str) -> None:
    found = shutil.which("node")
    assert found, "no node: apt-get install nodejs"
    done = subprocess.run([found, *arguments], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_figure_is_found():
    assert {"tile", "question"} <= set(figures())
    assert not {"geometry", "kit", "host"} & set(figures())


@pytest.mark.parametrize("name", figures())
def test_a_figures_module_is_one_module_with_one_export(name):
    text = esm(name)
    assert re.findall(r"^import ", text, re.MULTILINE) == []
    assert re.findall(r"^export .*", text, re.MULTILINE) == ["export default { render };"]
    node("--check", "--input-type=module", "-", text=text)  # two names that collide are an error here


def test_the_bundle_is_a_classic_script_that_holds_the_kit_once():
    text = bundle_js()
    assert re.findall(r"^(?:import|export) ", text, re.MULTILINE) == []
    assert text.count("function cellGrid(") == 1
    node("--check", "--input-type=commonjs", "-", text=text)


@pytest.mark.parametrize("name", figures())
def test_book_and_notebook_run_the_same_lines(name):
    body = esm(name).removesuffix("export default { render };\n")
    own = body[body.rindex("const FOCUSABLE") :].partition("// ")[0].splitlines()[-20:]
    assert "\n".join(own) in bundle_js()


def test_shared_code_imports_nothing_from_outside():
    for path in STATIC.glob("*.js"):
        imported = re.findall(r'^import .*from "(.*)";', path.read_text("utf-8"), re.MULTILINE)
        assert all(re.fullmatch(r"\./[\w-]+\.js", name) and (STATIC / name).exists() for name in imported), path.name


def test_script_and_style_stay_small():
    size = len(gzip.compress(bundle_js().encode(), 6)) + len(gzip.compress(bundle_css().encode(), 6))
    assert size <= 32_000  # of the 600 KB that a page may bring


def test_a_page_of_its_own_needs_no_other_file():
    page = standalone_page("A <title>", '<div class="tma-host"></div>')
    assert "<title>A &lt;title&gt;</title>" in page
    assert not re.search(r'\b(?:src|href)="(?!#)', page)
    assert page.count("</script>") == 1
