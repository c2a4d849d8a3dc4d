"""`run_case` for the probe "gemm": planned before anything is launched, and its rates beside cuBLAS' and the peak.

    params ─▶ gemm_plan (InputError) ─▶ worker ─▶ times ─▶ TFLOP/s, ratio, share of peak ─▶ Observation

A ratio over 1 is the ladder's kernel being faster than cuBLAS.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tmalab.experiment.case import Case
from tmalab.experiment.diagnosis import diagnose_fault
from tmalab.experiment.gemm_plan import GemmPlan, plan_of, rung
from tmalab.experiment.observation import Observation, Provenance
from tmalab.hardware.compile import kernel_sources
from tmalab.hardware.gemm_counters import kept_gemm_counts
from tmalab.hardware.gpu import GpuInfo
from tmalab.hardware.worker_client import Reply

DATASHEET_TFLOPS = 989.4  # dense bfloat16 of an H200 SXM, as NVIDIA gives it
FLOPS_PER_CYCLE = 4096  # of one multiprocessor's tensor cores: 64 x 256 x 16 products every 128 cycles
_DEADLINE_S = 60.0  # matrices, reference and cuBLAS' tuning included

Ask = Callable[[str, list[Mapping[str, Any]], float], tuple[list[Reply], GpuInfo]]
Provenanced = Callable[[GpuInfo, str, int], Provenance]


def run_gemm(case: Case, repeats: int, deadline_s: float, ask: Ask, provenance: Provenanced) -> Observation:
    """Values and arrays as GemmProbe gives them, with the rates. Raises as `run_case`."""
    plan = plan_of(case.params)
    kernel = f"gemm/{plan.rung.file}"
    (reply,), gpu = ask("gemm", [{**case.params, "repeats": repeats}], deadline_s + _DEADLINE_S)
    values: dict[str, Any] = {**reply.values, "diagnosis": None}
    values["source_lines"] = source_lines(plan.rung.name)
    if values["error"]:
        values["diagnosis"] = diagnose_fault(values["error"], [], values.pop("detail", ""))
    elif values["waiting_for"]:
        values["diagnosis"] = _diagnosis_of_wait(values["waiting_for"])
    if "ours_ns" in reply.arrays:
        values |= rates(plan, reply.arrays["ours_ns"], reply.arrays["cublas_ns"], values)
        values["counters"] = kept_gemm_counts(case, gpu)
    return Observation(case, reply.arrays, values, provenance(gpu, kernel, repeats), "live")


def source_lines(name: str) -> int:
    """Of the rung's own file."""
    kernel = f"gemm/{rung(name).file}"
    return len(kernel_sources(kernel)[f"{kernel}.cu"].splitlines())


def rates(
    plan: GemmPlan, ours_ns: np.ndarray, cublas_ns: np.ndarray, values: Mapping[str, Any]
) -> dict[str, float | None]:
    """From the medians; `share_of_clock` of what the tensor cores could do at the clock that the traced run had."""
    ours, cublas = (float(np.median(ns)) for ns in (ours_ns, cublas_ns))
    tflops, clock = plan.flops / ours / 1e3, values.get("cycles_per_ns")
    peak = None if clock is None else values["sms"] * FLOPS_PER_CYCLE * clock / 1e3
    return {
        "tflops": round(tflops, 2), "cublas_tflops": round(plan.flops / cublas / 1e3, 2),
        "ratio": round(cublas / ours, 4), "share_of_datasheet": round(tflops / DATASHEET_TFLOPS, 4),
        "share_of_clock": None if peak is None else round(tflops / peak, 4),
    }  # fmt: skip


def _diagnosis_of_wait(waiting_for: Mapping[str, Any]) -> str:
    return (
        f"block {waiting_for['block']} waited 200 ms for the {waiting_for['barrier']} barrier at its step "
        f"{waiting_for['step']} (parity {waiting_for['parity']}), and gave up: the result is not one"
    )
