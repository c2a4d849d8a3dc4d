"""The still of "Parity": a column a tile, a row a moment, as parity.js lays them out.

                  tile 0   tile 1   …
before arming 0     no     [yes]        a yes is filled; the parity that the wait is given is framed
"""

from __future__ import annotations

from tmalab.figures.parity_state import LABELS, ParityState
from tmalab.figures.still import Still

_WIDTH, _HEIGHT, _GAP, _GROUP = 92, 26, 4, 9
_MARGIN, _LABEL, _TOP = 14, 190, 92


def draw(found: ParityState) -> str:
    """The SVG of one state."""
    tiles = found.spec["tiles"]
    rows = len(found.spec["rows"])
    groups = sum(1 for moment, _ in LABELS if moment)
    width = 2 * _MARGIN + _LABEL + tiles * (_WIDTH + _GAP)
    still = Still(width, _TOP + rows * (_HEIGHT + _GAP) + groups * _GROUP + _MARGIN, found.spec["title"])
    still.head(_MARGIN, 14, *found.rule())
    still.note(_MARGIN, 32, found.note())
    still.head(_MARGIN, 52, "tile and phase")
    still.note(_MARGIN, 68, "its parity")
    still.note(_MARGIN, 84, "the wait is given")
    for tile in range(tiles):
        middle = _left(tile) + _WIDTH / 2
        given = found.model["given"][tile]
        still.text(middle, 52, str(tile), "plain")
        still.text(middle, 68, str(tile % 2), "soft")
        still.text(middle, 84, str(given), "soft" if given % 2 == tile % 2 else "plain")
    top = float(_TOP)
    for row, (moment, _) in enumerate(LABELS):
        top += _GROUP if moment else 0
        still.head(_MARGIN, top + _HEIGHT / 2, moment)
        still.note(_MARGIN + 110, top + _HEIGHT / 2, LABELS[row][1])
        for tile in range(tiles):
            _cell(still, found, row, tile, top)
        top += _HEIGHT + _GAP
    return still.svg()


def _left(tile: int) -> float:
    return _MARGIN + _LABEL + tile * (_WIDTH + _GAP)


def _cell(still: Still, found: ParityState, row: int, tile: int, top: float) -> None:
    main, small, kind = found.shown(row, tile)
    left, view = _left(tile), found.state["view"]
    wrong = view != "model" and found.differs(row, tile)
    faded = view == "difference" and not wrong
    is_hot = (row, tile) == (found.state["row"], found.state["tile"])
    filled = kind == "yes" and not faded
    strong = kind in ("never", "stale", "half", "later") and not faded
    line = "wrong" if wrong else "hot" if is_hot or strong else "line"
    still.cell(
        left, top, _WIDTH, _HEIGHT, fill="ink" if filled else "none", line="" if filled and line == "line" else line
    )
    if found.used(row, tile):
        still.cell(left - 2, top - 2, _WIDTH + 4, _HEIGHT + 4, line="box")
    if wrong and view == "difference":
        small = f"≠ {found.predicted(row, tile)[0]}"
    ink = "soft" if faded or kind == "no" else "plain"
    text = f"{main} {small}".strip() if len(main) + len(small) < 14 else main
    still.text(left + _WIDTH / 2, top + _HEIGHT / 2, text, "label paper" if filled else ink)
