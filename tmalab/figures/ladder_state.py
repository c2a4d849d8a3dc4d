"""One state of "The ladder", read out of its tables as ladder.js reads it: the rungs at one size, and one of them.

rows     every rung's bar: measured, its roof, cuBLAS beside it
one      the chosen rung: its rate, its gain on the rung below, its counters, its lanes (`ladder_lanes`)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tmalab.figures.ladder_lanes import lanes_of
from tmalab.figures.lanes import Lane

UNMEASURED = "Not measured: there is no recording of this rung at this size."
MODELLED = (
    "Model, not measured: tensor cores that never wait, in whole waves of tiles, at the data sheet's rate. It has no "
    "stamps of a block."
)
HEAD = (
    "Rung", "TFLOP/s", "Four in five between", "cuBLAS", "Ratio", "Of the peak", "Roof", "Waits for full", "Way out",
    "Clock", "Tensor pipe", "L2 hits", "Shared wavefronts", "Shared conflicts", "Registers",
)  # fmt: skip


class LadderState:
    """The figure in one state: `size`, `rung`, `part`, `view`."""

    def __init__(self, spec: Mapping[str, Any], provenance: Mapping[str, Any], state: Mapping[str, Any]):
        self.spec, self.state, self._states = spec, state, provenance["states"]
        self.number = spec["choices"]["rung"].index(state["rung"])
        self.rung: Mapping[str, Any] = spec["rungs"][self.number]
        self.one = self.seen(state["rung"])
        self.is_model = state["view"] == "model"
        self.source = (
            MODELLED
            if self.is_model
            else UNMEASURED
            if self.one is None
            else str(provenance["lines"][self.one["line"]])
        )

    @property
    def label(self) -> str:
        """The size, as m x n x k."""
        return str(self.spec["labels"][self.spec["choices"]["size"].index(self.state["size"])])

    @property
    def shown(self) -> list[Mapping[str, Any]]:
        """The rungs that the catalogue has a case of at this size."""
        return [rung for rung in self.spec["rungs"] if self.roof(rung["name"]) is not None]

    def seen(self, rung: str) -> Mapping[str, Any] | None:
        """What was measured of a rung at this size."""
        found: Mapping[str, Any] | None = self._states.get(f"{rung}/{self.state['size']}")
        return found

    def roof(self, rung: str) -> float | None:
        """Its roof at this size, in TFLOP/s; None where the catalogue has no such case."""
        found: float | None = self.spec["roofs"].get(f"{rung}/{self.state['size']}")
        return found

    @property
    def part(self) -> Mapping[str, Any] | None:
        """The stretch of block 0's life that the lanes show; None where it was not stamped, and for the model."""
        if self.one is None or self.is_model:
            return None
        found: Mapping[str, Any] | None = self.one["parts"][self.spec["choices"]["part"].index(self.state["part"])]
        return found

    def lanes(self) -> list[Lane]:
        """The lanes of that stretch."""
        return [] if self.part is None else lanes_of(self.rung, self.part)

    # --- words --------------------------------------------------------------------------------------------------------

    def bar(self, rung: str) -> str:
        """What stands beside a rung's bar."""
        one, roof, peak = self.seen(rung), self.roof(rung), self.spec["peak_tflops"]
        if self.is_model and roof is not None:
            return f"{roof:.1f} · {roof / peak:.1%} of the peak"
        if one is None or roof is None:
            return "not recorded"
        ours = one["ours"][0]
        if self.state["view"] == "difference":
            return f"{roof - ours:.1f} under its roof of {roof:.1f}"
        return f"{ours:.1f} · {one['ratio']:.3f} of cuBLAS · {ours / peak:.1%} of the peak"

    def facts(self) -> str:
        """The chosen rung's shape, and what ncu counted."""
        rung = self.rung
        rows, columns, depth = rung["tile"]
        stages = f"{rung['stages']} stage{'s'[: rung['stages'] != 1]}"
        shape = (
            f"Tile {rows} x {columns} x {depth}, {stages}, {rung['threads']} threads, {rung['shared_bytes']} bytes "
            "shared"
        )
        if self.one is None or self.is_model:
            return f"{shape}."
        shape = f"{shape}, {self.one['registers']} registers; stamped at {_clock(self.one)}"
        tensor, l2, wavefronts, conflicts = self.one["counters"]
        if tensor == "–":
            return f"{shape}. Not profiled."
        return (
            f"{shape}. ncu: tensor pipe {tensor}, "
            f"L2 hits {l2}, shared wavefronts {wavefronts}, of them conflicts {conflicts}."
        )

    def sentence(self) -> str:
        """What the chosen rung is worth, and what it bought."""
        name, roof, peak = self.rung["idea"], self.roof(self.state["rung"]), self.spec["peak_tflops"]
        head = f"{name[0].upper()}{name[1:]}: "
        if self.is_model and roof is not None:
            return (
                f"{head}{roof:.1f} TFLOP/s, {roof / peak:.1%} of the peak, if the tensor cores never waited and every "
                "wave of tiles took as long. Model, not measured."
            )
        if self.one is None or roof is None:
            return f"{head}not measured at this size."
        ours = self.one["ours"][0]
        if self.state["view"] == "difference":
            return f"{head}{ours:.1f} TFLOP/s measured, {ours / roof:.1%} of the {roof:.1f} that its tiles allow."
        return (
            f"{head}{ours:.1f} TFLOP/s, {self.one['ratio']:.3f} of cuBLAS in the same run{self._gain()}. "
            f"{self.rung['bought']}{self._waited()}"
        )

    def _gain(self) -> str:
        lower = [rung["name"] for rung in self.shown if rung["number"] < self.rung["number"]]
        below = self.seen(lower[-1]) if lower else None
        if below is None or self.one is None:
            return ""
        return f", {self.one['ratio'] / below['ratio']:.2f} times the rung below"

    def _waited(self) -> str:
        assert self.one is not None
        waited, out = self.one["waits"][1], self.one["way_out"]
        if waited is None:
            return ""
        did = "carried tiles" if self.rung["carries"] else "waited for a full stage"
        first = "tile" if self.one["whole"] else "steps"
        way = "" if out is None else f"; the way out took {out:.1%}"
        return f" Block 0 {did} for {waited:.1%} of its first {first}{way}."

    def table(self) -> tuple[list[str], list[list[str]]]:
        """One row a rung, as texts."""
        return list(HEAD), [self._row(rung["name"]) for rung in self.shown]

    def _row(self, rung: str) -> list[str]:
        one, roof = self.seen(rung), self.roof(rung)
        told = "–" if roof is None else f"{roof:.1f}"
        if one is None:
            return [rung, *["–"] * 5, told, *["–"] * 8]
        ours, slow, fast = one["ours"]
        waited, out = (("–" if share is None else f"{share:.1%}") for share in (one["waits"][1], one["way_out"]))
        return [
            rung, f"{ours:.1f}", f"{slow:.1f} and {fast:.1f}", f"{one['cublas'][0]:.1f}", f"{one['ratio']:.3f}",
            f"{ours / self.spec['peak_tflops']:.1%}", told, waited, out, _clock(one),
            *one["counters"], str(one["registers"]),
        ]  # fmt: skip

    def data(self) -> dict[str, Any]:
        """The rungs at this size, and the lanes, as plain JSON."""
        rungs = [
            {
                "rung": rung, "roof_tflops": self.roof(rung), "tflops": _take(one, "ours"),
                "cublas_tflops": _take(one, "cublas"), "ratio": _take(one, "ratio"), "waits": _take(one, "waits"),
                "way_out": _take(one, "way_out"),
            }
            for rung in [rung["name"] for rung in self.shown] for one in [self.seen(rung)]
        ]  # fmt: skip
        return {"rungs": rungs, "lanes": [lane.to_dict() for lane in self.lanes()]}


def _clock(one: Mapping[str, Any]) -> str:
    return "a clock unknown" if one["cycles_per_ns"] is None else f"{one['cycles_per_ns']:.3f} GHz"


def _take(one: Mapping[str, Any] | None, name: str) -> Any:
    return None if one is None else one[name]
