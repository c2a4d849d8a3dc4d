"""What "Two loads, one barrier" shows: one measured run lane by lane, 250 runs in bands, and the model's run.

    producer      ▮arm ▮A ▮B ├ works ┤
    engine              ├ A in flight ┤
    bytes to come      ├ 4096 ┤ 2048 ┤ 0
    consumer      ├ waits ────────────┤ reads

Whatever was measured stands with the provenance: another run has other times. The model has an order and no clock: its
steps are spaced evenly.
"""

from __future__ import annotations

from typing import Any

from tmalab.experiment.timeline_builders import timeline_of
from tmalab.experiment.timeline_cases import WARMTHS, WATCHES
from tmalab.figures.answers import Observe, answer_to
from tmalab.figures.loads_model import MODEL_LINE, difference, modelled
from tmalab.figures.loads_run import measured
from tmalab.figures.tile_tables import gpu_name, source_line

VIEWS = ("hardware", "model", "difference")
MOST_STEPS = 16  # of any run


def loads_spec(observe: Observe | None, title: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Everything that the figure draws: (spec, provenance), plain JSON. All that was measured is in the provenance.

    `states[warmth]` is None where nothing is recorded. Raises HardwareError for a run that did not complete.
    """
    lines: dict[str, int] = {}
    states: list[dict[str, Any] | None] = []
    gpu = gpu_name(None)
    for warmth in WARMTHS:
        seen, twin, counted = (answer_to(observe, f"timeline/two-loads/{warmth}/{watched}") for watched in WATCHES)
        if seen is None:
            states.append(None)
            continue
        gpu = gpu_name(seen)
        line = timeline_of(seen)
        states.append({
            **measured(seen, line, counted, twin).to_dict(), "cycles_per_ns": round(line.cycles_per_ns, 4),
            "line": lines.setdefault(source_line(seen), len(lines)), **difference(seen, counted),
        })  # fmt: skip
    spec = {
        "schema": 1, "name": "loads", "title": title, "choices": {"warmth": list(WARMTHS), "view": list(VIEWS)},
        "model": {**modelled().to_dict(), "line": MODEL_LINE}, "most_steps": MOST_STEPS,
    }  # fmt: skip
    return spec, {"lines": list(lines), "gpu": gpu, "states": states}
