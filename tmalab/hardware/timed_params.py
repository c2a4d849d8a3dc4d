"""The parameters of the probes that time a kernel, looked at before anything is launched: which words, which numbers.

>>> check_timed("parity", {"rule": "odd", "pace": "free"})
Traceback (most recent call last):
tmalab.errors.InputError: rule='odd': unknown. Fix: use one of right, always_0, always_1, loop_index, inverted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tmalab.errors import InputError
from tmalab.hardware import landing_probe, ordering_probe, parity_probe, two_loads_probe
from tmalab.hardware.barrier_ops_probe import encode_steps
from tmalab.hardware.pipeline_params import check_pipeline

# Probe → parameter → the words that it may be, or the lowest and the highest number.
_WORDS: dict[str, dict[str, tuple[str, ...]]] = {
    "clocks": {},
    "two_loads": {"watch": two_loads_probe.WATCHES, "warmth": two_loads_probe.WARMTHS},
    "landing": {"warmth": landing_probe.WARMTHS},
    "parity": {"rule": parity_probe.RULES, "pace": parity_probe.PACES},
    "reuse": {},
    "ordering": {"experiment": ordering_probe.EXPERIMENTS},
    "barrier_ops": {},
    "pipeline": {},
    "pipeline_costs": {},
    "tma_copy": {},
}
_NUMBERS: dict[str, dict[str, tuple[int, int]]] = {
    "landing": {"piece_bytes": (16, 128)},
    "reuse": {"stores": (1, 4)},
    "ordering": {"blocks": (1, 1 << 16), "rounds": (1, 1 << 16)},
}
TIMED_PROBES = tuple(_WORDS)


def check_timed(probe: str, params: Mapping[str, Any]) -> None:
    """Raises InputError, with the field, for what the probe could not run."""
    for name, words in _WORDS[probe].items():
        if params.get(name) not in words:
            raise InputError("unknown", field=name, value=params.get(name), fix=f"use one of {', '.join(words)}")
    for name, (low, high) in _NUMBERS.get(probe, {}).items():
        value = params.get(name)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise InputError("not possible", field=name, value=value, limit=high, fix=f"use {low} to {high}")
    if probe == "two_loads":
        _check_steps(params.get("steps"))
    if probe in ("pipeline", "pipeline_costs", "tma_copy"):
        check_pipeline(probe, params)
    if probe == "barrier_ops":
        launches = params.get("launches")
        if not isinstance(launches, list) or not launches or not all(launches):
            raise InputError("no steps", field="launches", value=launches, fix="give a list of lists of steps")
        for steps in launches:
            encode_steps(steps)


def _check_steps(steps: Any) -> None:
    known = two_loads_probe.STEP_KINDS
    if not isinstance(steps, list) or not 1 <= len(steps) <= two_loads_probe.MOST_STEPS:
        raise InputError(
            "not a list of steps", field="steps", value=steps, limit=two_loads_probe.MOST_STEPS,
            fix="give pairs of a kind and its operand",
        )  # fmt: skip
    for at, step in enumerate(steps):
        if len(step) != 2 or step[0] not in known or isinstance(step[1], bool) or not isinstance(step[1], int):
            raise InputError("no such step", field=f"steps[{at}]", value=step, fix=f"use one of {', '.join(known)}")
