"""Notebook outputs on their way into a page: a widget must have a form that lives without a kernel.

widget-view + text/html    the page takes text/html
widget-view alone          a warning, so that a build with -W fails
widget state               left out: it repeats every figure's code, and nothing in the page reads it
printed columns            marked: on a phone they move sideways, where a sentence wraps
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from sphinx.util import logging

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx

_LOG = logging.getLogger(__name__)
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
_GAP = re.compile(r"(?<=\S) {2,}(?=\S)")


def warn_of_dead_widgets(app: Sphinx, doctree: nodes.document) -> None:
    """Warn of each widget output that has no text/html form: in the book it would show nothing."""
    for node in doctree.findall():
        if not hasattr(node, "get") or node.get("nb_element") != "mime_bundle":
            continue
        mime_types = {child["mime_type"] for child in node.children}
        if WIDGET_VIEW in mime_types and "text/html" not in mime_types:
            _LOG.warning("widget output without a text/html form shows nothing in the book", location=node)


def drop_widget_state(app: Sphinx, env: Any) -> None:
    """Keep the notebooks' widget state out of the pages."""
    for metadata in getattr(env, "nb_metadata", {}).values():
        scripts = metadata.get("js_files", {})
        for name in [name for name in scripts if name.startswith("ipywidgets_")]:
            del scripts[name]


def is_columns(text: str) -> bool:
    """Whether printed text is a table: two lines or more, and most with three columns, two spaces or more apart.

    >>> is_columns("stages 1   0.660 ms   80%\\nstages 2   0.541 ms   97%"), is_columns("a sentence\\nand  another")
    (True, False)
    """
    lines = [line for line in text.splitlines() if line.strip()]
    return len(lines) > 1 and sum(len(_GAP.findall(line)) >= 2 for line in lines) * 2 >= len(lines)


def mark_columns(app: Sphinx, doctree: nodes.document) -> None:
    """Give printed tables the class `columns`, by which the style keeps their lines whole."""
    for node in doctree.findall():
        if hasattr(node, "get") and "stream" in node.get("classes", ()) and is_columns(node.astext()):
            node["classes"].append("columns")
