"""One state of the box explorer: which example, at which place, in the figure's own words; as box_words.js reads it.

    example, edit     the map: the example's, or the reader's own fields, written as one word
    coords, base      the instruction's operands
    layer, cell       which element of the box the sentence is about

>>> write_edit(read_edit("float16;64.8;128;32.4;1.1;64B;none")) == "float16;64.8;128;32.4;1.1;64B;none"
True
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from tmalab.checker.explore import explore
from tmalab.errors import InputError
from tmalab.figures.box_tables import FIELDS, elements

_LISTS = ("global_dim", "global_strides", "box_dim", "element_strides")
NOT_MEASURED = "Model, not measured: there is no recording of this state."


def read_edit(text: str) -> dict[str, Any]:
    """The fields in `edit`: dtype;global_dim;global_strides;box_dim;element_strides;swizzle;oob_fill."""
    parts = text.split(";")
    if len(parts) != len(FIELDS):
        raise InputError(
            "not a map's fields", field="edit", value=text, limit=len(FIELDS), fix="give " + ";".join(FIELDS)
        )
    fields: dict[str, Any] = dict(zip(FIELDS, parts, strict=True))
    try:
        return fields | {name: [int(number) for number in fields[name].split(".") if number] for name in _LISTS}
    except ValueError:
        raise InputError("not a list of integers", field="edit", value=text, fix="write 16.8 for (16, 8)") from None


def write_edit(fields: Mapping[str, Any]) -> str:
    """The same the other way round."""
    return ";".join(".".join(map(str, fields[name])) if name in _LISTS else str(fields[name]) for name in FIELDS)


class BoxState:
    """The figure's `spec` in one state. Where that state is not in the spec, the model is asked."""

    def __init__(self, spec: Mapping[str, Any], state: Mapping[str, Any]):
        self.spec, self.state = spec, state
        self.example = next(one for one in spec["examples"] if one["name"] == state["example"])
        edit = state["edit"]
        self.fields: dict[str, Any] = read_edit(edit) if edit else self.example["fields"]
        fits = len(state["coords"]) == len(self.fields["global_dim"])
        self.coords = list(state["coords"] if fits else self.example["first"])
        known = None if edit or state["base"] else self.example["copies"].get(".".join(map(str, self.coords)))
        asked = {"tensor_map": self.fields, "coords": self.coords, "smem_base": state["base"]}
        self.told: dict[str, Any] = {**self.example["map"], **known} if known else {**explore(asked), "line": -1}
        self.measured = self.told["line"] >= 0

    # --- the box ------------------------------------------------------------------------------------------------------

    @property
    def runs(self) -> bool:
        """Whether the copy runs, and can be shown element by element."""
        return bool(self.told["shared"] is not None and self.told["verdict"] == "runs")

    @property
    def plane(self) -> int:
        """How many elements of the box one layer has."""
        return int(prod(self.told["copied"][:2]))

    @property
    def layers(self) -> int:
        """How many layers of the two innermost dimensions the box has."""
        return int(prod(self.told["copied"][2:]))

    @property
    def first(self) -> int:
        """The number of the layer's first element in the box."""
        return self.plane * min(int(self.state["layer"]), self.layers - 1)

    @property
    def singled(self) -> int:
        """The element of the box that the sentence is about; a smaller box gives its last one."""
        return self.first + min(int(self.state["cell"]), self.plane - 1)

    def position(self, element: int) -> tuple[int, ...]:
        """An element's place in the box, innermost first."""
        return elements(self.told["copied"])[element]

    def indices(self, element: int) -> tuple[int, ...]:
        """The element of the tensor that it is, existing or not."""
        return tuple(taken[at] for taken, at in zip(self.told["taken"], self.position(element), strict=True))

    def exists(self, element: int) -> bool:
        """Whether the tensor has it."""
        inside = zip(self.told["inside"], self.position(element), strict=True)
        return all(first <= at < stop for (first, stop), at in inside)

    # --- words --------------------------------------------------------------------------------------------------------

    def said(self, element: int) -> str:
        """What the model says that shared memory holds for that element of the box."""
        return f"element {_tuple(self.indices(element))}" if self.exists(element) else f"fill {self.told['fill']}"

    def left(self, element: int) -> str:
        """What the hardware left there."""
        if not self.measured:
            return "not measured"
        changed = {one["element"]: one["holds"] for one in self.told["changed"]}
        return changed.get(element) or self.said(element)

    def count(self) -> str:
        """How many bytes differ, in words."""
        some = self.told["differing"]
        return f"{some} of {self.told['of']} bytes {'differs' if some == 1 else 'differ'}"

    def verdict(self) -> list[str]:
        """What is wrong, each in a sentence and its remedy; one line that nothing is."""
        broken = [*self.told["violations"], *self.told["faults"]]
        lines = [f"{one['message']} {one['fix']}" for one in broken]
        return lines or ["The driver takes the map, and the engine runs this copy."]

    def sentence(self) -> str:
        """What the figure's sentence says of the element that is singled out."""
        model = " Model, not measured."
        outcome = self.told.get("outcome")
        if self.told["verdict"] == "refused":
            ended = f" The driver {outcome} it." if self.measured else model
            return f"The driver refuses the map, so there is nothing to copy with.{ended}"
        if self.told["verdict"] == "fault":
            return f"The engine refuses the copy.{f' The launch ended with {outcome}.' if self.measured else model}"
        if not self.runs:
            return f"The box has too many elements to tell them one by one.{model}"
        element = self.singled
        indices, place = self.indices(element), self.told["shared"][element]
        words = f"Box element {_tuple(self.position(element))} is tensor element {_tuple(indices)}"
        if self.exists(element):
            row = self.told["row_bytes"][element // self.told["copied"][0]]
            column = self.told["column_bytes"][self.position(element)[0]]
            words += f", at byte {row} + {column} → shared byte {place}."
        else:
            words += f", which does not exist → shared byte {place} is filled with {self.told['fill']}, and counted."
        if not self.measured:
            return words + model
        return f"{words} {self.count()} from the model."

    def table(self) -> tuple[list[str], list[list[str]]]:
        """A row an element of the box: the head, and the rows as texts."""
        head = ["Box element", "Shared byte", "The hardware left", "The model says", "Equal"]
        if not self.runs:
            return head, []
        rows = []
        for element in range(len(self.told["shared"])):
            said, left = self.said(element), self.left(element)
            equal = "–" if not self.measured else "equal" if left == said else "differs"
            rows.append([_tuple(self.position(element)), str(self.told["shared"][element]), left, said, equal])
        return head, rows


def _tuple(values: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, values))})"
