"""A pipeline: a producer, the TMA, a ring of 1 to 8 stages with their barriers, consumers, and what stands still when.

    producer    ▮0 ▮1 ░░ ring full ░░ ▮2            stages  1  ●          time a tile: the latency is hidden
    TMA           ├ 0 ──┤                                   2     ●       where the dots stop to fall
                     ├ 1 ──┤                                3        ● ● ●
    consumers   bubble ▮ 0 ▮▮ 1 ▮ bubble

`pipeline_tables` makes the tables, `pipeline_lanes` the lanes; static/pipeline.js and `pipeline_still` draw them. Here
are the traits that make up the figure's state.
"""

from __future__ import annotations

from collections.abc import Sequence

from tmalab.experiment.pipeline_cases import FMA, STAGES, TILE_BYTES
from tmalab.figures import pipeline_still
from tmalab.figures.answers import Observe
from tmalab.figures.base import Choice, FoundFigure
from tmalab.figures.bundle import esm
from tmalab.figures.pipeline_state import PipelineState
from tmalab.figures.pipeline_tables import VIEWS, pipeline_spec

_TITLE = "A pipeline"


class PipelineFigure(FoundFigure):
    """The figure, drawn from what `observe` answers: `tmalab.observe`, or any function from a Case to an Observation.

    `place` says whose runs: "l2" or "hbm", one block with its tiles in the L2 or in memory; "all", a block on every
    multiprocessor. `tile` (bytes), `compute` (multiplications a tile), `stages` and `view` are its controls. Where
    nothing is recorded it says so: the model's costs are measured, too. Raises InputError for a state that it does not
    have.
    """

    name = "pipeline"
    draws_times = True
    state_names = ("tile", "compute", "stages", "view")
    _esm = esm("pipeline")
    tile = Choice(TILE_BYTES)
    compute = Choice(FMA)
    stages = Choice(STAGES)
    view = Choice(VIEWS)

    def __init__(
        self, observe: Observe | None, *, place: str = "hbm", tile: int = 16384, compute: int = 0, stages: int = 1,
        view: str = "hardware", title: str = _TITLE, page: str | None = "pipeline",
    ):  # fmt: skip
        spec, provenance = pipeline_spec(observe, place, title)
        super().__init__(
            spec=spec, provenance=provenance, tile=tile, compute=compute, stages=stages, view=view, page=page
        )

    @property
    def _found(self) -> PipelineState:
        return PipelineState(self.spec, self.provenance, self.state)

    def svg(self) -> str:
        """The still: the present state, drawn."""
        return pipeline_still.draw(self._found)

    def more_tables(self) -> Sequence[tuple[str, Sequence[str], Sequence[Sequence[str]]]]:
        """The depth sweep: a row a depth and compute time, as texts."""
        return [self._found.sweep_table()]
