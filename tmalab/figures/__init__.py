"""The book's figures: Python computes every table, JavaScript draws them and switches among them.

    TileFigure(observe)     Figure 1, one tile through the TMA engine
    BoxFigure(observe)      one tensor map, and its box at any place: the box explorer
    CostFigure(observe)     what a warp pays to read a tile of shared memory, and what frees it
    EdgesFigure(observe)    what becomes of a box that leaves the tensor
    AtomsFigure(observe)    a slice too wide for its swizzle, in one copy of three dimensions
    TilingFigure(observe)   a grid tiled or not, and what reading one of its columns costs
    LadderFigure(observe)   matrix products from plain loads to a kernel that keeps up with cuBLAS, rung by rung
    LoadsFigure(observe)    two loads on one barrier, on a measured axis of time
    LandingFigure(observe)  when each piece of a tile in shared memory was first seen changed
    ParityFigure(observe)   one barrier over seven tiles, and the parity that each wait is given
    ReuseFigure(observe)    stores, a wait, and which bytes of the buffer were overwritten too early
    CoordinatesFigure(observe)  132 strips of tiles: CuTe's coordinates, and when and where an H200 loaded each
    FrontEndsFigure(observe)    one tile through many front ends: its bytes, its descriptor, its PTX
    PipelineFigure(observe) a ring of 1 to 8 stages, who stands still when, and the depth that hides the latency
    StagesFigure(observe)   loads that run ahead through 1 to 4 buffers, and what each is worth
    ReaderFigure(observe)   the same tile, read by someone who counts in another way
    WgmmaFigure(observe)    a tile that wgmma reads through the right descriptor and through wrong ones
    Question(prompt, …)     a question that checks the reader's answer

Needs the extra `figures` (anywidget). A name is imported on first use, so that its drawing, its tables and the
bundle of scripts can be had without it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tmalab.figures.atoms import AtomsFigure
    from tmalab.figures.box import BoxFigure
    from tmalab.figures.coordinates import CoordinatesFigure
    from tmalab.figures.cost import CostFigure
    from tmalab.figures.edges import EdgesFigure
    from tmalab.figures.front_ends import FrontEndsFigure
    from tmalab.figures.ladder import LadderFigure
    from tmalab.figures.landing import LandingFigure
    from tmalab.figures.loads import LoadsFigure
    from tmalab.figures.parity import ParityFigure
    from tmalab.figures.pipeline import PipelineFigure
    from tmalab.figures.question import Question
    from tmalab.figures.reader import ReaderFigure
    from tmalab.figures.reuse import ReuseFigure
    from tmalab.figures.stages import StagesFigure
    from tmalab.figures.tile import TileFigure
    from tmalab.figures.tiling import TilingFigure
    from tmalab.figures.wgmma import WgmmaFigure

_HOMES = {
    "AtomsFigure": "tmalab.figures.atoms",
    "BoxFigure": "tmalab.figures.box",
    "CoordinatesFigure": "tmalab.figures.coordinates",
    "CostFigure": "tmalab.figures.cost",
    "EdgesFigure": "tmalab.figures.edges",
    "FrontEndsFigure": "tmalab.figures.front_ends",
    "LadderFigure": "tmalab.figures.ladder",
    "LoadsFigure": "tmalab.figures.loads",
    "LandingFigure": "tmalab.figures.landing",
    "ParityFigure": "tmalab.figures.parity",
    "PipelineFigure": "tmalab.figures.pipeline",
    "ReuseFigure": "tmalab.figures.reuse",
    "StagesFigure": "tmalab.figures.stages",
    "TileFigure": "tmalab.figures.tile",
    "TilingFigure": "tmalab.figures.tiling",
    "ReaderFigure": "tmalab.figures.reader",
    "WgmmaFigure": "tmalab.figures.wgmma",
    "Question": "tmalab.figures.question",
}
__all__ = [*_HOMES]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'tmalab.figures' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
