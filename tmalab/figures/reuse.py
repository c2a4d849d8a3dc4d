"""When may I reuse the buffer? Stores, commits, a wait, and the buffer overwritten at once: which bytes were too late.

    store 0   commit_group   store 1   commit_group   wait_group.read 1   overwrite
    ░░░░░░░                  ▓▓▓▓▓▓▓                  one cell, one line of 128 bytes: in how many rounds it reached
    waited for               left pending             global memory overwritten

`reuse_tables` makes the tables, static/reuse.js and `reuse_still` draw them. Here are the traits that make up the
figure's state.
"""

from __future__ import annotations

from tmalab.figures import reuse_still
from tmalab.figures.answers import Observe
from tmalab.figures.base import Choice, FoundFigure
from tmalab.figures.bundle import esm
from tmalab.figures.reuse_state import ReuseState
from tmalab.figures.reuse_tables import KINDS, MOST_STORES, STORE_LINES, VIEWS, reuse_spec

_TITLE = "When may I reuse the buffer?"


class ReuseFigure(FoundFigure):
    """The figure, drawn from what `observe` answers: `tmalab.observe`, or any function from a Case to an Observation.

    `stores`, `commits` (bit i: a commit_group follows store i), `wait` (none, .read or full), its `n` and `view` are
    its controls, `line` (128 a store) the one that the sentence is about. With None, and where nothing is recorded, it
    shows the model and says so. Raises InputError for a state that it does not have.
    """

    name = "reuse"
    draws_times = True
    state_names = ("stores", "commits", "wait", "n", "view", "line")
    _esm = esm("reuse")
    stores = Choice(range(1, MOST_STORES + 1))
    commits = Choice(range(1 << MOST_STORES))
    wait = Choice(KINDS)
    n = Choice(range(MOST_STORES))
    view = Choice(VIEWS)
    line = Choice(range(MOST_STORES * STORE_LINES))

    def __init__(
        self, observe: Observe | None, *, stores: int = 3, commits: int = 0b111, wait: str = "full", n: int = 1,
        view: str = "hardware", line: int = 3 * STORE_LINES - 1, title: str = _TITLE, page: str | None = "reuse",
    ):  # fmt: skip
        spec, provenance = reuse_spec(observe, title)
        super().__init__(
            spec=spec, provenance=provenance, stores=stores, commits=commits, wait=wait, n=n, view=view, line=line,
            page=page,
        )  # fmt: skip

    @property
    def _found(self) -> ReuseState:
        return ReuseState(self.spec, self.provenance, self.state)

    def svg(self) -> str:
        """The still: the present state, drawn."""
        return reuse_still.draw(self._found)
