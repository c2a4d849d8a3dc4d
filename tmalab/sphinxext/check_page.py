"""The page *Check my descriptor*: a form, the examples with their answers, and what a click loads.

    ```{tma-check}     ──▶  form + examples, each answered by `page_answer` while the book is built
    ```                     _static/tmalab/python/: the worker, tmalab as a zip, Pyodide's core

>>> print(render(None)[:64])
<div class="tma check" data-check=""><form class="check-form" da

Without Pyodide in node_modules the build says so, and the page shows the recorded answers only. Without JavaScript
it shows them too.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from tmalab.checker.markup import Markup, tag
from tmalab.checker.page import page_answer
from tmalab.model.rules.rule import ARCHES
from tmalab.sphinxext import python_worker
from tmalab.sphinxext.check_examples import EXAMPLES, Example

if TYPE_CHECKING:
    from sphinx.application import Sphinx

HERE = Path(__file__).parent / "check"
MARK = "data-check="
RULE_CLASS = "tma-rule"
FOLDER = "tmalab/check"  # below _static: the script and the look
_METADATA = "tma_check"


class CheckDirective(SphinxDirective):
    """`{tma-check}`: the whole page but its title and the text around it."""

    def run(self) -> list[nodes.Node]:
        """The page's HTML, made anew when the checker or an example changes."""
        own = Path(__file__), Path(__file__).with_name("check_examples.py")
        for path in (*python_worker.worker_modules().values(), *own, *sorted(HERE.iterdir())):
            self.env.note_dependency(str(path))
        # A dependency that is missing makes Sphinx read the page again in each build: until it is there.
        self.env.note_dependency(str(python_worker.pyodide_folder(Path(self.env.srcdir)) / "package.json"))
        self.env.metadata[self.env.docname][_METADATA] = "1"
        pyodide = python_worker.find_pyodide(Path(self.env.srcdir))
        if pyodide is None:
            sys.stderr.write(
                "tmalab: no Pyodide in node_modules, so the page Check my descriptor shows recorded answers only "
                "(npm ci --ignore-scripts brings it)\n"
            )
        return [nodes.raw("", render(pyodide, self.env.docname), format="html")]


def render(pyodide: Path | None, docname: str = "check") -> Markup:
    """The HTML of the page `docname`; `pyodide` is its folder, if there is one."""
    worker = megabytes = None
    if pyodide is not None:
        worker = python_worker.address(docname)
        megabytes = f"{python_worker.transferred_bytes(pyodide) / 1e6:.1f}"
    listed = (_example(example) for example in EXAMPLES)
    why = tag("noscript", tag("p", "Without JavaScript: a few questions, answered when the book was built."))
    examples = tag("div", why, *listed, class_="check-examples", data_part="examples")
    return tag(
        "div", _form(), examples, class_="tma check", data_check="", data_worker=worker, data_megabytes=megabytes
    )


def _example(example: Example) -> Markup:
    """The question, who asked it, the answer and the answer as JSON, behind one line."""
    made = json.loads(page_answer(example.text))
    plain = json.dumps(made["answer"]).replace("<", "\\u003c")
    source = None
    if example.source is not None:
        repository, number = example.source.split("#")
        address = f"https://github.com/{repository}/issues/{number}"
        source = tag("p", "After ", tag("a", example.source, href=address), class_="check-source")
    return tag(
        "details", tag("summary", example.title),
        tag("pre", example.text.rstrip("\n"), class_="check-question", tabindex="0"), source, Markup(made["html"]),
        tag("script", Markup(plain), type="application/json"), data_example=example.name,
    )  # fmt: skip


def _form() -> Markup:
    """Everything that needs the script; it shows the form when it runs."""
    none = tag("option", "your own text", value="")
    options = (tag("option", example.title, value=example.name) for example in EXAMPLES)
    choice = tag(
        "label", tag("span", "Example", class_="tma-legend"), tag("select", none, *options, data_part="example"),
        class_="tma-field check-choice",
    )  # fmt: skip
    radios = (tag("label", _input(arch.name), tag("span", arch.name)) for arch in ARCHES.values())
    measured = " and ".join(arch.name for arch in ARCHES.values() if arch.measured)
    arches = tag(
        "fieldset", tag("legend", f"Architecture (only {measured} was measured)"),
        tag("span", *radios, class_="tma-segments"), class_="tma-field",
    )  # fmt: skip
    text = (
        tag("label", "Your descriptor", for_="check-text", class_="tma-legend"),
        tag(
            "textarea", "", id="check-text", rows="12", data_part="text", spellcheck="false", autocapitalize="off",
            autocomplete="off", wrap="off", aria_describedby="check-note",
        ),
        tag("div", "", data_part="source", class_="check-from"),
    )  # fmt: skip
    row = tag(
        "div", tag("button", "Check", type="submit", data_part="load"), tag("p", "", data_part="note", id="check-note"),
        class_="check-row",
    )  # fmt: skip
    json_link = tag("a", "The answer as JSON", href="#", download="tmalab-answer.json", data_part="json")
    here = tag("a", "Link to this question", href="#", data_part="link")
    foot = tag(
        "div", tag("p", "", role="status", data_part="status"),
        tag("span", here, json_link, class_="tma-links", data_part="links", hidden=""), class_="tma-foot",
    )  # fmt: skip
    answer = tag("div", "", data_part="answer", class_="check-result", role="region", aria_label="Answer", hidden="")
    bar = tag("div", choice, arches, class_="tma-bar")
    ask = tag("div", *text, row, class_="check-ask")
    return tag("form", bar, ask, answer, foot, class_="check-form", data_part="form", hidden="")


def _input(arch: str) -> Markup:
    checked = " checked" if arch == "sm_90" else ""
    return Markup(f'<input type="radio" name="arch" value="{arch}"{checked}>')


def add_script_where_used(app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Load the script and the look on the page that holds the form, the rules' look on theirs, and on no other."""
    if doctree is None:
        return
    if any(RULE_CLASS in node["classes"] for node in doctree.findall(nodes.section)):
        app.add_css_file(f"{FOLDER}/rules.css", priority=950)
    if any(MARK in node.astext() for node in doctree.findall(nodes.raw)):
        app.add_css_file("tmalab/figures.css")
        app.add_css_file(f"{FOLDER}/page.css", priority=950)
        app.add_js_file(f"{FOLDER}/page.js", loading_method="defer")


def stage(app: Sphinx) -> None:
    """Write the script and the look where Sphinx copies static files from."""
    if app.builder.format == "html":
        staged = Path(app.doctreedir) / "tmalab-static" / FOLDER
        staged.mkdir(parents=True, exist_ok=True)
        for name in ("page.js", "page.css", "rules.css"):
            (staged / name).write_bytes((HERE / name).read_bytes())


def copy_worker_where_used(app: Sphinx, exception: Exception | None) -> None:
    """Copy what the click loads into the book, if a page has the form."""
    if exception or app.builder.format != "html" or not any(_METADATA in said for said in app.env.metadata.values()):
        return
    pyodide = python_worker.find_pyodide(Path(app.srcdir))
    if pyodide is not None:
        python_worker.write(pyodide, Path(app.outdir) / "_static" / python_worker.FOLDER)
