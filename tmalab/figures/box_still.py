"""The still of the box explorer: the plane of the tensor with its box, and the box as shared memory holds it.

┌ Global memory ──────┐            ┌ Shared memory ┐
│ · · · ┌─────┐ · · · │   coords   │ 4 5 6 7 8 …   │   the map's fields above it
└───────└─────┘───────┘            └───────────────┘
"""

from __future__ import annotations

from tmalab.figures.box_state import BoxState
from tmalab.figures.palette import tint
from tmalab.figures.still import Still

_CELL, _HIGH, _GAP = 20, 18, 2
_TOP, _MARGIN, _LABELS, _BETWEEN = 98, 14, 26, 40
_SHARED = 30  # a cell of shared memory is wider: it carries its byte


def draw(found: BoxState) -> str:
    """The SVG of one state."""
    (left, right), (top, bottom) = found.example["window"]
    cols, rows = right - left, bottom - top
    shared_x = _MARGIN + _LABELS + cols * (_CELL + _GAP) + _BETWEEN
    runs = found.runs
    wide = (found.told["copied"][0] if runs else 8) * (_SHARED + _GAP)
    still = Still(shared_x + wide + _MARGIN, _TOP + max(rows, 6) * (_HIGH + _GAP) + _MARGIN, found.spec["title"])
    said = {name: _listed(value) for name, value in found.fields.items()}
    said["global_strides"] += " bytes"
    named = [f"{name} {value}" for name, value in said.items()]
    still.head(_MARGIN, 16, "Tensor map, encoded once", ", ".join(named[:4]))
    still.head(_MARGIN, 35, "Its steps and modes", ", ".join(named[4:]))
    expected = "nothing" if found.told["verdict"] == "refused" else f"{found.told['transaction_bytes']} bytes"
    operands = {"coords": _listed(found.coords), "destination": found.state["base"], "barrier expects": expected}
    named = [f"{name} {value}" for name, value in operands.items()]
    still.head(_MARGIN, 55, "Instruction, every copy", ", ".join(named))
    still.head(_MARGIN, 84, "Global memory", _plane_words(found))
    still.head(shared_x, 84, "Shared memory", "" if runs else found.verdict()[0].partition(";")[0])
    _tensor(still, found)
    if runs:
        _shared(still, found, shared_x)
    return still.svg()


def _listed(value: str | list[int]) -> str:
    return value if isinstance(value, str) else f"({', '.join(map(str, value))})"


def _outer(found: BoxState) -> tuple[int, ...]:
    """The coordinates of the plane that is drawn, past the two innermost dimensions."""
    return found.indices(found.first)[2:] if found.runs else tuple(found.coords[2:])


def _plane_words(found: BoxState) -> str:
    outer = _outer(found)
    return f"plane ({', '.join(['·', '·', *map(str, outer)])})" if outer else ""


def _tensor(still: Still, found: BoxState) -> None:
    (left, right), (top, bottom) = found.example["window"]
    columns, rows = [*found.fields["global_dim"], 1][:2]
    sizes = found.fields["global_dim"][2:]
    plane_exists = all(0 <= index < size for index, size in zip(_outer(found), sizes, strict=True))
    layer = range(found.first, found.first + found.plane) if found.runs else range(0)
    taken = {(*found.indices(element), 0)[:2]: element for element in layer}
    for y in range(top, bottom):
        at_y = _TOP + (y - top) * (_HIGH + _GAP)
        if 0 <= y < rows:
            still.text(_MARGIN + 10, at_y + _HIGH / 2, str(y), "soft")
        for x in range(left, right):
            at_x = _MARGIN + _LABELS + (x - left) * (_CELL + _GAP)
            exists = plane_exists and 0 <= x < columns and 0 <= y < rows
            if (x, y) in taken:
                _cell(still, found, taken[x, y], (at_x, at_y, _CELL, _HIGH), (str(x),))
            elif exists:
                still.cell(at_x, at_y, _CELL, _HIGH, line="line")


def _shared(still: Still, found: BoxState, left: float) -> None:
    for element in range(found.first, found.first + found.plane):
        x, y = (*found.position(element), 0)[:2]
        place = (left + x * (_SHARED + _GAP), _TOP + y * (26 + _GAP), _SHARED, 26)
        _cell(still, found, element, place, (str(found.indices(element)[0]), str(found.told["shared"][element])))


def _cell(
    still: Still, found: BoxState, element: int, place: tuple[float, float, float, float], labels: tuple[str, ...]
) -> None:
    """An element of the box: its column on a tint, or the fill in a dashed cell; in shared memory its byte below."""
    x, y, width, height = place
    exists = found.exists(element)
    fill = tint(found.indices(element)[0] // found.told["chunk_elements"]) if exists else "none"
    line = "hot" if element == found.singled else "" if exists else "line"
    still.cell(x, y, width, height, fill=fill, line=line)
    main = labels[0] if exists else found.told["fill"]
    if len(labels) == 1:
        still.text(x + width / 2, y + height / 2, main[:2], "small" if exists else "soft")
        return
    still.text(x + width / 2, y + 9, main, "label" if exists else "soft")
    still.text(x + width / 2, y + 20, labels[1], "small" if exists else "soft")
