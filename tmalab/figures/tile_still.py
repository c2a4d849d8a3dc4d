"""The still of Figure 1: the tensor, the engine and shared memory in one drawing, as tile.js lays them out.

┌ Global memory ─┐              ┌ Shared memory ─┐
│ 16 × 16 chunks │  TMA engine  │ 16 lines of 8  │ XOR
└────────────────┘              └────────────────┘
"""

from __future__ import annotations

from tmalab.figures.palette import tint
from tmalab.figures.still import Still
from tmalab.figures.tile_state import LINE_CHUNKS, TileState
from tmalab.figures.tile_tables import CHUNK, TENSOR_CHUNKS, TENSOR_ROWS, UNTOUCHED

_WIDTH, _HEIGHT, _GAP = 34, 26, 2  # of a cell
_TOP, _MARGIN, _ENGINE, _LABELS = 44, 14, 116, 34


def draw(found: TileState) -> str:
    """The SVG of one state."""
    rows = max([TENSOR_ROWS, *(chunk // LINE_CHUNKS + 1 for chunk in found.compared)])
    shared_x = _MARGIN + TENSOR_CHUNKS * (_WIDTH + _GAP) + _ENGINE + _LABELS
    width = shared_x + LINE_CHUNKS * (_WIDTH + _GAP) + 30 + _MARGIN
    still = Still(width, _TOP + rows * (_HEIGHT + _GAP) + _MARGIN, found.spec["title"])
    _tensor(still, found)
    _engine(still, found, _MARGIN + TENSOR_CHUNKS * (_WIDTH + _GAP) + _ENGINE / 2 - 4)
    _shared(still, found, shared_x, rows)
    return still.svg()


def _place(x: float, at: int, cols: int) -> tuple[float, float]:
    return x + at % cols * (_WIDTH + _GAP), _TOP + at // cols * (_HEIGHT + _GAP)


def _cell(still: Still, x: float, y: float, column: int | None, labels: tuple[str, str], line: str) -> None:
    """One chunk: its column (a tint; None for none), its two labels, and how it is outlined."""
    still.cell(x, y, _WIDTH, _HEIGHT, fill="none" if column is None else tint(column), line=line)
    kinds = ("label", "small") if column is not None else ("soft", "soft") if line == "line" else ("plain", "soft")
    for label, kind, shift in zip(labels, kinds, (-4, 7), strict=True):
        still.text(x + _WIDTH / 2, y + _HEIGHT / 2 + shift, label, kind)


def _tensor(still: Still, found: TileState) -> None:
    still.head(_MARGIN, 16, "Global memory", found.spec["tensor"]["label"])
    for chunk in range(TENSOR_ROWS * TENSOR_CHUNKS):
        x, y = _place(_MARGIN, chunk, TENSOR_CHUNKS)
        if chunk not in found.ids:
            still.cell(x, y, _WIDTH, _HEIGHT, line="line")
            continue
        seen = [place for place, what in enumerate(found.shown) if what == chunk]
        wrong = len(seen) != 1 or found.wrong(seen[0])
        column = chunk % TENSOR_CHUNKS
        labels = str(column), str(seen[0] * CHUNK) if seen else "diff"
        _cell(still, x, y, *_drawn(found, column, labels, wrong, hot=chunk == found.ids[found.index]))


def _drawn(
    found: TileState, column: int | None, labels: tuple[str, str], wrong: bool, *, hot: bool
) -> tuple[int | None, tuple[str, str], str]:
    """A chunk's column, labels and outline: in the difference view those that are equal fade to an outline."""
    faded = found.state["view"] == "difference" and not wrong
    return None if faded else column, labels, "wrong" if wrong else "hot" if hot else "line" if faded else ""


def _engine(still: Still, found: TileState, x: float) -> None:
    y = _TOP + TENSOR_ROWS * (_HEIGHT + _GAP) / 2 - 60
    still.head(x, y - 20, "TMA engine", anchor="middle")
    still.head(x, y, "→", anchor="middle")
    words = [
        "cp.async.bulk", ".tensor.2d", f"coords {{{found.state['col']}, {found.state['row']}}}",
        f"box {{{', '.join(map(str, found.mode['box']))}}}", f"{found.mode['bytes']} bytes",
    ]  # fmt: skip
    for number, word in enumerate(words):
        still.text(x, y + 22 + 16 * number, word, "soft")


def _shared(still: Still, found: TileState, left: float, rows: int) -> None:
    notes = {"model": "as the model predicts it", "difference": found.count()}
    note = notes.get(found.state["view"], found.count() if found.unequal else "as the GPU left it")
    measured = found.measured or found.state["view"] == "model"
    still.head(left - _LABELS, 16, "Shared memory", note if measured else "model, not measured")
    for slot, banks in enumerate(found.spec["banks"]):
        still.text(left + slot * (_WIDTH + _GAP) + _WIDTH / 2, 34, banks, "soft")
    for line in range(rows):
        y = _TOP + line * (_HEIGHT + _GAP) + _HEIGHT / 2
        base = line * LINE_CHUNKS * CHUNK
        still.text(left - 18, y, f"{'▸' if base == found.state['base'] else ''}{base}", "soft")
        if found.mode["period"] > 1:
            still.text(left + LINE_CHUNKS * (_WIDTH + _GAP) + 12, y, str(found.mode["phases"][line]), "soft")
    still.text(left + LINE_CHUNKS * (_WIDTH + _GAP) + 12, 34, "XOR", "soft")
    for chunk in range(rows * LINE_CHUNKS):
        x, y = _place(left, chunk, LINE_CHUNKS)
        what, wrong = found.shown[chunk], found.wrong(chunk)
        if what == UNTOUCHED and not wrong:
            still.cell(x, y, _WIDTH, _HEIGHT, line="line")
            continue
        column = what % TENSOR_CHUNKS if what >= 0 else None
        hot = what == found.ids[found.index]
        _cell(still, x, y, *_drawn(found, column, found.labels(chunk), wrong, hot=hot))
