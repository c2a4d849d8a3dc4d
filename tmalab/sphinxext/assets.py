"""Scripts, styles and fonts of the built book: all of its own, and on a page only what that page uses.

every page          book.css                    the book's look, over the theme's
a page of figures   figures.js, figures.css     what all share; figures/NAME.js for each that the page shows
a page of formulas  MathJax and its fonts       2 MB of the 23 MB that the package brings
dropped             an icon script of 1.5 MB (the icons come from the font), source maps, translations
"""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes

from tmalab.figures.bundle import bundle_css, figure_js, figures, figures_in, shared_js
from tmalab.sphinxext import python_worker

if TYPE_CHECKING:
    from sphinx.application import Sphinx

HERE = Path(__file__).parent
_MATHJAX_PARTS = ("tex-chtml.js", "output/chtml/fonts")
_UNUSED = ("scripts/fontawesome.js*", "**/*.map", "**/*.LICENSE.txt", "locales", "vendor/fontawesome/webfonts/fa-[!s]*")


def stage(app: Sphinx) -> None:
    """Write the book's own static files where Sphinx will copy them from, and tell it so."""
    if app.builder.format != "html":
        return
    staged = Path(app.doctreedir) / "tmalab-static"
    (staged / "tmalab" / "figures").mkdir(parents=True, exist_ok=True)
    (staged / "tmalab" / "figures.js").write_text(shared_js(_python(Path(app.srcdir))), encoding="utf8")
    for name in figures():
        (staged / "tmalab" / "figures" / f"{name}.js").write_text(figure_js(name), encoding="utf8")
    (staged / "tmalab" / "figures.css").write_text(bundle_css(), encoding="utf8")
    shutil.copy(HERE / "book.css", staged / "tmalab" / "book.css")
    app.config.html_static_path.append(str(staged))
    app.config.mathjax_path = "mathjax/tex-chtml.js"
    app.add_css_file("tmalab/book.css", priority=900)


def _python(srcdir: Path) -> dict[str, str] | None:
    """Where figures find the worker, from their script's folder, and what a click brings; None without Pyodide."""
    pyodide = python_worker.find_pyodide(srcdir)
    if pyodide is None:
        return None
    address = python_worker.address("").removeprefix("_static/tmalab/")
    return {"address": address, "megabytes": f"{python_worker.transferred_bytes(pyodide) / 1e6:.1f}"}


def add_figures_where_used(app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Load the figures' script on a page that holds one, and the own script of each that it holds."""
    raw = "" if doctree is None else "".join(node.astext() for node in doctree.findall(nodes.raw))
    names = figures_in(raw)
    if names:
        app.add_css_file("tmalab/figures.css")
        for script in ("figures.js", *(f"figures/{name}.js" for name in names)):
            app.add_js_file(f"tmalab/{script}", loading_method="defer")  # in this order, each before it is needed


def drop_mathjax_where_unused(app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Take MathJax off a page without a formula: Sphinx loads it on a page that merely lists one in its contents."""
    found = () if doctree is None else doctree.findall(lambda node: isinstance(node, nodes.math | nodes.math_block))
    if not any(True for _ in found):
        scripts = context.get("script_files", [])
        context["script_files"] = [script for script in scripts if "mathjax" not in _described(script)]


def _described(script: Any) -> str:
    return f"{getattr(script, 'filename', script)} {getattr(script, 'attributes', {}).get('body', '')}".lower()


def copy_mathjax_where_used(app: Sphinx, exception: Exception | None) -> None:
    """Copy MathJax into the book if any page has a formula."""
    if exception or app.builder.format != "html" or not any(app.env.get_domain("math").data["has_equations"].values()):
        return
    spec = find_spec("sphinx-mathjax-offline")  # the hyphens are the module's own
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError("formulas need MathJax: pip install sphinx-mathjax-offline")
    source = Path(spec.submodule_search_locations[0]) / "static" / "mathjax"
    target = Path(app.outdir) / "_static" / "mathjax"
    for part in _MATHJAX_PARTS:
        (target / part).parent.mkdir(parents=True, exist_ok=True)
        if (source / part).is_dir():
            shutil.copytree(source / part, target / part, dirs_exist_ok=True)
        else:
            shutil.copy(source / part, target / part)


def drop_unused_files(app: Sphinx, exception: Exception | None) -> None:
    """Delete the theme's files that no page of the book asks for."""
    if exception or app.builder.format != "html":
        return
    static = Path(app.outdir) / "_static"
    for path in [path for pattern in _UNUSED for path in static.glob(pattern)]:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
