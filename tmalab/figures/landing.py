"""The tile landing: when each piece of a tile in shared memory was first seen changed, since its load was issued.

    ░░▒▒▓▓██   one cell, one line of 128 bytes (or 32 bytes); the darker, the later; the cycles stand in the cell

A thread looks at its piece again and again while the copy is in flight. `landing_tables` makes the tables,
static/landing.js and `landing_still` draw them. Here are the traits that make up the figure's state.
"""

from __future__ import annotations

from tmalab.experiment.timeline_cases import LANDINGS
from tmalab.figures import landing_still
from tmalab.figures.answers import Observe
from tmalab.figures.base import Choice, FoundFigure
from tmalab.figures.bundle import esm
from tmalab.figures.landing_state import LandingState
from tmalab.figures.landing_tables import ELEMENT_BYTES, FRAMES, SHOWN, TILES, WARMTHS, landing_spec

_TITLE = "The tile landing"
_MOST_PIECES = max(ELEMENT_BYTES * box[0] * box[1] // piece_bytes for box, _, piece_bytes in LANDINGS)


class LandingFigure(FoundFigure):
    """The figure, drawn from what `observe` answers: `tmalab.observe`, or any function from a Case to an Observation.

    `tile` (box, swizzle and piece), `warmth` (what the caches held), `shown` and `frame` (0 to 12: from nothing landed
    to all) are its controls, `piece` the one that the sentence is about. There is no model of it: where nothing is
    recorded it says so. Raises InputError for a state that it does not have.
    """

    name = "landing"
    draws_times = True
    state_names = ("tile", "warmth", "shown", "frame", "piece")
    _esm = esm("landing")
    tile = Choice(TILES)
    warmth = Choice(WARMTHS)
    shown = Choice(SHOWN)
    frame = Choice(range(FRAMES + 1))
    piece = Choice(range(_MOST_PIECES))

    def __init__(
        self, observe: Observe | None, *, tile: str = "64x64-128B", warmth: str = "cold", shown: str = "one run",
        frame: int = FRAMES, piece: int = 0, title: str = _TITLE, page: str | None = "landing",
    ):  # fmt: skip
        spec, provenance = landing_spec(observe, title)
        super().__init__(
            spec=spec, provenance=provenance, tile=tile, warmth=warmth, shown=shown, frame=frame, piece=piece, page=page
        )

    @property
    def _found(self) -> LandingState:
        return LandingState(self.spec, self.provenance, self.state)

    def svg(self) -> str:
        """The still: the present state, drawn."""
        return landing_still.draw(self._found)
