"""The last step, on finished pages: mend what the accessibility check finds in the theme's HTML.

each mend: (the axe rule it answers, what the theme wrote, what stands there instead)
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

# Found by axe-core on sphinx-book-theme 1.3.0, pydata-sphinx-theme 0.17.1 and myst-nb 1.4.0.
_MENDS = [
    (
        "label-content-name-mismatch: the button's own text is its name",
        re.compile(r'(<button class="btn search-button-field[^>]*?) title="Search" aria-label="Search"'),
        r"\1",
    ),
    (
        "label-content-name-mismatch: likewise, where a cell is folded",
        re.compile(r'<summary aria-label="Toggle hidden content">'),
        "<summary>",
    ),
    (
        "region: the contents stand in a landmark",
        re.compile(r'<div id="pst-primary-sidebar" class='),
        '<div id="pst-primary-sidebar" role="complementary" aria-label="Book" class=',
    ),
    (
        "not accessibility: 1.5 MB of script that draws the icons the font draws already",
        re.compile(
            r'<!-- So that users can add custom icons -->\s*<script defer src="[^"]*fontawesome\.js[^"]*"></script>'
        ),
        "",
    ),
]

_INDEX = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
<meta http-equiv="refresh" content="0; url={url}">
<link rel="canonical" href="{url}">
</head>
<body><main><h1>{title}</h1><p><a href="{url}">Open the book</a></p></main></body>
</html>
"""


def write_index(app: Sphinx, exception: Exception | None) -> None:
    """Write `index.html`, which leads to the first chapter: with a title, a language and a link to follow."""
    if exception or app.builder.name != "html" or app.config.root_doc == "index":
        return
    first = app.builder.get_target_uri(app.config.root_doc)
    page = _INDEX.format(title=escape(app.config.html_title), url=first)
    (Path(app.outdir) / "index.html").write_text(page, encoding="utf8")


def mend_pages(app: Sphinx, exception: Exception | None) -> None:
    """Apply every mend to every page. Pages that an earlier build mended stay as they are."""
    if exception or app.builder.format != "html":
        return
    outdir = Path(app.outdir)
    for path in outdir.rglob("*.html"):
        if "_static" in path.relative_to(outdir).parts:
            continue
        before = after = path.read_text(encoding="utf8")
        for _, pattern, instead in _MENDS:
            after = pattern.sub(instead, after)
        if after != before:
            path.write_text(after, encoding="utf8")
