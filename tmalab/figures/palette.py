"""The colours of every figure, once: a style sheet's custom properties and a drawing's fills are made from here.

    chunk column   0        1        2        3        4        5        6        7        8 is 0's again …
                   #77aadd  #99ddff  #44bb99  #bbcc33  #eedd88  #ee8866  #ffaabb  #c9b3e6

>>> tint(5), tint(13)
('#ee8866', '#ee8866')

The tints stay apart for colour-blind readers and carry black text; the number stands in the cell all the same.
"""

from __future__ import annotations

TINTS = ("#77aadd", "#99ddff", "#44bb99", "#bbcc33", "#eedd88", "#ee8866", "#ffaabb", "#c9b3e6")
ON_TINT = "#14181d"  # text on a tint or a shade, in light and dark alike
HATCH = "#ffffff66"  # stripes on a tint, where somebody stands still
# Times and other amounts, from little to much: greys, so that no shade is taken for a chunk's tint.
RAMP = ("#f3f5f7", "#e2e5e8", "#d1d5d9", "#c0c5ca", "#afb5bb", "#9ea5ac", "#8e959d", "#7e868e")

# name: (light, dark)
INKS = {
    "ink": ("#1b1f24", "#e8eaed"),
    "soft": ("#57606a", "#a9b1ba"),
    "line": ("#d0d7de", "#3a4048"),
    "paper": ("#ffffff", "#16181b"),
    "card": ("#f6f8fa", "#1e2125"),
    "accent": ("#0b5cad", "#8ec7ff"),
    "warn": ("#b42318", "#ff9d8f"),
}
MONO = 'ui-monospace, "SF Mono", Menlo, Consolas, monospace'

# What tells light from dark, where it is not the reader's system: the book's theme, JupyterLab, VS Code.
_SCHEMES = {
    "light": ('html[data-theme="light"]', '[data-jp-theme-light="true"]', "body.vscode-light"),
    "dark": ('html[data-theme="dark"]', '[data-jp-theme-light="false"]', "body.vscode-dark"),
}


def tint(column: int) -> str:
    """The colour of the 16-byte chunks of that column."""
    return TINTS[column % len(TINTS)]


def palette_css() -> str:
    """The custom properties `--tma-c0` …, `--tma-r0` …, `--tma-ink` and so on, light and dark, as a style sheet."""
    inks = {name: f"light-dark({light}, {dark})" for name, (light, dark) in INKS.items()}
    tints = {f"c{column}": colour for column, colour in enumerate(TINTS)}
    ramp = {f"r{shade}": colour for shade, colour in enumerate(RAMP)}
    names = {**inks, **tints, **ramp, "on-tint": ON_TINT, "hatch": HATCH, "mono": MONO}
    properties = "".join(f"  --tma-{name}: {value};\n" for name, value in names.items())
    schemes = "".join(
        f":is({', '.join(places)}) :is(.tma-host, .tma) {{ color-scheme: {scheme}; }}\n"
        for scheme, places in _SCHEMES.items()
    )
    return f".tma-host, .tma {{\n  color-scheme: light dark;\n{properties}}}\n{schemes}"
