"""The bank chart of *What does my access cost?* for print, by matplotlib: bars over the words, as on the page.

words a bank must deliver ┃▇
                          ┃▇ ▇ ▇ ▇
                 bank      0 1 2 3 …
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tmalab.errors import InputError
from tmalab.figures.cost_state import CostState
from tmalab.figures.cost_still import BANKS, lines, words_by_bank
from tmalab.figures.palette import INKS, ON_TINT, tint

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_INK = {name: colours[0] for name, colours in INKS.items()}


def printed(found: CostState, source: str) -> Figure:
    """A matplotlib figure of one state; `source` stands below it. Raises InputError without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError(
            "matplotlib is not installed",
            field="matplotlib",
            value=None,
            fix="pip install tmalab[figures], or save .svg",
        ) from None
    if found.error:
        raise InputError("there is nothing to draw", field="state", value=found.error, fix="choose another state")
    read = lines(found)
    high = 1.2 + 0.16 * len(read)
    figure = Figure(figsize=(8, 1.7 + high), facecolor="white")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(1.2, high - 0.6))
    _bars(above, words_by_bank(found))
    _words(below, found, read)
    title = f"{found.verdict()}: {found.paid()}"
    above.set_title(title[0].upper() + title[1:], loc="left", color=_INK["ink"], fontsize=11)
    figure.text(0.01, 0.01, source, color=_INK["soft"], fontsize=6.5)
    figure.subplots_adjust(left=0.09, right=0.99, top=1 - 0.35 / (1.7 + high), bottom=0.62 / (1.7 + high), hspace=0.06)
    return figure


def _bars(axes: Axes, counts: list[int]) -> None:
    axes.bar(range(BANKS), counts, width=0.8, color=_INK["accent"])
    most = max(counts)
    for bank, count in enumerate(counts):
        if count == most and (bank == 0 or counts[bank - 1] != count):
            axes.annotate(str(count), (bank, count), xytext=(0, 2), textcoords="offset points", ha="center", fontsize=8)
    axes.set_ylim(0, max(2, most) * 1.25)
    axes.set_ylabel("words", color=_INK["soft"], fontsize=8)
    axes.locator_params(axis="y", integer=True, nbins=4)
    axes.grid(axis="y", color=_INK["line"], linewidth=0.5)
    axes.set_axisbelow(True)
    _calm(axes)
    axes.tick_params(axis="x", length=0)


def _words(axes: Axes, found: CostState, read: dict[int, dict[int, list[int]]]) -> None:
    from matplotlib.patches import Rectangle

    lit = set(found.lanes)
    for at, banks in enumerate(read.values()):
        for bank, lanes in banks.items():
            shown = bool(lit & set(lanes))
            fill = tint(found.told["places"][lanes[0]][1] // 16) if shown else "none"
            edge = "none" if shown else _INK["line"]
            axes.add_patch(
                Rectangle((bank - 0.46, at + 0.06), 0.92, 0.88, facecolor=fill, edgecolor=edge, linewidth=0.6)
            )
            colour = ON_TINT if shown else _INK["soft"]
            axes.text(bank, at + 0.5, str(lanes[0]), ha="center", va="center", fontsize=6, color=colour)
    axes.set(xlim=(-0.6, BANKS - 0.4), ylim=(len(read), 0))
    axes.set_yticks([at + 0.5 for at in range(len(read))], [str(line * 4 * BANKS) for line in read])
    axes.set_xticks(range(BANKS))
    axes.set_xlabel("bank", color=_INK["soft"], fontsize=8)
    axes.set_ylabel("shared byte", color=_INK["soft"], fontsize=8)
    _calm(axes)
    axes.tick_params(length=0)


def _calm(axes: Axes) -> None:
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(_INK["line"])
    axes.tick_params(colors=_INK["soft"], labelsize=7)
