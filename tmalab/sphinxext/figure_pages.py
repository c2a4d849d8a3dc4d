"""`figures/NAME.html`: a figure as a page of its own, with nothing around it but its title and the way back.

chapters/02-swizzle.html#…   ──"open as a page"──▶   figures/tile.html#…   the same state, the whole window
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes

from tmalab.figures.bundle import figures_in

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_PAGE = re.compile(r'<div class="tma-host"[^>]*? data-tma-page="([\w-]+)"')
_TITLE = re.compile(r'data-tma-title="([^"]*)"')

# The theme remembers the reader's choice of light or dark under "mode"; this page follows it.
_TEMPLATE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} · {book}</title>
<link rel="icon" href="../_static/favicon.svg">
<link rel="stylesheet" href="../_static/tmalab/book.css">
<link rel="stylesheet" href="../_static/tmalab/figures.css">
<script>
const mode = localStorage.getItem("mode");
if (mode === "light" || mode === "dark") document.documentElement.dataset.theme = mode;
</script>
<script defer src="../_static/tmalab/figures.js"></script>
<script defer src="../_static/tmalab/figures/{esm}.js"></script>
</head>
<body class="figure-page">
<main>
<h1>{title}</h1>
{figure}
<p><a href="{back}">Back to the chapter “{chapter}”</a></p>
</main>
</body>
</html>
"""


def write(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Write the page of each figure in `doctree` that has one, and tell the figure where that page is."""
    if app.builder.format != "html":
        return
    folder = Path(app.outdir) / "figures"
    for node in doctree.findall(nodes.raw):
        found = _PAGE.search(node.astext())
        if not found:
            continue
        title = _TITLE.search(node.astext())
        page = _TEMPLATE.format(
            title=title.group(1) if title else found.group(1), book=app.config.html_title, figure=node.astext(),
            esm=figures_in(node.astext())[0],
            back="../" + app.builder.get_target_uri(docname), chapter=app.env.titles[docname].astext(),
        )  # fmt: skip
        address = app.builder.get_relative_uri(docname, "figures/" + found.group(1))
        linked = f'{found.group(0)} data-tma-href="{address}"'
        node[0] = nodes.Text(node.astext().replace(found.group(0), linked, 1))
        folder.mkdir(exist_ok=True)
        (folder / f"{found.group(1)}.html").write_text(page, encoding="utf8")
