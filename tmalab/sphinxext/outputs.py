"""Notebook outputs on their way into a page: a widget must have a form that lives without a kernel.

widget-view + text/html    the page takes text/html
widget-view alone          a warning, so that a build with -W fails
widget state               left out: it repeats every figure's code, and nothing in the page reads it
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sphinx.util import logging

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx

_LOG = logging.getLogger(__name__)
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


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
