"""The still of "One tile, many front ends": the chosen way's tile in shared memory, its descriptor's fields beside it.

Triton device
┌ shared memory ─┐   field           asked      descriptor   the driver's own
│ 32 lines of 8  │   l2_promotion    none       none         none
└────────────────┘   box_bytes       4096       0          ≠ 4096
"""

from __future__ import annotations

from textwrap import wrap

from tmalab.figures.front_ends_state import LINE_CHUNKS, FrontEndsState
from tmalab.figures.palette import tint
from tmalab.figures.still import Still
from tmalab.figures.tile_tables import LINE

_WIDE, _HIGH, _GAP, _TOP, _MARGIN, _LABELS = 30, 13, 2, 62, 14, 34
_TABLE = _MARGIN + _LABELS + LINE_CHUNKS * (_WIDE + _GAP) + 30
_COLUMNS = (0, 128, 252, 376)
_WIDTH, _ROW = 860, 21


def draw(found: FrontEndsState) -> str:
    """The SVG of one state."""
    lines = found.spec["lines"]
    still = Still(_WIDTH, _TOP + lines * (_HIGH + _GAP) + _MARGIN, found.spec["title"])
    note = {"model": "as the model predicts it", "difference": "what differs from the model"}.get(
        found.state["view"], found.verdict(found.way)
    )
    still.head(_MARGIN, 20, found.way["name"], note)
    still.head(_MARGIN, 44, "Shared memory", f"{lines} lines of {LINE} bytes")
    if found.empty:
        _words(still, _MARGIN, _TOP + 16, f"{found.way['refused']['type']}: {found.way['refused']['message']}", 44)
    else:
        _shared(still, found)
    _fields(still, found)
    return still.svg()


def _shared(still: Still, found: FrontEndsState) -> None:
    left = _MARGIN + _LABELS
    for line in range(found.spec["lines"]):
        y = _TOP + line * (_HIGH + _GAP)
        still.text(left - 18, y + _HIGH / 2, str(line * LINE), "soft")
        for slot in range(LINE_CHUNKS):
            chunk = line * LINE_CHUNKS + slot
            wrong = chunk in found.unequal and found.state["view"] != "model"
            faded = found.state["view"] == "difference" and not wrong
            what = found.shown[chunk]
            fill = "none" if faded or what < 0 else tint(what % LINE_CHUNKS)
            outline = "hot" if chunk == found.chunk else "wrong" if wrong else "line" if faded or what < 0 else ""
            x = left + slot * (_WIDE + _GAP)
            still.cell(x, y, _WIDE, _HIGH, fill=fill, line=outline)
            still.text(x + _WIDE / 2, y + _HIGH / 2, found.labels(chunk)[0], "small" if fill != "none" else "soft")


def _fields(still: Still, found: FrontEndsState) -> None:
    still.head(_TABLE, 44, "Descriptor", "128 bytes, decoded")
    y: float = _TOP + 8
    for x, word in zip(_COLUMNS, ("field", "asked", "this descriptor", "the driver's own"), strict=True):
        still.note(_TABLE + x, y, word)
    for (field, *texts), mark in zip(found.way["fields"], found.marks(), strict=True):
        y += _ROW
        still.note(_TABLE, y, field)
        for column, text in enumerate(texts):
            sign = {"wrong": "≠ " if column == 2 else "", "own": "→ " if column == 1 else ""}.get(mark, "")
            still.note(_TABLE + _COLUMNS[column + 1], y, sign + text)
    unlike = found.way["unlike"]
    y += 1.5 * _ROW
    if unlike is not None:
        said = "byte for byte the driver's own" if not unlike else f"not the driver's own in {', '.join(unlike)}"
        still.note(_TABLE, y, f"{said}.")
    if found.way["call"]:
        y += _ROW
        _words(still, _TABLE, y, found.way["call"], 80)


def _words(still: Still, x: float, y: float, text: str, width: int) -> None:
    """A text broken into lines of at most `width` signs, 24 lines at most."""
    for number, line in enumerate(wrap(text, width)[:24]):
        still.note(x, y + 16 * number, line)
