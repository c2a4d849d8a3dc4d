"""A coordinate tensor: 132 strips of seven tiles, each coloured by when and where an H200 loaded it; and its calls.

    block 1, iteration 2   ─▶  (512,64) o (64,256):(1@1,1@0)   ─▶  cp.async.bulk.tensor.2d … {512, 64}

Blocks run beside each other, a block's tiles one after another. `coordinates_tables` makes the tables,
static/coordinates.js and `coordinates_still` draw them. Here are the traits that make up the figure's state.
"""

from __future__ import annotations

from tmalab.experiment.cute_cases import STRIPS, TILES
from tmalab.figures import coordinates_still
from tmalab.figures.answers import Observe
from tmalab.figures.base import Choice, FoundFigure
from tmalab.figures.bundle import esm
from tmalab.figures.coordinates_state import CoordinatesState
from tmalab.figures.coordinates_tables import SHOWN, VIEWS, coordinates_spec

_TITLE = "A coordinate tensor"


class CoordinatesFigure(FoundFigure):
    """The figure, drawn from what `observe` answers: `tmalab.observe`, or any function from a Case to an Observation.

    `view` (hardware, model, difference), `shown` (what shades a tile: when it landed, or its block's SM), `block` 0 to
    131 and `column` 0 to 6. Where nothing is recorded the model stands alone and says so. Raises InputError for a
    state that it does not have, HardwareError for a run that failed.
    """

    name = "coordinates"
    draws_times = True
    state_names = ("view", "shown", "block", "column")
    _esm = esm("coordinates")
    view = Choice(VIEWS)
    shown = Choice(SHOWN)
    block = Choice(range(STRIPS))
    column = Choice(range(TILES))

    def __init__(
        self, observe: Observe | None, *, view: str = "hardware", shown: str = "landed", block: int = 1,
        column: int = 2, title: str = _TITLE, page: str | None = "coordinates",
    ):  # fmt: skip
        spec, provenance = coordinates_spec(observe, title)
        super().__init__(
            spec=spec, provenance=provenance, view=view, shown=shown, block=block, column=column, page=page
        )

    @property
    def _found(self) -> CoordinatesState:
        return CoordinatesState(self.spec, self.provenance, self.state)

    def svg(self) -> str:
        """The still: the present state, drawn."""
        return coordinates_still.draw(self._found)
