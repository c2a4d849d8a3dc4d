"""One state of "Two loads, one barrier", read out of its tables as loads.js reads it.

one        the run that is drawn: a measured one, or the model's     lanes   its lanes as this view draws them
key        the mark that is singled out: the step's
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

HEAD = ("Lane", "What", "From (cycles)", "To (cycles)", "From (ns)", "Said")
HEAD_MODEL = ("Lane", "What", "From (steps)", "To (steps)", "From (ns)", "Said")


class LoadsState:
    """The figure's tables in one state: `warmth`, `view`, `step` (of what happens, as time passes)."""

    def __init__(self, spec: Mapping[str, Any], provenance: Mapping[str, Any], state: Mapping[str, Any]):
        self.spec, self.state = spec, state
        seen = provenance["states"][spec["choices"]["warmth"].index(state["warmth"])]
        self.measured = seen is not None
        self.is_model = state["view"] == "model" or not self.measured
        self.one: Mapping[str, Any] = spec["model"] if self.is_model else seen
        self.source = spec["model"]["line"] if self.is_model else str(provenance["lines"][seen["line"]])

    @property
    def lanes(self) -> list[dict[str, Any]]:
        """The lanes; in the view of the difference, what is equal fades and what is not stands out."""
        if self.is_model or self.state["view"] != "difference":
            return list(self.one["lanes"])
        steps, differs = set(self.one["order"]), set(self.one["differs"])

        def kind(mark: Mapping[str, Any]) -> str:
            return "wrong" if mark["key"] in differs else "soft" if mark["key"] in steps else str(mark["kind"])

        return [
            {**lane, "marks": [{**mark, "kind": kind(mark)} for mark in lane["marks"]]} for lane in self.one["lanes"]
        ]  # fmt: skip

    @property
    def units(self) -> Sequence[tuple[str, float]]:
        """The axes: a unit's name, and its factor."""
        return [("steps", 1.0)] if self.is_model else [("cycles", 1.0), ("ns", 1 / self.one["cycles_per_ns"])]

    @property
    def key(self) -> str:
        """The mark that is singled out; a run of fewer steps gives its last."""
        return str(self.one["order"][min(self.state["step"], len(self.one["order"]) - 1)])

    @property
    def mark(self) -> Mapping[str, Any]:
        """The same, whole."""
        return next(mark for lane in self.one["lanes"] for mark in lane["marks"] if mark["key"] == self.key)

    @property
    def head(self) -> str:
        """The line above the lanes: what the issue cost; or what differs; or that nothing is measured."""
        if not self.measured and self.state["view"] != "model":
            return f"Model, not measured. {self.one['head']}"
        return str(self.one["difference"] if self.state["view"] == "difference" else self.one["head"])

    def sentence(self) -> str:
        """The step in words: the PTX line, its times, the counts before and after."""
        return str(self.mark["say"])

    def table(self) -> tuple[list[str], list[list[str]]]:
        """One row a mark, as texts."""
        rows = []
        for lane in self.one["lanes"]:
            name = ", ".join(word for word in (lane["name"], lane["note"]) if word)
            for mark in lane["marks"]:
                begin, end = mark["from"], mark.get("to")
                ns = "–" if self.is_model else f"{begin / self.one['cycles_per_ns']:.0f}"
                rows.append([name, mark["text"] or "–", str(begin), "–" if end is None else str(end), ns, mark["say"]])
        return list(HEAD_MODEL if self.is_model else HEAD), rows

    def data(self) -> list[dict[str, Any]]:
        """The marks as plain JSON."""
        return [
            {"lane": lane["name"], "note": lane["note"], **mark} for lane in self.one["lanes"] for mark in lane["marks"]
        ]  # fmt: skip
