"""The page *What we measured* says what the facts say, no more and no less."""

import importlib.util
import re
import sys
from pathlib import Path

import nbformat

from tmalab.experiment.facts import CHAPTERS, FACTS

FOLDER = Path(__file__).parent.parent.parent / "chapters"


def writer():
    """chapters/write_measured.py, which is no part of the package, as a module."""
    sys.path.insert(0, str(FOLDER))
    try:
        spec = importlib.util.spec_from_file_location("write_measured", FOLDER / "write_measured.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(FOLDER))
    return module


def cells(notebook):
    return [(cell.id, cell.cell_type, cell.source) for cell in notebook.cells]


def test_the_notebook_is_what_the_writer_makes_of_the_facts():
    """After a change of a fact run `python chapters/write_measured.py`."""
    committed = nbformat.read(FOLDER / "what-we-measured.ipynb", as_version=4)
    assert cells(committed) == cells(writer().build())


def test_every_fact_has_a_cell_that_asserts_it_and_a_place_in_the_contents():
    notebook = writer().build()
    by_id = {cell.id: cell.source for cell in notebook.cells}
    assert all(f'measured("{found.id}")\nassert found.holds' in by_id[found.id] for found in FACTS)
    assert re.findall(r"<fact-([\w-]+)>`", by_id["contents"]) == [found.id for found in FACTS]
    assert re.findall(r"^\*\*(.*)\*\*$", by_id["contents"], re.MULTILINE) == list(CHAPTERS)
