"""Write the page *What we measured* from the facts, and execute it from recordings.

    python chapters/write_measured.py        after a fact was added, changed or recorded again

The notebook's text stands in `tmalab/experiment/facts`; a test compares the two.
"""

from __future__ import annotations

from pathlib import Path

import nbformat
from execute import clean, execute
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tmalab.experiment.facts import CHAPTERS, FACTS, Fact

NOTEBOOK = Path(__file__).parent / "what-we-measured.ipynb"

INTRO = f"""# What we measured

A manual says what a {{term}}`tensor map` may hold and what a copy does with it. Here is what it does not say, or says
in another way: {len(FACTS)} facts. Each stands with the smallest experiment that shows it, and with what an H200
answered.

A table holds what was asked and what came back. Bytes are words in hexadecimal, little-endian: `cdcdcdcd` was not
written, and `00000000*4` is four words of zeros. An experiment's {{term}}`cases <case>` are in the fold below its
table. The assert in each cell is a test: it fails when a GPU answers in another way.

The answers are {{term}}`recordings <recording>`. With a Hopper GPU, `measured("nan-fill", live=True)` asks it now; with
`TMALAB_SOURCE=live` the whole page does. Some of the questions end in a fault. That costs a worker process, not the
notebook."""


def contents() -> str:
    """Every fact's sentence, as a link to it, under the heading that it stands under."""
    parts = [
        f"**{heading}**\n\n" + "\n".join(f"- {{ref}}`{found.statement} <fact-{found.id}>`" for found in facts)
        for heading, facts in CHAPTERS.items()
    ]
    return "\n\n".join(parts)


def section(found: Fact) -> str:
    """A fact's heading, its sentence, and the manual's word."""
    return f"(fact-{found.id})=\n### {found.title}\n\n{found.statement}\n\n*The manual.* {found.manual}"


def question(found: Fact) -> str:
    """The cell that puts it to the test."""
    return f'found = measured("{found.id}")\nassert found.holds\nfound'


def build() -> nbformat.NotebookNode:
    """The notebook, not executed. A cell's id is what it is about, so that a fact more moves no other's."""
    cells = [new_markdown_cell(INTRO, id="intro"), new_markdown_cell(contents(), id="contents")]
    start = "from tmalab.experiment.facts import FACTS\nfrom tmalab.recordings.measured import measured\n\n"
    start += f"assert len({{found.id for found in FACTS}}) == {len(FACTS)}"
    cells.append(new_code_cell(start, id="start"))
    for number, (heading, facts) in enumerate(CHAPTERS.items()):
        cells.append(new_markdown_cell(f"## {heading}", id=f"part-{number}"))
        for found in facts:
            cells.append(new_markdown_cell(section(found), id=f"{found.id}-text"))
            cells.append(new_code_cell(question(found), id=found.id))
    return new_notebook(cells=cells)


if __name__ == "__main__":
    notebook = build()
    clean(notebook)
    draft = NOTEBOOK.with_suffix(".draft.ipynb")
    nbformat.write(notebook, draft)
    try:
        execute(draft, NOTEBOOK)
    finally:
        draft.unlink()
