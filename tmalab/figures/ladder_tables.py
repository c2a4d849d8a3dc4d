"""What "The ladder" shows, as tables: each rung's rate beside cuBLAS, its roof, its counters, and one block's stalls.

    rates    ours, cuBLAS in the same run     median, 10 % and 90 % of the repeats, TFLOP/s
    parts    first steps │ middle │ way out   of block 0: begin and end of each wait, of each tile's way out, in cycles
    roof     whole waves of tiles on tensor cores that never wait, at the data sheet's rate: that is the model

>>> numbers_of("8192"), numbers_of("2048x2048x65536")
((8192, 8192, 8192), (2048, 2048, 65536))
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tmalab.experiment.case import Case
from tmalab.experiment.gemm_cases import LADDER_SIZE, gemm_cases, shape_name
from tmalab.experiment.gemm_plan import RUNGS, Rung
from tmalab.experiment.observation import Observation
from tmalab.figures.answers import Observe, answer_of
from tmalab.figures.ladder_stalls import PARTS, part_steps, stalls, stretch
from tmalab.figures.tile_tables import gpu_name, source_line
from tmalab.model.waves import PEAK_TFLOPS, roof_tflops, step_cycles

VIEWS = ("hardware", "model", "difference")
FIRST_SIZE = shape_name(*[LADDER_SIZE] * 3)
COUNTERS = ("tensor_pct", "l2_hit_pct", "shared_wavefronts", "shared_conflicts")
_GROUP = "gemm/rung/"

# What each rung's idea is for: what the sentence says beside the numbers.
BOUGHT = {
    "plain-loads": "Every thread carries a share of both tiles through its registers; reads meet bank conflicts.",
    "tma": "The engine carries the tiles: no registers, no addresses. The bank conflicts are left.",
    "wgmma": "The tensor core reads both tiles itself, from swizzled rows: no fragments, no bank conflict.",
    "stages": "While one stage is multiplied, three are on their way, in one block.",
    "producer": "One warp only loads and waits for empty stages; four only multiply and wait for full ones.",
    "consumers": "A tile twice as wide: each byte of A meets twice as many columns of B.",
    "persistent": "A block a multiprocessor takes tile after tile, in an order that finds in the L2 what others read.",
    "cluster": "Two blocks share a tile of B: each loads half, for both.",
    "store": "The engine takes C away while the next tile begins.",
    "fastest": "Each consumer has a tile of its own: while one writes its tile out, the other multiplies.",
}


def ladder_cases() -> dict[tuple[str, str], Case]:
    """The cases that are timed: (rung, "8192") → case."""
    named = [(case.name.removeprefix(_GROUP).split("/"), case) for case in gemm_cases() if case.name.startswith(_GROUP)]
    return {(rung, size): case for (rung, size), case in named}


def rungs() -> tuple[str, ...]:
    """The rungs that have a case, from the lowest up."""
    have = {rung for rung, _ in ladder_cases()}
    return tuple(name for name in RUNGS if name in have)


def best_at(size: str) -> str:
    """The highest rung that has a case of that size."""
    return [name for name in RUNGS if (name, size) in ladder_cases()][-1]


def sizes() -> tuple[str, ...]:
    """The sizes that some rung has a case of: the cubes, smallest first, then the others in the cases' order."""
    found = list(dict.fromkeys(size for _, size in ladder_cases()))
    return tuple(sorted(found, key=lambda size: ("x" in size, 0 if "x" in size else int(size))))


def numbers_of(size: str) -> tuple[int, int, int]:
    """m, n, k of a size's name: all three, or one for a cube."""
    m, n, k = map(int, size.split("x") if "x" in size else [size] * 3)
    return m, n, k


def ladder_spec(observe: Observe | None, title: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Everything that the figure draws: (spec, provenance), plain JSON. Raises HardwareError for a run that failed.

    `provenance["states"]` has "rung/size" → what was measured; a state that nothing was recorded of is not in it.
    """
    lines: dict[str, int] = {}
    states = {}
    gpu = gpu_name(None)
    for (name, size), case in ladder_cases().items():
        seen = answer_of(observe, case) if name in RUNGS else None
        if seen is not None:
            gpu = gpu_name(seen)
            line = lines.setdefault(source_line(seen), len(lines))
            states[f"{name}/{size}"] = {**measured(seen, RUNGS[name], numbers_of(size)), "line": line}
    spec = {
        "schema": 1, "name": "ladder", "title": title, "peak_tflops": PEAK_TFLOPS,
        "choices": {"size": list(sizes()), "rung": list(rungs()), "part": list(PARTS), "view": list(VIEWS)},
        "rungs": [_rung(RUNGS[name]) for name in rungs()],
        "labels": [" x ".join(map(str, numbers_of(size))) for size in sizes()],
        "roofs": {
            f"{name}/{size}": round(roof_tflops(numbers_of(size), RUNGS[name].tile, cluster=RUNGS[name].cluster), 1)
            for name, size in ladder_cases() if name in RUNGS
        },
    }  # fmt: skip
    return spec, {"lines": list(lines), "gpu": gpu, "states": states}


def _rung(rung: Rung) -> dict[str, Any]:
    return {
        "name": rung.name, "number": int(rung.file[:2]), "file": rung.file, "idea": rung.idea,
        "bought": BOUGHT.get(rung.name) or BOUGHT[rung.name.partition("-")[0]], "tile": list(rung.tile),
        "threads": rung.threads, "stages": rung.stages, "shared_bytes": rung.shared_bytes,
        "step_cycles": step_cycles(rung.tile), "carries": rung.box_a is None,
    }  # fmt: skip


def measured(seen: Observation, rung: Rung, size: tuple[int, int, int]) -> dict[str, Any]:
    """One run as numbers: rates, shares, counters, and the stalls of block 0's first tile."""
    m, n, k = size
    counters: Mapping[str, Any] = seen.values.get("counters") or {}
    clock = seen.values.get("cycles_per_ns")
    return {
        "ours": _rates(seen["ours_ns"], 2 * m * n * k), "cublas": _rates(seen["cublas_ns"], 2 * m * n * k),
        "ratio": round(_median(seen["cublas_ns"]) / _median(seen["ours_ns"]), 3),
        "counters": [_counter(name, counters.get(name)) for name in COUNTERS],
        "registers": seen["registers"], "cycles_per_ns": None if clock is None else round(float(clock), 3),
        **stalls(seen, -(-k // rung.tile[2])),
        "parts": [stretch(seen, part_steps(k, rung.tile, part)) for part in PARTS],
    }  # fmt: skip


def _rates(ns: Any, flops: int) -> list[float]:
    """Median, and between what rates four repeats in five lie, in TFLOP/s."""
    import numpy as np

    slow, median, fast = np.percentile(ns, (90, 50, 10)).tolist()
    return [round(flops / time / 1e3, 1) for time in (median, slow, fast)]


def _counter(name: str, value: float | None) -> str:
    """A figure of ncu as a text; "–" where it was not counted."""
    if value is None:
        return "–"
    return f"{value:.1f}%" if name.endswith("_pct") else f"{value / 1e6:.1f} M"


def _median(ns: Any) -> float:
    import numpy as np

    return float(np.median(ns))
