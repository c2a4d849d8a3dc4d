"""The figures' JavaScript and CSS, put together in the two forms in which a page can take them.

    geometry.js ─┐               esm("tile")   one ES module, for anywidget: geometry, kit and the figure's own
    kit.js ──────┼─ tile.js ──▶  bundle_js()   one classic script, for the built book: geometry and kit once, every
    host.js ─────┘                             figure, the static host; it runs from file:// too, as no module does

>>> bundle_js().count("function segments(") == esm("tile").count("function segments(") == 1
True

Both are made from the same lines, so a figure cannot behave differently in the book and in a notebook.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from html import escape
from pathlib import Path

from tmalab.figures.palette import palette_css

STATIC = Path(__file__).parent / "static"
SHARED = ("geometry", "kit")

# The files are modules of their own for editors and for node; joined, they share one scope. House rule: an import
# or an export begins its line, and an import is one line.
_IMPORT = re.compile(r'^import .* from "\./([\w-]+)\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?!default)", re.MULTILINE)
_DEFAULT = re.compile(r"^export default ", re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*//.*\n", re.MULTILINE)


def _text(name: str) -> str:
    return (STATIC / f"{name}.js").read_text(encoding="utf-8")


def _joined(*names: str) -> str:
    return "".join(_COMMENT.sub("", _EXPORT.sub("", _IMPORT.sub("", _text(name)))) for name in names)


def _own(name: str) -> list[str]:
    """The modules that only this figure needs, itself last."""
    return [*(found for found in _IMPORT.findall(_text(name)) if found not in SHARED), name]


def figures() -> list[str]:
    """The names of all figures: the scripts that export one. A new figure needs no entry anywhere."""
    names = sorted(path.stem for path in STATIC.glob("*.js"))
    return [name for name in names if _DEFAULT.search(_text(name))]


def esm(name: str) -> str:
    """The ES module of one figure, whole: what anywidget runs in a notebook."""
    return _joined(*SHARED, *_own(name))


def bundle_js(python: Mapping[str, str] | None = None) -> str:
    """The classic script of the built book: every figure and the host that mounts them without a kernel.

    `python` tells figures that compute where a worker can be had: its `address`, from the script's own folder, and how
    many `megabytes` a reader's click brings.
    """
    modules = "".join(
        f"figures.{name} = (() => {{\n{_DEFAULT.sub('return ', _joined(*_own(name)))}}})();\n" for name in figures()
    )
    shared = (f"const PYTHON = {json.dumps(dict(python))};\n" if python else "") + _joined(*SHARED)
    return f'(() => {{\n"use strict";\n{shared}const figures = {{}};\n{modules}{_joined("host")}}})();\n'


def bundle_css() -> str:
    """The style sheet of all figures."""
    others = sorted(path.stem for path in STATIC.glob("*.css") if path.stem != "base")
    sheets = [(STATIC / f"{name}.css").read_text(encoding="utf-8") for name in ("base", *others)]
    return palette_css() + "".join(sheets)


def standalone_page(title: str, figures: str) -> str:
    """A complete HTML page that holds `figures` (their text/html) and all that they need, in one file."""
    script = bundle_js().replace("</script", "<\\/script")
    return _PAGE.format(title=escape(title), style=bundle_css(), figures=figures, script=script)


_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}
:root {{ color-scheme: light dark; }}
body {{ margin: 1rem; background: light-dark(#fff, #16181b); color: light-dark(#1b1f24, #e8eaed); }}
h1 {{ font: 600 1.3rem system-ui, sans-serif; }}
@media print {{ :root {{ color-scheme: light; }} }}
</style>
</head>
<body>
<main>
<h1>{title}</h1>
{figures}
</main>
<script>
{script}</script>
</body>
</html>
"""
