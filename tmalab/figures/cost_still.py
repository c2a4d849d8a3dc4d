"""The still of *What does my access cost?*: the 32 banks as bars, and below them the words that the warp reads.

▇ . . . . .      words that bank 0 … 31 must deliver
0 1 2 3 4 …
L . . . . .      one cell a word, L the lane; a line of 128 bytes a row
"""

from __future__ import annotations

from tmalab.figures.cost_state import CostState
from tmalab.figures.palette import INKS, tint
from tmalab.figures.still import Still

BANKS = 32
_CELL, _HIGH, _GAP, _LABELS, _MARGIN = 20, 15, 1, 46, 14
_BARS, _TOP = 64, 62


def words_by_bank(found: CostState) -> list[int]:
    """How many distinct words each bank must deliver, up to the wavefront that is looked at."""
    wave = int(found.state["wave"])
    taken = {word for one in found.told["waves"][: wave or None] for word in one["words"]}
    return [sum(word % BANKS == bank for word in taken) for bank in range(BANKS)]


def lines(found: CostState) -> dict[int, dict[int, list[int]]]:
    """The 128-byte lines that are read: number of the line → bank → the lanes that read its word."""
    read: dict[int, dict[int, list[int]]] = {}
    for lane in range(len(found.told["addresses"])):
        for word in found.words(lane):
            read.setdefault(word // BANKS, {}).setdefault(word % BANKS, []).append(lane)
    return dict(sorted(read.items()))


def draw(found: CostState) -> str:
    """The SVG of one state."""
    width = _MARGIN * 2 + _LABELS + BANKS * (_CELL + _GAP)
    if found.error:
        still = Still(width, 60, found.spec["title"])
        still.head(_MARGIN, 22, found.verdict())
        return still.svg()
    read, counts = lines(found), words_by_bank(found)
    top = _TOP + _BARS + 26
    still = Still(width, top + len(read) * (_HIGH + _GAP) + _MARGIN, found.spec["title"])
    still.head(_MARGIN, 16, found.verdict(), found.paid())
    still.head(_MARGIN, 36, "Shared memory, 32 banks", "bar: words that the bank must deliver; cell: a word, its lane")
    scale = _BARS / max(2, *counts)
    for bank, count in enumerate(counts):
        x = _MARGIN + _LABELS + bank * (_CELL + _GAP)
        if count:
            still.cell(x + 1, _TOP + _BARS - count * scale, _CELL - 2, max(count * scale, 7), fill=INKS["accent"][0])
        if count and count == max(counts) and (bank == 0 or counts[bank - 1] != count):
            still.text(x + _CELL / 2, _TOP + _BARS - count * scale - 8, str(count), "plain")
        still.text(x + _CELL / 2, _TOP + _BARS + 10, str(bank), "soft")
    lit, hot = set(found.lanes), int(found.state["lane"])
    for at, (line, banks) in enumerate(read.items()):
        y = top + at * (_HIGH + _GAP)
        still.text(_MARGIN + 20, y + _HIGH / 2, str(line * 4 * BANKS), "soft")
        for bank, lanes in banks.items():
            x = _MARGIN + _LABELS + bank * (_CELL + _GAP)
            shown = bool(lit & set(lanes))
            fill = tint(found.told["places"][lanes[0]][1] // 16) if shown else "none"
            still.cell(x, y, _CELL, _HIGH, fill=fill, line="hot" if hot in lanes else "" if shown else "line")
            label = f"{lanes[0]}{'+' if len(lanes) > 1 else ''}"
            still.text(x + _CELL / 2, y + _HIGH / 2, label, "small" if shown else "soft")
    return still.svg()
