"""The ladder for print, by matplotlib: the rates of all rungs at one size, with the band of the repeats.

800 ┃ ─ ─ ─ ─ ─ ─ ─ ─ cuBLAS
    ┃             ▇ ▇
    ┃ ▇ ▇ ▇ ▇ ▇ ▇ ▇ ▇
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from tmalab.errors import InputError
from tmalab.figures.ladder_state import LadderState
from tmalab.figures.palette import INKS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_INK = {name: colours[0] for name, colours in INKS.items()}


def printed(found: LadderState, source: str) -> Figure:
    """A matplotlib figure of one size; `source` stands below it. Raises InputError without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError(
            "matplotlib is not installed",
            field="matplotlib",
            value=None,
            fix="pip install tmalab[figures], or save .svg",
        ) from None
    shown = [(rung["idea"], one) for rung in found.spec["rungs"] if (one := found.seen(rung["name"]))]
    if not shown:
        raise InputError("there is nothing to draw", field="size", value=found.state["size"], fix="choose another size")
    figure = Figure(figsize=(8, 4.2), facecolor="white")
    axes = figure.subplots()
    for at, (_, one) in enumerate(shown):
        (ours, slow, fast), (cublas, *_) = one["ours"], one["cublas"]
        axes.bar(at, ours, width=0.7, color=_INK["accent"])
        axes.errorbar(at, ours, [[ours - slow], [fast - ours]], color=_INK["ink"], linewidth=1, capsize=3)
        axes.plot([at - 0.45, at + 0.45], [cublas, cublas], color=_INK["ink"], linewidth=1.4)
        tall = ours > 100
        axes.annotate(
            f"{ours:.0f}\n{one['ratio']:.2f}", (at, 0 if tall else ours), xytext=(0, 6), textcoords="offset points",
            ha="center", va="bottom", fontsize=8, color="white" if tall else _INK["ink"],
        )  # fmt: skip
    axes.annotate(
        "cuBLAS, same run", (-0.45, shown[0][1]["cublas"][0]), xytext=(0, 4), textcoords="offset points", fontsize=8,
        color=_INK["ink"],
    )  # fmt: skip
    axes.set_ylim(0, found.spec["peak_tflops"])
    axes.set_ylabel(f"TFLOP/s, up to the data sheet's {found.spec['peak_tflops']}", color=_INK["soft"], fontsize=8)
    axes.set_xticks(range(len(shown)), ["\n".join(textwrap.wrap(idea, 11)) for idea, _ in shown])
    axes.set_title(f"The ladder at {found.label}: rate, and share of cuBLAS", loc="left", fontsize=11)
    axes.grid(axis="y", color=_INK["line"], linewidth=0.5)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(_INK["line"])
    axes.tick_params(colors=_INK["soft"], labelsize=7, length=0)
    figure.text(0.01, 0.01, source, color=_INK["soft"], fontsize=6)
    figure.subplots_adjust(left=0.08, right=0.99, top=0.93, bottom=0.2)
    return figure
