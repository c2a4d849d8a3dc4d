"""The model's run of "Two loads, one barrier" as lanes, and what the measured runs did otherwise.

    1 arm   2 issue A   3 issue B   4 A lands   5 B lands   6 the wait returns      a step is one unit long

The model has an order and no clock. What differs is told in words: which tile was whole first, and in how many runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tmalab import model
from tmalab.experiment.observation import Observation
from tmalab.experiment.timeline_cases import TILE_BYTES
from tmalab.figures.lanes import Lane, Mark
from tmalab.figures.loads_run import BOTH, Drawn, bytes_read, order_of, said

# What seed 002 tells, in the grammar of barrier programs.
PROGRAM: tuple[Mapping[str, Any], ...] = (
    {"t": "init", "op": "init", "bar": "full", "count": 1},
    {"t": "producer", "op": "arrive_expect_tx", "bar": "full", "bytes": BOTH},
    {"t": "producer", "op": "tma_load", "bar": "full", "bytes": TILE_BYTES, "buf": "A"},
    {"t": "producer", "op": "tma_load", "bar": "full", "bytes": TILE_BYTES, "buf": "B"},
    {"t": "consumer", "op": "wait", "bar": "full", "parity": 0},
)
# What happens, in the model's order: keys of the marks.
STEPS = ("arm", "issue-A", "issue-B", "land-A", "land-B", "wait")
MODEL_LINE = "Model, not measured: BarrierProgram's run of the same five events, its steps spaced evenly."


def modelled() -> Drawn:
    """BarrierProgram's run of PROGRAM: an order, one unit of time a step."""
    steps = [step for step in model.BarrierProgram(PROGRAM).run().trace if step.op != "init"]
    end = len(steps) + 1
    lanes: dict[str, list[Mark]] = {
        name: [] for name in ("producer", "A", "B", "arrivals", "bytes", "phase", "consumer")
    }
    counts, begun = (1, 0, 0), {"arrivals": 0, "bytes": 0, "phase": 0}
    issued: dict[str, int] = {}
    flying = ["A", "B"]

    def say(number: int, step: Any) -> str:
        before, after = step.before, step.after
        moved = f" Before: {said(before)}; after: {said(after)}." if before != after else " No count changes."
        return f"Step {number + 1}, {step.op}: {step.text}.{moved} Model, not measured."

    def close(name: str, value: int, until: int) -> None:
        text = f"phase {value}" if name == "phase" else str(value)
        words = {
            "arrivals": f"{value} pending arrival{'s'[: value != 1]}",
            "bytes": f"{value} bytes to come",
            "phase": f"phase {value}",
        }[name]
        kind = "outline" if value or name == "phase" else "soft"
        lanes[name].append(
            Mark(f"{name}-{len(lanes[name])}", begun[name], until, text, kind, f"{words}. Model, not measured.")
        )
        begun[name] = until

    for number, step in enumerate(steps):
        at = number + 1
        if step.op == "complete_tx":
            name = flying.pop(0)
            lanes[name].append(
                Mark(f"flight-{name}", issued[name], at, f"{name} in flight", "hatch", say(number, step))
            )
        elif step.op == "wait":
            lanes["consumer"] += [
                Mark("wait", 0, at, "waits", "hatch", say(number, step)),
                Mark("read", at, end, "reads", "solid", "The consumer may read both tiles. Model, not measured."),
            ]
        else:
            key, text = ("arm", "arm") if step.op != "tma_load" else (f"issue-{'AB'[len(issued)]}", "AB"[len(issued)])
            lanes["producer"].append(Mark(key, number, at, text, "solid", say(number, step)))
            if step.op == "tma_load":
                issued[text] = at
        assert step.after is not None
        then = (step.after.pending_count, step.after.tx_count, step.after.phase)
        for place, name in enumerate(("arrivals", "bytes", "phase")):
            if then[place] != counts[place]:
                close(name, counts[place], at)
        counts = then
    for place, name in enumerate(("arrivals", "bytes", "phase")):
        close(name, counts[place], end)
    notes = {"producer": "", "A": "tile A", "B": "tile B", "arrivals": "", "bytes": "", "phase": "", "consumer": ""}
    names = {"A": "TMA engine", "B": "TMA engine", "arrivals": "pending arrivals", "bytes": "bytes to come"}
    drawn = [Lane(names.get(name, name), tuple(marks), notes[name]) for name, marks in lanes.items()]
    return Drawn(drawn, order_of(drawn), end, "The model knows an order and no clock: a step is one unit long.")


def difference(seen: Observation, counted: Observation | None) -> dict[str, Any]:
    """Which steps of the run drawn came in another order than the model's, how often in all runs, and which counts.

    `differs` holds the keys of those steps; `difference` says it in words.
    """
    half, drawn = seen["lines"].shape[1] // 2, seen["drawn"]
    last_a, last_b = seen["lines"][:, :half].max(axis=1), seen["lines"][:, half:].max(axis=1)
    end = int(seen["waits"][drawn, 0, 1])
    landed = [min(int(last[drawn]), end) for last in (last_a, last_b)]  # a look may come later than the wait returns
    ends = [*seen["steps"][drawn][1:].tolist(), *landed, end]
    seen_order = [key for _, key in sorted(zip(ends, STEPS, strict=True), key=lambda pair: pair[0])]
    differs = [key for key, other in zip(STEPS, seen_order, strict=True) if key != other]
    runs, others, ties = len(last_a), int((last_b < last_a).sum()), int((last_b == last_a).sum())
    words = [
        f"{len(differs)} of {len(STEPS)} steps in another order than the model's.",
        f"Of {runs} runs B was whole before A in {others}{f', with it in {ties}' if ties else ''}: the model takes "
        "either order to be right.",
    ]
    if counted is not None:
        read = list(dict.fromkeys(awaited for _, awaited in bytes_read(counted)))
        strange = [awaited for awaited in read if awaited not in (BOTH, TILE_BYTES, 0)]
        listed = ", ".join(map(str, read))
        words.append(f"Bytes that the barrier said: {listed}; {len(strange)} of {len(read)} are not the model's.")
    words.append(f"Words that the consumer read too early: {int(seen['missing_words'].sum())}.")
    return {"differs": differs, "difference": " ".join(words)}
