"""The still of "Tiling and bank conflicts": the grid, shared memory, and the reads stacked on their banks.

┌ The grid ──────┐   ┌ Shared memory ─┐
│ 16 x 16 chunks │   │ g0     │ g1    │
└────────────────┘   └────────────────┘
┌ Eight reads on the banks S0 … S7 ───┐  what they cost
"""

from __future__ import annotations

from tmalab.figures.palette import tint
from tmalab.figures.still import Still
from tmalab.figures.tiling_state import TilingState, refusal
from tmalab.figures.tiling_tables import LINE_CHUNKS
from tmalab.model.swizzle import CHUNK_BYTES

_WIDTH, _HEIGHT, _GAP = 24, 20, 2  # of a cell
_MARGIN, _LABELS, _SPLIT, _TOP = 14, 34, 8, 114
_GROUP, _LEVEL = 76, 18  # of the chart: a bank group's width, a read's height
_ROWS = 16
_SHARED = _MARGIN + 18 + _ROWS * (_WIDTH + _GAP) + 20 + _LABELS
_BASE = _TOP + _ROWS * (_HEIGHT + _GAP) + 62  # where the chart begins


def draw(found: TilingState) -> str:
    """The SVG of one state."""
    levels = max(3, *map(len, found.stacks))
    width = _SHARED + _ROWS * (_WIDTH + _GAP) + _SPLIT + _LABELS + _MARGIN
    still = Still(width, _BASE + levels * _LEVEL + 62, found.spec["title"])
    for line, words in enumerate(_copy(found)):
        still.note(_MARGIN, 16 + 18 * line, words)
    _grid(still, found)
    _shared(still, found)
    _chart(still, found, levels)
    return still.svg()


def _copy(found: TilingState) -> list[str]:
    """The copy that filled shared memory, or the one that the driver refuses, and what is to be said of it."""
    copy = found.layout["maps"][found.dtype]
    if found.layout["refused"] is None:
        return [f"{copy['copy']}: accepted", copy["about"]]
    refused = found.layout["refused"][found.dtype]
    return [f"{refused['copy']}: {refusal(refused)}", f"{refused['rule']}: {refused['message']}", copy["about"]]


def _middle(column: int, left: float, split: float = 0) -> float:
    return left + column * (_WIDTH + _GAP) + _WIDTH / 2 + (split if column >= LINE_CHUNKS else 0)


def _y(row: int) -> float:
    return _TOP + row * (_HEIGHT + _GAP)


def _grid(still: Still, found: TilingState) -> None:
    left = _MARGIN + 18
    still.head(_MARGIN, 76, "The grid", "in global memory, 256 bytes a row")
    names = [str(column) for column in range(_ROWS)]
    for row in range(_ROWS):
        still.text(left - 12, _y(row) + _HEIGHT / 2, str(row), "soft")
        still.texts([_middle(column, left) for column in range(_ROWS)], _y(row) + _HEIGHT / 2, names)
        for column in range(_ROWS):
            chunk = row * _ROWS + column
            x, gone = _middle(column, left) - _WIDTH / 2, found.lost(chunk)
            if gone or found.state["view"] != "difference":
                still.block(x, _y(row), _WIDTH, _HEIGHT, tint(column))
            if gone or found.state["view"] == "difference":
                still.cell(x, _y(row), _WIDTH, _HEIGHT, line="wrong" if gone else "line")
    still.note(left, _y(_ROWS) + 12, found.spec["keys"][found.dtype])
    first, column = found.state["first_row"], found.state["column"]
    still.cell(
        _middle(column, left) - _WIDTH / 2 - 2, _y(first) - 2, _WIDTH + 4, len(found.reads) * (_HEIGHT + _GAP) + 2,
        line="hot",
    )  # fmt: skip


def _shared(still: Still, found: TilingState) -> None:
    notes = {"model": "as the model predicts it", "difference": found.count()}
    note = notes.get(found.state["view"], found.count() if found.unequal else "as the GPU left it")
    measured = found.measured or found.state["view"] == "model"
    still.head(_SHARED - _LABELS, 76, "Shared memory", note if measured else "model, not measured")
    split = _SPLIT if found.state["tiling"] == "yes" else 0
    middles = [_middle(column, _SHARED, split) for column in range(_ROWS)]
    still.texts(middles, 102, [f"S{column % LINE_CHUNKS}" for column in range(_ROWS)], "soft")
    for name, column in (("g0", 0), ("g1", LINE_CHUNKS)) if split else ():
        still.text(middles[column], 89, name, "soft")
    edges = [_SHARED - 18, middles[-1] + _WIDTH / 2 + 18]
    for row, starts in enumerate(found.layout["starts"]):
        y = _y(row) + _HEIGHT / 2
        still.texts(edges, y, [str(start * CHUNK_BYTES) for start in starts], "soft")
        places = [start + chunk for start in starts for chunk in range(LINE_CHUNKS)]
        _line(still, found, places, middles, _y(row))
    still.note(_SHARED, _y(_ROWS) + 12, found.layout["same"])


def _line(still: Still, found: TilingState, places: list[int], middles: list[float], y: float) -> None:
    """One drawn row of shared memory: two lines of 128 bytes."""
    plain: dict[float, str] = {}
    faded: dict[float, str] = {}
    for place, middle in zip(places, middles, strict=True):
        what, wrong = found.shown[place], found.wrong(place)
        x = middle - _WIDTH / 2
        equal = found.state["view"] == "difference" and not wrong
        if what >= 0 and not equal:
            still.block(x, y, _WIDTH, _HEIGHT, tint(what % _ROWS))
        line = "wrong" if wrong else "hot" if what in found.reads else "line" if equal or what < 0 else ""
        if line:
            still.cell(x, y, _WIDTH, _HEIGHT, line=line)
        (faded if equal or what < 0 else plain)[middle] = str(what % _ROWS) if what >= 0 else "?"
    for texts, kind in ((plain, "label"), (faded, "soft")):
        if texts:
            still.texts(texts, y + _HEIGHT / 2, texts.values(), kind)


def _chart(still: Still, found: TilingState, levels: int) -> None:
    """The reads on their bank groups, four banks wide, and the cost beside them."""
    left, top = _MARGIN + 32, _BASE + 34
    about = f"rows {found.state['first_row']} to {found.state['first_row'] + len(found.reads) - 1}"
    still.head(_MARGIN, _BASE - 14, "Eight reads of 16 bytes", f"column {found.state['column']}, {about}")
    for group, stack in enumerate(found.stacks):
        x = left + group * _GROUP
        for level, chunk in enumerate(stack):
            y = top + level * _LEVEL
            still.cell(x, y, _GROUP - 2, _LEVEL - 2, fill=tint(chunk))
            still.text(x + _GROUP / 2 - 1, y + _LEVEL / 2 - 1, f"row {chunk // _ROWS}")
        still.text(x + _GROUP / 2 - 1, _BASE + 8, f"S{group}", "plain")
        banks = [x + (bank + 0.5) * (_GROUP - 2) / 4 for bank in range(4)]
        still.texts(banks, _BASE + 24, [str(4 * group + bank) for bank in range(4)], "soft")
    still.note(_MARGIN, _BASE + 24, "bank")
    told = [found.layout["formula"], found.results(), *found.costs()]
    still.note(left, top + levels * _LEVEL + 12, found.pace())
    for line, words in enumerate(told):
        still.note(left + 8 * _GROUP + 16, _BASE + 16 * line + 8, words)
