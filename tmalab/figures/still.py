"""Drawing a still: an SVG made of a few shapes, light and dark in one, for where no JavaScript runs.

    cells      rounded boxes, equal ones in one path each, so that 400 of them stay small
    labels     text in the middle of a cell

>>> still = Still(40, 20, "A cell")
>>> still.cell(1, 1, 38, 18, fill="#ee8866")
>>> still.text(20, 10, "5")
>>> still.svg().count("<path"), still.svg().count("<text")
(1, 1)
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from tmalab.figures.palette import INKS, MONO, ON_TINT


class Still:
    """A drawing `width` × `height` in units of a CSS pixel. Colours are names of `palette.INKS` or CSS colours."""

    def __init__(self, width: float, height: float, title: str):
        self.width, self.height, self.title = width, height, title
        self._cells: dict[tuple[str, str], list[str]] = {}
        self._texts: list[str] = []

    def cell(self, x: float, y: float, width: float, height: float, *, fill: str = "none", line: str = "") -> None:
        """A rounded box. `line`: "" none, "line" thin, "hot" strong, "wrong" dashed, "box" a dashed frame, "edge" thin
        in the text's colour.

        The `fill` "ink" is the text's colour, in light and dark.
        """
        inset = {"": 0, "line": 0.5, "edge": 0.6}.get(line, 1.5)
        wide, high = width - 2 * inset - 6, height - 2 * inset - 6
        corner = "a3 3 0 0 1"
        path = (
            f"M{x + inset + 3:g} {y + inset:g}h{wide:g}{corner} 3 3v{high:g}{corner}-3 3h{-wide:g}{corner}-3-3"
            f"v{-high:g}{corner} 3-3z"
        )
        self._cells.setdefault((fill, line), []).append(path)

    def block(self, x: float, y: float, width: float, height: float, fill: str) -> None:
        """A box with square corners: a fifth of a cell's text, for where there are hundreds."""
        self._cells.setdefault((fill, ""), []).append(f"M{x:g} {y:g}h{width:g}v{height:g}h{-width:g}z")

    def texts(self, xs: Iterable[float], y: float, texts: Iterable[str], kind: str = "label") -> None:
        """Texts on one line, each about its x: less to store than one by one."""
        spans = "".join(f"<tspan x='{x:g}'>{escape(text)}</tspan>" for x, text in zip(xs, texts, strict=True))
        self._texts.append(f"<text y='{y:g}' class='{kind}'>{spans}</text>")

    def bar(self, x: float, y: float, width: float, height: float, fill: str) -> None:
        """A box with square corners and no line: a few bytes, for where there are hundreds."""
        self._cells.setdefault((fill, ""), []).append(f"M{x:g} {y:g}h{width:g}v{height:g}h{-width:g}z")

    def text(self, x: float, y: float, text: str, kind: str = "label") -> None:
        """A text about (`x`, `y`). `kind`: "label" or "small" on a tint, "over" on ink, "plain" or "soft" elsewhere."""
        self._texts.append(f"<text x='{x:g}' y='{y:g}' class='{kind}'>{escape(text)}</text>")

    def note(self, x: float, y: float, text: str) -> None:
        """A soft text that begins at `x`."""
        self._texts.append(f"<text x='{x:g}' y='{y:g}' class='soft' style='text-anchor:start'>{escape(text)}</text>")

    def head(self, x: float, y: float, text: str, note: str = "", anchor: str = "start") -> None:
        """A heading that begins (or is centred, `anchor` "middle") at `x`, and a note after it."""
        note = f" <tspan class='soft'>{escape(note)}</tspan>" if note else ""
        self._texts.append(f"<text x='{x:g}' y='{y:g}' class='head' text-anchor='{anchor}'>{escape(text)}{note}</text>")

    def svg(self) -> str:
        """The whole drawing. Boxes without a line come first, then those with one, then the texts."""
        cells = sorted(
            self._cells.items(), key=lambda item: ("", "line", "edge", "box", "wrong", "hot").index(item[0][1])
        )
        paths = "\n".join(f"<path{_looks(line, fill)} d='{''.join(found)}'/>" for (fill, line), found in cells)
        texts = "\n".join(self._texts)
        style = _STYLE + (_BOX if any(line == "box" for _, line in self._cells) else "")
        style += _SOLID if any(fill == "ink" for fill, _ in self._cells) else ""
        style += _EDGE if any(line == "edge" for _, line in self._cells) else ""
        style += _OVER if "class='over'" in texts else ""
        return (
            f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {self.width:g} {self.height:g}' "
            f"width='{self.width:g}' height='{self.height:g}'>\n<title>{escape(self.title)}</title>\n"
            f"<style>{style}</style>\n<rect width='100%' height='100%' class='paper'/>\n{paths}\n{texts}\n</svg>\n"
        )


def _looks(line: str, fill: str) -> str:
    classes = " ".join(name for name in (line, "solid" if fill == "ink" else "") if name)
    return (f" class='{classes}'" if classes else "") + ("" if fill == "ink" else f" fill='{fill}'")


def _ink(scheme: int) -> str:
    ink = {name: colours[scheme] for name, colours in INKS.items()}
    return (
        f".paper{{fill:{ink['card']}}}.line{{stroke:{ink['line']}}}.hot{{stroke:{ink['ink']}}}"
        f".wrong{{stroke:{ink['warn']}}}.head,.plain{{fill:{ink['ink']}}}.soft{{fill:{ink['soft']}}}"
    )


_MONO = MONO.replace('"', "")
_STYLE = (
    f"text{{font:10px {_MONO};fill:{ON_TINT};dominant-baseline:central}}"
    ".label,.small,.plain,.soft{text-anchor:middle}"
    ".label,.plain{font-weight:600;font-size:12px}.small{font-size:9px}.head{font:600 13px system-ui,sans-serif}"
    ".head .soft{font-weight:400;font-size:12px}.hot{stroke-width:3}.wrong{stroke-width:2;stroke-dasharray:4 2}"
    f"{_ink(0)}@media (prefers-color-scheme:dark){{{_ink(1)}}}"
)
# Only a drawing that frames something has these.
_BOX = ".box{stroke-width:2;stroke-dasharray:4 2;stroke:%s}@media (prefers-color-scheme:dark){.box{stroke:%s}}"
_BOX %= INKS["accent"]
_SOLID = ".solid{fill:%s}@media (prefers-color-scheme:dark){.solid{fill:%s}}"
_SOLID %= INKS["ink"]
_EDGE = ".edge{stroke-width:1.2;stroke:%s}@media (prefers-color-scheme:dark){.edge{stroke:%s}}"
_EDGE %= INKS["ink"]
_OVER = ".over{text-anchor:middle;fill:%s}@media (prefers-color-scheme:dark){.over{fill:%s}}"
_OVER %= INKS["card"]
