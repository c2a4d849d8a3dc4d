"""The still of "Many atoms in one copy": the matrix, the engine's line and shared memory, as atoms.js lays them out.

┌ Global memory ┐   ┌ Shared memory ┐
│ g0   g1       │ → │ g0  │ g1      │   128 bytes a line, an atom framed on both sides
└───────────────┘   └───────────────┘
"""

from __future__ import annotations

from tmalab.figures.atoms_state import AtomsState
from tmalab.figures.atoms_tables import SLICE_CHUNKS
from tmalab.figures.palette import tint
from tmalab.figures.still import Still
from tmalab.figures.tile_state import LINE_CHUNKS
from tmalab.figures.tile_tables import LINE, UNTOUCHED

_WIDTH, _HEIGHT, _GAP, _THIN = 24, 22, 2, 3  # of a cell; how wide a chunk beside the slice is
_TOP, _MARGIN, _LABEL, _AFTER, _BETWEEN = 74, 14, 30, 22, 26
_ROWS, _ATOM_ROWS, _TINTS = 16, 8, 8
_ROW = _HEIGHT + _GAP
_PANEL = _LABEL + LINE_CHUNKS * (_WIDTH + _GAP) + _AFTER


def draw(found: AtomsState) -> str:
    """The SVG of one state."""
    source = _LABEL + SLICE_CHUNKS * (_WIDTH + _GAP + _THIN)
    lines = 0 if found.refused is not None else found.one["lines"]
    panels = 4 if lines > 32 else 2
    beside = panels == 2
    x = _MARGIN + source + _BETWEEN if beside else _MARGIN
    y = _TOP if beside else _TOP + _ROWS * _ROW + 60
    width = max(x + panels * _PANEL, _MARGIN + source) + _MARGIN
    still = Still(width, y + max(lines // panels, _ROWS if beside else 0) * _ROW + _MARGIN, found.spec["title"])
    _engine(still, found)
    _source(still, found)
    still.head(x, y - 34, "Shared memory", found.note())
    if found.refused is not None:
        _refusal(still, found, x, y)
    else:
        _shared(still, found, x, y, lines // panels)
    return still.svg()


def _engine(still: Still, found: AtomsState) -> None:
    chosen = ("3-D", "2-D").index(found.state["copies"])
    fields = dict(zip(found.spec["fields"], found.fields, strict=True))
    words = [f"coords {fields['coords'][chosen]}", f"box {fields['box_dim'][chosen]}"]
    words.append("refused" if found.refused is not None else f"{fields['bytes counted'][chosen]} bytes")
    times = f"{found.one['groups']} × " if chosen and found.one["groups"] > 1 else ""
    still.head(_MARGIN, 16, "TMA engine", f"{times}cp.async.bulk.tensor.{3 - chosen}d · {' · '.join(words)}")


def _cell(still: Still, found: AtomsState, place: tuple[float, float], number: int, *, wrong: bool, hot: bool) -> None:
    """One chunk of the slice, whatever side it is on: number and tint say which it is of its 128 bytes."""
    faded = found.state["view"] == "difference" and not wrong and found.refused is None
    line = "wrong" if wrong else "hot" if hot else "line" if faded else ""
    still.cell(*place, _WIDTH, _HEIGHT, fill="none" if faded else tint(number), line=line)
    kind = "soft" if faded else "label"
    still.text(place[0] + _WIDTH / 2, place[1] + _HEIGHT / 2, str(number % _TINTS), kind)


def _source(still: Still, found: AtomsState) -> None:
    marked = "framed" if found.state["view"] == "difference" and found.refused is None else "in colour"
    still.head(_MARGIN, 40, "Global memory", f"{found.spec['matrix']['label']}, the slice {marked}")
    first = found.state["col"] // 8
    left = _MARGIN + _LABEL + (SLICE_CHUNKS * _THIN if first else 0)
    beside = _MARGIN + _LABEL if first else left + SLICE_CHUNKS * (_WIDTH + _GAP)
    for row in range(_ROWS):
        y = _TOP + row * _ROW
        still.text(_MARGIN + 14, y + _HEIGHT / 2, str(row), "soft")
        still.cell(beside, y, SLICE_CHUNKS * _THIN - _GAP, _HEIGHT, line="line")
        for chunk in range(SLICE_CHUNKS):
            number = row * SLICE_CHUNKS + chunk
            wrong = found.refused is None and found.wrong(found.target[number])
            hot = number == found.number and found.refused is None
            _cell(still, found, (left + chunk * (_WIDTH + _GAP), y), number, wrong=wrong, hot=hot)
    width, tall = found.one["width"], _ATOM_ROWS if found.one.get("atom") else _ROWS
    for group in range(found.one["groups"]):
        x = left + group * width * (_WIDTH + _GAP)
        still.text(x + width * (_WIDTH + _GAP) / 2, _TOP - 12, f"g{group}", "plain")
        for row in range(0, _ROWS, tall):
            _frame(still, x, _TOP + row * _ROW, width, tall)


def _frame(still: Still, x: float, y: float, cells: int, rows: int) -> None:
    still.cell(x - 1.5, y - 1.5, cells * (_WIDTH + _GAP) + 1, rows * _ROW + 1, line="box")


def _refusal(still: Still, found: AtomsState, x: float, y: float) -> None:
    """The rule that is broken, a few words a line."""
    words = found.sentence().split()
    for number in range(0, len(words), 6):
        still.head(x, y + 12 + 20 * (number // 6), " ".join(words[number : number + 6]))


def _shared(still: Still, found: AtomsState, x: float, y: float, per_panel: int) -> None:
    """The lines of shared memory, panel beside panel, and a frame around each atom, or group where there is none."""
    lines = found.one["lines"]
    per_group = lines // found.one["groups"]
    for line in range(lines):
        panel, row = divmod(line, per_panel)
        left, top = x + panel * _PANEL + _LABEL, y + row * _ROW
        still.text(left - 17, top + _HEIGHT / 2, str(line * LINE), "soft")
        if line % per_group == 0:
            still.text(left + LINE_CHUNKS * (_WIDTH + _GAP) + 9, top + _HEIGHT / 2, f"g{line // per_group}", "plain")
        for slot in range(LINE_CHUNKS):
            _place(still, found, (left + slot * (_WIDTH + _GAP), top), line * LINE_CHUNKS + slot)
    for slot in range(LINE_CHUNKS):
        still.text(x + _LABEL + slot * (_WIDTH + _GAP) + _WIDTH / 2, y - 10, str(slot), "soft")
    tall = found.one["atom"] // LINE or per_group
    for line in range(0, lines, tall):
        panel, row = divmod(line, per_panel)
        _frame(still, x + panel * _PANEL + _LABEL, y + row * _ROW, LINE_CHUNKS, tall)


def _place(still: Still, found: AtomsState, at: tuple[float, float], place: int) -> None:
    what, wrong = found.shown[place], found.wrong(place)
    if what >= 0:
        _cell(still, found, at, what, wrong=wrong, hot=what == found.number)
        return
    still.cell(*at, _WIDTH, _HEIGHT, line="wrong" if wrong else "line")
    if wrong:
        seen = found.spec["background"] if what == UNTOUCHED else found.changed[place]["is"]
        still.text(at[0] + _WIDTH / 2, at[1] + _HEIGHT / 2, seen, "plain")
