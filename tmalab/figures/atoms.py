"""Many atoms in one copy: a slice too wide for the swizzle, taken at once through a view of three dimensions.

    16 × 256 fp16 ──the same memory as (group, row, col)──▶ one copy ──▶ g0, g1 in shared memory, two atoms each

`atoms_tables` and `atoms_fields` make the tables, static/atoms.js and `atoms_still` draw them. Here are the traits
that make up the figure's state.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tmalab.figures import atoms_still
from tmalab.figures.answers import Observe
from tmalab.figures.atoms_state import AtomsState
from tmalab.figures.atoms_tables import CELLS, CHOICES, atoms_spec
from tmalab.figures.base import Choice, Figure
from tmalab.figures.bundle import esm

_TITLE = "Many atoms in one copy"


class AtomsFigure(Figure):
    """The figure, drawn from what `observe` answers: `tmalab.observe`, or any function from a Case to an Observation.

    `swizzle`, `group` (bytes of a row that one group holds), `col` (where the slice begins), `copies` ("3-D": the
    slice at once, "2-D": a copy a group) and `view` are its controls, `cell` the chunk of the slice (row, chunk) that
    the sentence is about. With None, and in a state of which nothing is recorded, it shows the model and says so.
    Raises InputError for a state that it does not have.
    """

    name = "atoms"
    state_names = (*CHOICES, "cell")
    _esm = esm("atoms")
    swizzle = Choice(CHOICES["swizzle"])
    group = Choice(CHOICES["group"])
    col = Choice(CHOICES["col"])
    copies = Choice(CHOICES["copies"])
    view = Choice(CHOICES["view"])
    cell = Choice(CELLS)

    def __init__(
        self, observe: Observe | None, *, swizzle: str = "128B", group: int = 128, col: int = 0, copies: str = "3-D",
        view: str = "hardware", cell: tuple[int, int] = (11, 10), title: str = _TITLE, page: str | None = "atoms",
    ):  # fmt: skip
        spec, provenance = atoms_spec(observe, title)
        super().__init__(
            spec=spec, provenance=provenance, swizzle=swizzle, group=group, col=col, copies=copies, view=view,
            cell=cell, page=page,
        )  # fmt: skip

    @property
    def _found(self) -> AtomsState:
        return AtomsState(self.spec, self.state)

    def svg(self) -> str:
        """The still: the present state, drawn. It names no GPU: the same bytes give the same still everywhere."""
        return atoms_still.draw(self._found)

    def sentence(self) -> str:
        """Where the chunk that is singled out lands, and whether the hardware put it there; or which rule is broken."""
        return self._found.sentence()

    def source(self) -> str:
        """Where the present state was measured, or that it was not."""
        line = self._found.line
        if line < 0:
            return "Model, not measured: there is no recording of this state."
        return str(self.provenance["lines"][line])

    def data(self) -> dict[str, Any]:
        """The present state: the fields of the two maps, and an entry a touched chunk of shared memory."""
        found = self._found
        return {
            "schema": self.spec["schema"], "figure": self.name, "title": self.spec["title"],
            "state": {**self.state, "cell": list(self.cell)}, "provenance": self.source(),
            "maps": dict(zip(self.spec["fields"], found.fields, strict=True)), "table": found.data(),
        }  # fmt: skip

    def table(self) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
        """The same as texts."""
        return self._found.table()
