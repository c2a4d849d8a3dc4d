"""The two forms of the figures' code are made of the same lines, run as they are, and stay small."""

import gzip
import re
import shutil
import subprocess

import pytest

from tmalab.figures.bundle import STATIC, bundle_css, bundle_js, esm, figure_js, figures, shared_js, standalone_page


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
    own = figure_js(name).removesuffix("return { render };\n});\n").partition("} = kit;\n")[2]
    assert own.strip()
    assert body.endswith(own)
    assert body.removesuffix(own) in shared_js()


@pytest.mark.parametrize("name", figures())
def test_a_figures_own_script_names_all_that_it_takes(name):
    """Run with the kit alone in scope: a name that it forgot to import is an error of strict code."""
    text = figure_js(name)
    node("--check", "--input-type=commonjs", "-", text=text)
    head, _, own = text.partition("} = kit;\n")
    taken = set(re.findall(r"\w+", head.partition("const {")[2]))
    for shared in re.findall(r"^const kit = \{ (.*) \};$", shared_js(), re.MULTILINE)[0].split(", "):
        used = re.search(rf"(?<![\w.\"'`-]){shared}\(", own)
        assert not used or shared in taken or f"function {shared}(" in own, f"{name} uses {shared}, not imported"


def test_a_page_of_one_figure_brings_no_others_code():
    page = standalone_page("One", '<div class="tma-host" data-tma-esm="tile"></div>')
    assert 'tmalab.figure("tile"' in page
    assert 'tmalab.figure("box"' not in page


def test_shared_code_imports_nothing_from_outside():
    for path in STATIC.glob("*.js"):
        imported = re.findall(r'^import .*from "(.*)";', path.read_text("utf-8"), re.MULTILINE)
        assert all(re.fullmatch(r"\./[\w-]+\.js", name) and (STATIC / name).exists() for name in imported), path.name


def gzipped(text):
    return len(gzip.compress(text.encode(), 6))


def test_script_and_style_stay_small():
    """Of the 600 KB that a page may bring: what each page with a figure loads, and what one figure adds."""
    assert gzipped(shared_js()) <= 8_000
    assert gzipped(bundle_css()) <= 16_000
    assert {name: size for name in figures() if (size := gzipped(figure_js(name))) > 14_000} == {}


def test_a_page_of_its_own_needs_no_other_file():
    page = standalone_page("A <title>", '<div class="tma-host"></div>')
    assert "<title>A &lt;title&gt;</title>" in page
    assert not re.search(r'\b(?:src|href)="(?!#)', page)
    assert page.count("</script>") == 1
