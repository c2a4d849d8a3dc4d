"""The still of the figure "wgmma": shared memory, the descriptor, all rows small and eight of them large, as wgmma.js
lays them out.

┌ Shared memory ┐            ┌ What wgmma read ─────────┐
│ 64 lines of 8 │  wgmma  →  │ all rows │ eight of them │
└───────────────┘            └──────────────────────────┘
"""

from __future__ import annotations

from textwrap import wrap

from tmalab.figures.palette import tint
from tmalab.figures.still import Still
from tmalab.figures.wgmma_state import ACROSS, WgmmaState
from tmalab.figures.wgmma_tables import BAND, CHUNKS

_WIDTH, _HEIGHT, _GAP = 46, 28, 2  # of a large cell
_SMALL, _LOW = 14, 6  # of a small one
_TOP, _MARGIN, _LABELS, _ENGINE = 116, 14, 34, 130
_HEADS = _TOP - 36  # of the headings
_LETTERS = 16  # that fit between the two sides


def draw(found: WgmmaState) -> str:
    """The SVG of one state."""
    small = ACROSS * _SMALL
    all_x = _MARGIN + _LABELS + small + _ENGINE
    large_x = all_x + small + _LABELS + 6
    width = large_x + ACROSS * (_WIDTH + _GAP) + _MARGIN
    still = Still(width, _TOP + CHUNKS // ACROSS * _LOW + _MARGIN, found.spec["title"])
    still.head(_MARGIN, 16, found.tile["about"])
    still.head(_MARGIN, 34, found.descriptor["about"])
    still.head(_MARGIN, 52, found.result())
    _shared(still, found, _MARGIN + _LABELS)
    _wgmma(still, found, _MARGIN + _LABELS + small + _ENGINE / 2)
    still.head(all_x, _HEADS, "What wgmma read", found.note())
    for chunk, read in enumerate(found.read):
        if read == chunk:  # the others are left blank
            still.bar(all_x + chunk % ACROSS * _SMALL, _TOP + chunk // ACROSS * _LOW, _SMALL - 1, _LOW - 1, tint(read))
    still.cell(all_x - 3, _TOP - 3, small + 5, CHUNKS // ACROSS * _LOW + 5, line="line")
    still.cell(all_x - 2, _TOP + found.state["rows"] * _LOW - 2, small + 3, BAND * _LOW + 4, line="hot")
    _large(still, found, large_x)
    return still.svg()


def _shared(still: Still, found: WgmmaState, x: float) -> None:
    still.head(x - _LABELS, _HEADS, "Shared memory")
    read = found.byte(found.read[found.chunk])
    for place, chunk in enumerate(found.places):
        if chunk < 0:
            continue
        at = x + place % ACROSS * _SMALL, _TOP + place // ACROSS * _LOW
        still.bar(*at, _SMALL - 1, _LOW - 1, tint(chunk))
        if 16 * place == read:
            still.cell(at[0] - 2, at[1] - 2, _SMALL + 3, _LOW + 4, line="hot")
    for line in range(0, CHUNKS // ACROSS, 8):
        still.text(x - 18, _TOP + line * _LOW + 4, str(line * 128), "soft")


def _wgmma(still: Still, found: WgmmaState, x: float) -> None:
    still.head(x, _TOP + 8, "wgmma", anchor="middle")
    still.head(x, _TOP + 26, "→", anchor="middle")
    words = [f"{field} {value}" for field, value in found.descriptor["fields"]]
    if not found.measured and found.state["view"] != "model":
        words.append("not measured")
    words += ["a product of it:", *found.product().split(", ")]
    for number, line in enumerate(line for word in words for line in wrap(word, _LETTERS)):
        still.text(x, _TOP + 46 + 16 * number, line, "soft")


def _large(still: Still, found: WgmmaState, x: float) -> None:
    for column in range(ACROSS):
        still.text(x + column * (_WIDTH + _GAP) + _WIDTH / 2, _TOP - 12, f"{8 * column}–{8 * column + 7}", "soft")
    for number, chunk in enumerate(found.band):
        read, wrong = found.read[chunk], found.wrong(chunk)
        at = x + number % ACROSS * (_WIDTH + _GAP), _TOP + number // ACROSS * (_HEIGHT + _GAP)
        if number % ACROSS == 0:
            still.text(x - 16, at[1] + _HEIGHT / 2, str(chunk // ACROSS), "soft")
        faded = found.state["view"] == "difference" and not wrong
        line = "wrong" if wrong else "hot" if chunk == found.chunk else "box" if read != chunk else ""
        coloured = read >= 0 and not faded
        still.cell(
            *at, _WIDTH, _HEIGHT, fill=tint(read) if coloured else "none", line=line or ("line" if faded else "")
        )
        byte = found.byte(read)
        inks = ("label", "small") if coloured else ("plain", "soft")
        labels = (f"{read // ACROSS},{read % ACROSS * 8}" if read >= 0 else "?", "" if byte is None else str(byte))
        for label, ink, shift in zip(labels, inks, (-5, 7), strict=True):
            still.text(at[0] + _WIDTH / 2, at[1] + _HEIGHT / 2 + shift, label, ink)
