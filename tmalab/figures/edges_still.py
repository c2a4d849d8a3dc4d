"""The still of "At the edges": global memory, the engine and shared memory, as edges.js lays them out.

┌ Global memory ┐               ┌ Shared memory ┐
│ the tensor,   │  TMA engine   │ the box       │
│ the box       │       →       └───────────────┘
└───────────────┘
"""

from __future__ import annotations

from collections.abc import Sequence

from tmalab.figures.edges_state import EdgesState
from tmalab.figures.palette import tint
from tmalab.figures.still import Still

_WIDTH, _HEIGHT, _GAP = 34, 26, 2  # of a cell
_TOP, _MARGIN, _ENGINE, _LABELS = 70, 14, 130, 30


def draw(found: EdgesState) -> str:
    """The SVG of one state."""
    one = found.one
    _, _, cols, rows = one["window"]
    _, _, shared_cols, shared_rows = one["shared"]
    memory_x = _MARGIN + _LABELS
    shared_x = memory_x + cols * (_WIDTH + _GAP) + _ENGINE + _LABELS
    width = max(shared_x + shared_cols * (_WIDTH + _GAP), 9 * len(one["about"]) * 0.75) + _MARGIN
    still = Still(width, _TOP + max(rows, shared_rows, 5) * (_HEIGHT + _GAP) + _MARGIN, found.spec["title"])
    still.head(_MARGIN, 16, one["about"])
    note = found.count() if found.measured else "model, not measured"
    names = [f"{one['dtype']}", note] if found.is_load else [f"{one['dtype']}, {note}", "what is read"]
    still.head(memory_x, 38, "Global memory", names[0])
    still.head(shared_x, 38, "Shared memory", names[1])
    _grid(still, found, memory_x, cols, shared=False)
    _grid(still, found, shared_x, shared_cols, shared=True)
    _frames(still, found, memory_x)
    _words(still, found, shared_x - _LABELS - _ENGINE / 2, memory_x)
    return still.svg()


def _grid(still: Still, found: EdgesState, x: float, cols: int, *, shared: bool) -> None:
    """One of the two memories: the written one as the view has it, the other as it was."""
    one = found.one
    is_written = shared == found.is_load
    bits: Sequence[str] = found.shown if is_written else one["given"]
    numbers = {cell: number for number, cell in enumerate(one["shared_cells" if shared else "memory_cells"])}
    for cell, what in enumerate(bits):
        place = x + cell % cols * (_WIDTH + _GAP), _TOP + cell // cols * (_HEIGHT + _GAP)
        number = numbers.get(cell)
        wrong = is_written and found.wrong(cell)
        kind = one["kinds"][number] if number is not None else ""
        coloured = kind in ("in", "clip") and not (is_written and found.state["view"] == "difference" and not wrong)
        line = "wrong" if wrong else "hot" if number == found.number else "" if coloured else "line" if kind else ""
        if not what:
            continue
        if coloured or line:
            fill = tint(found.row(number)) if coloured and number is not None else "none"
            still.cell(*place, _WIDTH, _HEIGHT, fill=fill, line=line)
        main, small, _ = one["labels"][what]
        ink = ("label", "small") if coloured else ("plain", "soft") if kind else ("soft", "soft")
        middle = place[0] + _WIDTH / 2, place[1] + _HEIGHT / 2
        still.text(middle[0], middle[1] - (5 if small else 0), main, ink[1] if small else ink[0])
        still.text(middle[0], middle[1] + 6, small, ink[1])


def _frames(still: Still, found: EdgesState, x: float) -> None:
    """The outlines of the tensor and of the box."""
    left, top, _, _ = found.one["window"]
    for name, line in (("tensor", "hot"), ("box", "box")):
        column, row, width, height = found.one[name]
        still.cell(
            x + (column - left) * (_WIDTH + _GAP) - 1.5, _TOP + (row - top) * (_HEIGHT + _GAP) - 1.5,
            width * (_WIDTH + _GAP) + 1, height * (_HEIGHT + _GAP) + 1, line=line,
        )  # fmt: skip


def _words(still: Still, found: EdgesState, middle: float, x: float) -> None:
    """The numbers of columns, rows and bytes, and the operands between the two memories."""
    one = found.one
    left, top, cols, rows = one["window"]
    for column in range(cols):
        still.text(x + column * (_WIDTH + _GAP) + _WIDTH / 2, 58, str(left + column), "soft")
    for row in range(rows):
        still.text(x - 16, _TOP + row * (_HEIGHT + _GAP) + _HEIGHT / 2, str(top + row), "soft")
    first, _, shared_cols, shared_rows = one["shared"]
    for row in range(shared_rows):
        byte = first + row * shared_cols * one["bytes"]
        still.text(middle + _ENGINE / 2 + 14, _TOP + row * (_HEIGHT + _GAP) + _HEIGHT / 2, str(byte), "soft")
    still.head(middle, _TOP + 8, "TMA engine", anchor="middle")
    still.head(middle, _TOP + 26, "→" if found.is_load else "←", anchor="middle")
    for number, word in enumerate(one["engine"]):
        still.text(middle, _TOP + 46 + 16 * number, word, "soft")
