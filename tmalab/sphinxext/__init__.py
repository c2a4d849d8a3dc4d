"""The book's Sphinx extension: it puts the figures into pages that need no kernel, no network and no CDN.

    notebook output ──outputs──▶ page ──assets──▶ only the scripts it uses ──mend──▶ accessible HTML
                     ──figure_pages──▶ figures/NAME.html, the figure as a page of its own
    the rules ──rules_page──▶ the page of all rules        the checker ──check_page──▶ the page Check my descriptor

>>> from tmalab.sphinxext import setup
>>> setup.__module__
'tmalab.sphinxext'

Named in `_config.yml`; nothing else of the package imports it. The mends fit the theme's pinned version only, and
the accessibility test over the built book is their guard.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the steps and add the two directives. Sphinx calls this."""
    from tmalab.sphinxext import assets, check_page, figure_pages, mend, outputs, rules_page

    app.add_directive("tma-rules", rules_page.RulesDirective)
    app.add_directive("tma-check", check_page.CheckDirective)
    app.connect("builder-inited", assets.stage)
    app.connect("builder-inited", check_page.stage)
    app.connect("doctree-read", outputs.warn_of_dead_widgets)
    app.connect("doctree-read", outputs.mark_columns)
    app.connect("env-updated", outputs.drop_widget_state)
    app.connect("doctree-resolved", figure_pages.write)
    app.connect("html-page-context", assets.add_figures_where_used)
    app.connect("html-page-context", check_page.add_script_where_used)
    app.connect("html-page-context", assets.drop_mathjax_where_unused, priority=900)
    app.connect("build-finished", assets.copy_mathjax_where_used)
    app.connect("build-finished", assets.drop_unused_files)
    app.connect("build-finished", check_page.copy_worker_where_used)
    app.connect("build-finished", mend.write_index, priority=100)  # before the table of contents writes a bare one
    app.connect("build-finished", mend.mend_pages, priority=900)
    # Add 1 to env_version when a step before `env-updated` changes: pages read by an older one are then read again.
    return {"env_version": 1, "parallel_read_safe": True, "parallel_write_safe": True}
