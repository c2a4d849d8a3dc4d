"""The figures' JavaScript and CSS, put together in the two forms in which a page can take them.

    geometry.js ─┐               esm("tile")         one ES module, for anywidget: geometry, kit and the figure's own
    kit.js ──────┼─ tile.js ──▶  shared_js()         for the built book: geometry, kit and the host, once a page
    host.js ─────┘               figure_js("tile")   and what this figure adds, only on a page that shows it

>>> shared_js().count("function segments(") == esm("tile").count("function segments(") == 1
True
>>> "function segments(" in figure_js("tile")
False

Both are made from the same lines, so a figure cannot behave differently in the book and in a notebook. The book's are
classic scripts: they run from file:// too, as no module does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
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
_EXPORTED = re.compile(r"^export (?:const|function|class) (\w+)", re.MULTILINE)
_FROM_SHARED = re.compile(r'^import \{ (.*) \} from "\./(?:geometry|kit)\.js";$', re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*//.*\n", re.MULTILINE)


def _text(name: str) -> str:
    return (STATIC / f"{name}.js").read_text(encoding="utf-8")


def _joined(*names: str) -> str:
    return "".join(_COMMENT.sub("", _EXPORT.sub("", _IMPORT.sub("", _text(name)))) for name in names)


def _own(name: str) -> list[str]:
    """The modules that only this figure needs, each after what it imports, itself last."""
    found: list[str] = []
    for other in _IMPORT.findall(_text(name)):
        found += [one for one in _own(other) if one not in SHARED and one not in found] if other not in SHARED else []
    return [*found, name]


def figures() -> list[str]:
    """The names of all figures: the scripts that export one. A new figure needs no entry anywhere."""
    names = sorted(path.stem for path in STATIC.glob("*.js"))
    return [name for name in names if _DEFAULT.search(_text(name))]


def esm(name: str) -> str:
    """The ES module of one figure, whole: what anywidget runs in a notebook."""
    return _joined(*SHARED, *_own(name))


def shared_js(python: Mapping[str, str] | None = None) -> str:
    """The classic script that every page with a figure loads first: the kit, and the host that mounts figures.

    `python` tells figures that compute where a worker can be had: its `address`, from the script's own folder, and how
    many `megabytes` a reader's click brings.
    """
    given = f"const PYTHON = {json.dumps(dict(python))};\n" if python else ""
    names = ", ".join(name for module in SHARED for name in _EXPORTED.findall(_text(module)))
    kit = f"const kit = {{ {names} }};\n"
    return f'(() => {{\n"use strict";\n{given}{_joined(*SHARED)}{kit}{_joined("host")}}})();\n'


def figure_js(name: str) -> str:
    """The classic script of one figure, loaded after the shared one: it hands its module to the host."""
    own = _own(name)
    lines = [line for module in own for line in _FROM_SHARED.findall(_text(module))]
    taken = sorted({word.strip() for line in lines for word in line.split(",")})
    body = _DEFAULT.sub("return ", _joined(*own))
    return f'tmalab.figure("{name}", (kit) => {{\n"use strict";\nconst {{ {", ".join(taken)} }} = kit;\n{body}}});\n'


def bundle_js(names: Iterable[str] | None = None, python: Mapping[str, str] | None = None) -> str:
    """One classic script for a page that is made at once: the shared part and the figures `names` (default: all)."""
    return "".join([shared_js(python), *map(figure_js, figures() if names is None else names)])


def figures_in(html: str) -> list[str]:
    """The names of the figures that stand in a piece of a page, each once, in its order."""
    return list(dict.fromkeys(re.findall(r'data-tma-esm="(\w+)"', html)))


def bundle_css() -> str:
    """The style sheet of all figures."""
    others = sorted(path.stem for path in STATIC.glob("*.css") if path.stem != "base")
    sheets = [(STATIC / f"{name}.css").read_text(encoding="utf-8") for name in ("base", *others)]
    return palette_css() + "".join(sheets)


def standalone_page(title: str, figures: str) -> str:
    """A complete HTML page that holds `figures` (their text/html) and all that they need, in one file."""
    script = bundle_js(figures_in(figures)).replace("</script", "<\\/script")
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
