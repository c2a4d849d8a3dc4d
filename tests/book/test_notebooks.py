"""The chapters as files: executed, clean, short cells, every claim asserted, every quotation there to be quoted."""

import configparser
import json
import re
from pathlib import Path

import nbformat
import pytest
import yaml

ROOT = Path(__file__).parent.parent.parent
CHAPTERS = ROOT / "chapters"
NOTEBOOKS = sorted(CHAPTERS.glob("*.ipynb"))
TOC = yaml.safe_load((ROOT / "_toc.yml").read_text())

MOST_LINES = 11  # of a cell; longer code belongs in the package

# The one cell a chapter may have whose output nbval does not compare, and why.
IGNORED = {
    "00-welcome": "says whether bytes are recorded or live, and on which GPU",
    "01-first-tile": "counts and cycles of the GPU that ran it, and its name",
    "02-swizzle": "says whether bytes are recorded or live, and on which GPU",
    "03-tensor-map": "says whether the encodings are recorded or live, and by which driver",
    "06-banks": "says on which GPU and when its cycles and products were measured",
    "07-waiting-for-a-load": "says on which GPU and when its loads were timed, and the times",
    "08-waiting-for-a-store": "counts how often an order without one of its steps failed, and on which GPU",
    "10-cute-dsl": "says on which GPU and when its rates were measured, and the rates",
    "11-tirx": "says on which GPU and when its rates were measured, and the rates",
    "13-pipelines": "says on which GPU and when its rings and copies were timed, and the times",
    "14-gemm": "says on which GPU and when its products were timed, and the rates",
}
KNOWN_TAGS = {"hide-input", "nbval-ignore-output"}

by_name = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def read(path: Path) -> nbformat.NotebookNode:
    return nbformat.read(path, as_version=4)


def code_cells(path: Path) -> list[nbformat.NotebookNode]:
    return [cell for cell in read(path).cells if cell.cell_type == "code"]


def prose(path: Path) -> str:
    return "\n\n".join(cell.source for cell in read(path).cells if cell.cell_type == "markdown")


def test_every_chapter_is_in_the_table_of_contents_and_nothing_else_is():
    listed = [TOC["root"], *(chapter["file"] for part in TOC["parts"] for chapter in part["chapters"])]
    there = [f"chapters/{path.stem}" for path in CHAPTERS.iterdir() if path.suffix in (".ipynb", ".md")]
    assert sorted(listed) == sorted(there)


@by_name
def test_it_was_executed_from_top_to_bottom(path):
    cells = code_cells(path)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert not [output for cell in cells for output in cell.outputs if output.output_type == "error"]


@by_name
def test_a_regression_run_leaves_out_all_that_is_marked_as_volatile(path):
    """nbval's own patterns, as it applies them: what they miss would fail on the next machine."""
    patterns = configparser.RawConfigParser()
    patterns.read(ROOT / "tests" / "nbval_sanitize.cfg")
    for cell in code_cells(path):
        for html in (output.get("data", {}).get("text/html", "") for output in cell.outputs):
            for name in patterns.sections():
                html = re.sub(patterns.get(name, "regex"), patterns.get(name, "replace"), html)
            assert "data-volatile" not in html


@by_name
def test_it_holds_nothing_that_a_second_run_would_change(path):
    notebook = read(path)
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    assert "version" not in notebook.metadata.language_info
    for cell in notebook.cells:
        assert set(cell.metadata) <= {"tags"}
        assert set(cell.metadata.get("tags", [])) <= KNOWN_TAGS
    text = path.read_text(encoding="utf-8")
    assert "application/vnd.jupyter.widget" not in text
    assert not re.search(r"\bat 0x[0-9a-f]{8,}", text), "an object's address changes with every run"
    assert not re.search(r"/(?:home|root|tmp|work|Users|usr)/", text), "a path of one machine"


@by_name
def test_its_file_is_as_nbformat_writes_it(path):
    text = path.read_text(encoding="utf-8")
    assert text == nbformat.writes(json.loads(text, object_hook=nbformat.NotebookNode)) + "\n"


@by_name
def test_a_cell_is_short(path):
    for cell in code_cells(path):
        lines = cell.source.splitlines()
        assert len(lines) <= MOST_LINES, cell.source
        assert all(len(line) <= 120 for line in lines), cell.source


@by_name
def test_a_question_is_put_before_its_answer_is_seen(path):
    """The cell that asks holds the answer, the hint and the reason: its source is folded, and nothing else is in it."""
    for cell in code_cells(path):
        if "Question(\n" in cell.source:
            assert "hide-input" in cell.metadata.get("tags", []), cell.source
            assert "assert" not in cell.source, cell.source


@by_name
def test_it_claims_what_it_asserts(path):
    asserts = [cell for cell in code_cells(path) if re.search(r"^\s*assert ", cell.source, re.MULTILINE)]
    silent = [cell for cell in code_cells(path) if not cell.outputs and cell not in asserts]
    assert asserts
    # A cell without an assert and without an output shows nothing and proves nothing: only one that defines may.
    assert all(re.match(r"(import|from|def|class|\w+ = )", cell.source) for cell in silent)


@by_name
def test_output_that_nbval_ignores_is_on_the_list(path):
    ignored = [cell for cell in code_cells(path) if "nbval-ignore-output" in cell.metadata.get("tags", [])]
    assert len(ignored) == (path.stem in IGNORED)
    for cell in ignored:
        assert "provenance" in cell.source
        assert "assert" not in cell.source, "what is asserted must be seen by nbval too"


def test_the_list_names_chapters_that_are_there():
    assert set(IGNORED) <= {path.stem for path in NOTEBOOKS}


@by_name
def test_it_never_pastes_a_kernel(path):
    assert not re.search(r"```(?:cuda|cpp|c\+\+|ptx)\n", prose(path))
    # A card of the gallery prints its kernel: that is read from the tested file when the cell runs, and not pasted.
    assert "__global__" not in prose(path) + "".join(cell.source for cell in code_cells(path))


@by_name
def test_every_quotation_is_there_to_be_quoted(path):
    for file, options in re.findall(r"```\{literalinclude\} (\S+)\n((?::.*\n)*)```", prose(path)):
        source = (path.parent / file).resolve()
        assert source.is_relative_to(ROOT / "tmalab")
        lines = source.read_text(encoding="utf-8").splitlines()
        marks = dict(re.findall(r':(start-after|end-before): "(.*)"\n', options))
        begin = [number for number, line in enumerate(lines) if marks["start-after"] in line]
        end = [number for number, line in enumerate(lines) if marks["end-before"] in line]
        assert len(begin) == len(end) == 1
        assert end[0] > begin[0] + 1, "nothing stands between the marks"
        assert not any("// [" in line for line in lines[begin[0] + 1 : end[0]]), "a mark would be quoted"


@by_name
def test_every_figure_s_page_belongs_to_one_chapter(path):
    mine = set(re.findall(r'data-tma-page=\\"([\w-]+)\\"', path.read_text(encoding="utf-8")))
    others = {
        page
        for other in NOTEBOOKS
        if other != path
        for page in re.findall(r'data-tma-page=\\"([\w-]+)\\"', other.read_text(encoding="utf-8"))
    }
    assert not mine & others


@by_name
def test_its_words_are_linked_at_first_use(path):
    """A glossary word is a link where the chapter first uses it, and every link leads to an entry."""
    entries = set(re.findall(r"^(\w[\w .]*)$", (CHAPTERS / "glossary.md").read_text(encoding="utf-8"), re.MULTILINE))
    used = {re.sub(r"\s+", " ", target or shown) for shown, target in _terms(prose(path))}
    assert used <= entries
    assert used


def _terms(text: str) -> list[tuple[str, str]]:
    found = []
    for inner in re.findall(r"\{term\}`([^`]+)`", text):
        match = re.fullmatch(r"(.*?)\s*<(.*)>", inner, re.DOTALL)
        found.append((match[1], match[2]) if match else (inner, ""))
    return found
