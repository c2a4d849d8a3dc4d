"""`run_case`: one case, live, on this machine's Hopper GPU, in the worker process.

case.probe ─▶ check ─▶ worker, `repeats` times ─▶ undefined bytes masked ─▶ Observation with its provenance
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from statistics import median
from typing import Any

import numpy as np

from tmalab.errors import InputError, TensorMapError
from tmalab.experiment.bank_patterns import patterns_of
from tmalab.experiment.case import Case
from tmalab.experiment.diagnosis import diagnose_fault, diagnose_load
from tmalab.experiment.observation import Observation, Provenance
from tmalab.experiment.wgmma_cases import descriptors_of
from tmalab.hardware.add_one_probe import VARIANTS
from tmalab.hardware.bank_counters import KERNEL as COUNTED_KERNEL
from tmalab.hardware.bank_counters import kept_bank_counts
from tmalab.hardware.bank_times import arrays_of, per_access
from tmalab.hardware.banks_probe import ROUNDS, WARPS
from tmalab.hardware.compile import kernel_sha256
from tmalab.hardware.gallery_runs import VERSIONS, add_up, gallery_item
from tmalab.hardware.gemm_runner import run_gemm
from tmalab.hardware.gpu import GpuInfo
from tmalab.hardware.ncu import kept_counts
from tmalab.hardware.timed_params import TIMED_PROBES, check_timed
from tmalab.hardware.transfers import complete_params
from tmalab.hardware.worker import GIVEN
from tmalab.hardware.worker_client import Reply, shared_worker
from tmalab.model.launch_rules import launch_violations
from tmalab.model.tensor_map import TensorMap
from tmalab.model.violation import Violation


def run_case(case: Case, *, repeats: int = 1, deadline_s: float = 2.0) -> Observation:
    """The observation of `case`, run now, `repeats` times. Bytes that differ between the runs are masked as undefined.

    `deadline_s` is the host's: a kernel that has not returned by then costs the worker, and is the observation's error.
    Raises NoHopperGpuError with the reason where there is no GPU; TensorMapError or InputError, before any launch, for
    parameters that the driver or the probe would refuse; HardwareError where compiling or the worker itself failed.
    """
    if case.probe not in PROBES:
        raise InputError("unknown probe", field="probe", value=case.probe, fix=f"use one of {', '.join(PROBES)}")
    if isinstance(repeats, bool) or not isinstance(repeats, int) or repeats < 1:
        raise InputError("not a number of runs", field="repeats", value=repeats, limit=1, fix="use 1 or more")
    return PROBES[case.probe](case, repeats, deadline_s)


def _ask(probe: str, items: list[Mapping[str, Any]], deadline_s: float) -> tuple[list[Reply], GpuInfo]:
    worker = shared_worker()
    gpu = worker.gpu()
    return [reply.or_raise() for reply in worker.ask(probe, items, deadline_s=deadline_s)], gpu


# What runs where no kernel does: a function of the driver, whose source nobody can hash.
ENCODER = {"tiled": "cuTensorMapEncodeTiled", "im2col": "cuTensorMapEncodeIm2col"}


def _provenance(gpu: GpuInfo, kernel: str, repeats: int) -> Provenance:
    ours = kernel not in ENCODER.values()
    return Provenance(
        gpu=gpu.name,
        compute_capability=gpu.compute_capability,
        driver=gpu.driver,
        cuda=gpu.cuda,
        nvrtc=gpu.nvrtc,
        kernel=f"{kernel}.cu" if ours else kernel,
        kernel_sha256=kernel_sha256(kernel) if ours else "",
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        repeats=repeats,
    )


# --- transfer ---------------------------------------------------------------------------------------------------------


def _run_transfer(case: Case, repeats: int, deadline_s: float) -> Observation:
    params = dict(case.params)
    tm = TensorMap.from_dict(params["tensor_map"]) if "tensor_map" in params else None
    if tm is not None and (broken := tm.violations()):
        raise TensorMapError(broken)
    whole = complete_params(params, tm)
    assert tm is not None
    end = whole["smem_base"] + tm.footprint_bytes()
    if end > whole["smem_bytes"]:
        raise InputError(
            f"the box ends at byte {end} of shared memory", field="smem_bytes", value=whole["smem_bytes"], limit=end,
            fix=f"use at least {end}",
        )  # fmt: skip
    replies, gpu = _ask("transfer", [whole] * repeats, deadline_s)
    failed = next((reply for reply in replies if reply.values["error"]), None)
    chosen = failed or replies[0]
    values = dict(chosen.values)
    detail = values.pop("detail", "")
    values.setdefault("waited_ns", None)
    if failed is None:
        values["waited_ns"] = int(median(reply.values["waited_ns"] for reply in replies))
        values["diagnosis"] = _diagnosis_of_load(values, whole) if whole["direction"] == "load" else None
    else:
        values["diagnosis"] = diagnose_fault(values["error"], _foreseen(tm, whole), detail)
    undefined = differing([reply.arrays for reply in replies]) if failed is None else {}
    return Observation(case, chosen.arrays, values, _provenance(gpu, "transfer", repeats), "live", undefined)


def _diagnosis_of_load(values: Mapping[str, Any], whole: Mapping[str, Any]) -> str | None:
    return diagnose_load(
        expect_tx_bytes=whole["expect_tx_bytes"],
        delivered_bytes=values["delivered_bytes"],
        completed=values["completed"],
    )


def _foreseen(tm: TensorMap, whole: Mapping[str, Any]) -> list[Violation]:
    return launch_violations(
        tm, whole["coords"], direction=whole["direction"], op=whole["op"], smem_base=whole["smem_base"],
        offsets=whole["offsets"], smem_bytes=whole["smem_bytes"], descriptor_space=whole["descriptor_space"],
        descriptor_align=whole["descriptor_align"],
    )  # fmt: skip


def differing(runs: list[Mapping[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """Name → mask of the bytes that were not the same in all runs; a name without any is left out."""
    masks: dict[str, np.ndarray] = {}
    for name, first in runs[0].items():
        mask = np.zeros(first.shape, bool)
        for other in runs[1:]:
            mask |= other[name] != first
        if mask.any():
            masks[name] = mask
    return masks


# --- add_one ----------------------------------------------------------------------------------------------------------


def _run_add_one(case: Case, repeats: int, deadline_s: float) -> Observation:
    variant = case.params.get("variant")
    if variant not in VARIANTS:
        raise InputError("unknown", field="variant", value=variant, fix=f"use one of {', '.join(VARIANTS)}")
    replies, gpu = _ask("add_one", [{**case.params, "repeats": repeats}], deadline_s)
    (reply,) = replies
    values = {**reply.values, "diagnosis": None}
    if not values["error"]:
        values |= kept_counts(variant, gpu) or {}
    if values["error"]:
        values["diagnosis"] = diagnose_fault(values["error"], [], values.pop("detail", ""))
    return Observation(case, reply.arrays, values, _provenance(gpu, f"add_one_{variant}", repeats), "live")


# --- encode -----------------------------------------------------------------------------------------------------------


def _run_encode(case: Case, repeats: int, deadline_s: float) -> Observation:
    """Array `encoded` uint8[128], zeros where the driver refused; value `accepted`. A map that it refuses is asked.

    With the parameter `context` False no context is current, and the value `answer` is the driver's own word.
    """
    if "tensor_map" not in case.params:
        raise InputError("missing", field="tensor_map", value=None, fix="give a tensor map as a dict")
    tm = TensorMap.from_dict(case.params["tensor_map"])
    question: dict[str, Any] = {"maps": [tm.to_dict()] * repeats, "addresses": [tm.address] * repeats}
    question |= {"context": False} if case.params.get("context") is False else {}
    (reply,), gpu = _ask("encode", [question], deadline_s)
    error = reply.values["error"]
    accepted, encoded = [], []
    if not error:
        accepted, encoded = reply.arrays["accepted"].tolist(), list(reply.arrays["encoded"])
    values = {"accepted": accepted[0] if accepted else None, "error": error, "diagnosis": None}
    if reply.values.get("answers"):
        values["answer"] = reply.values["answers"][0]
    arrays = {"encoded": encoded[0]} if encoded else {}
    undefined = differing([{"encoded": one} for one in encoded]) if encoded else {}
    return Observation(case, arrays, values, _provenance(gpu, ENCODER[tm.kind], repeats), "live", undefined)


# --- wgmma ------------------------------------------------------------------------------------------------------------


_WGMMA_TIMES = ("load_cycles", "product_cycles")  # they differ from run to run; what was read does not


def _run_wgmma(case: Case, repeats: int, deadline_s: float) -> Observation:
    """Arrays `read` int16[readings, 64, 64] (which element of the tile was read, -1: none), `descriptors`, `smem`.

    And cycles: `load_cycles` int32[2, times], one load of the tile and eight on their way at once, `product_cycles`
    int32[readings, times], 32 products in a row.
    """
    params = dict(case.params)
    if missing := sorted({"tensor_map", "smem_base", "smem_bytes", "operand", "readings"} - set(params)):
        raise InputError("missing", field=missing[0], value=None, fix="see tmalab/experiment/wgmma_cases.py")
    if broken := TensorMap.from_dict(params["tensor_map"]).violations():
        raise TensorMapError(broken)
    for descriptor in (one for reading in params["readings"] for one in descriptors_of(reading)):
        descriptor.encode()  # raises for what its bits cannot hold
    replies, gpu = _ask("wgmma", [params] * repeats, deadline_s)
    failed = next((reply for reply in replies if reply.values["error"]), None)
    chosen = failed or replies[0]
    values = {**chosen.values, "diagnosis": None}
    if failed is not None:
        values["diagnosis"] = diagnose_fault(values["error"], [], values.pop("detail", ""))
    arrays, undefined = dict(chosen.arrays), {}
    if failed is None:
        timed = {name: np.concatenate([reply.arrays[name] for reply in replies], axis=1) for name in _WGMMA_TIMES}
        arrays |= timed
        undefined = differing([{**reply.arrays, **timed} for reply in replies])
    return Observation(case, arrays, values, _provenance(gpu, "wgmma_tile", repeats), "live", undefined)


# --- gallery ----------------------------------------------------------------------------------------------------------


def _run_gallery(case: Case, repeats: int, deadline_s: float) -> Observation:
    """Values `broken` and `fixed`: what became of all runs of that version (gallery_runs.add_up)."""
    kernel = case.params.get("kernel", "")
    values: dict[str, Any] = {"completed": True, "error": None, "diagnosis": None}
    for name in VERSIONS:
        item = gallery_item(kernel, name)
        replies, gpu = _ask("watch", [item] * repeats, deadline_s)
        values[name] = add_up(item, [reply.values for reply in replies])
    return Observation(case, {}, values, _provenance(gpu, kernel, repeats), "live")


# --- banks ------------------------------------------------------------------------------------------------------------

_TRIAL_S = 0.0005  # of one pattern; the slowest takes 150,000 cycles, a tenth of a ms


def _run_banks(case: Case, repeats: int, deadline_s: float) -> Observation:
    """Arrays of one entry a pattern: `cycles`, `spread`, `latency_cycles`, `wavefronts`; `ncu_…` where it was counted.

    `wavefronts` are the profiler's; without it whole cycles, which are more where a load's words return more slowly.
    """
    patterns = patterns_of(case.params)
    addresses, operations = arrays_of(patterns)
    worker = shared_worker()
    gpu = worker.gpu()
    (reply,) = worker.ask(
        "banks", [{"addresses": GIVEN, "operations": GIVEN, "trials": repeats}],
        deadline_s=deadline_s + _TRIAL_S * repeats * len(patterns),
        arrays={"addresses": addresses, "operations": operations},
    )  # fmt: skip
    reply.or_raise()
    values, arrays = {**reply.values, "diagnosis": None}, {}
    if values["error"]:
        values["diagnosis"] = diagnose_fault(values["error"], [], values.pop("detail", ""))
    else:
        full, chain = reply.arrays["full"], reply.arrays["chain"]
        arrays = per_access(full, chain, operations)
        counts = kept_bank_counts(case, gpu) or {}
        arrays["wavefronts"] = counts.get("ncu_wavefronts", np.rint(arrays["cycles"]).astype(np.uint16))
        arrays |= counts
        values |= {
            "warps": WARPS, "rounds": list(ROUNDS), "idle_cycles": int(np.median(full[0])),
            "counted_by": {"kernel": f"{COUNTED_KERNEL}.cu", "kernel_sha256": kernel_sha256(COUNTED_KERNEL)}
            if counts else None,
        }  # fmt: skip
    return Observation(case, arrays, values, _provenance(gpu, "banks", repeats), "live")


# --- timelines, barriers, orders --------------------------------------------------------------------------------------

_TIMED_S = 10.0  # many launches an item, each between two sweeps of the L2


def _run_timed(case: Case, repeats: int, deadline_s: float) -> Observation:
    """Arrays and values as the probe documents them; the kernel has the probe's name."""
    check_timed(case.probe, case.params)
    (reply,), gpu = _ask(case.probe, [{**case.params, "repeats": repeats}], deadline_s + _TIMED_S)
    values = {**reply.values, "diagnosis": None}
    if values["error"]:
        values["diagnosis"] = _diagnosis_of_barrier(values["error"], values.pop("detail", ""))
    return Observation(case, reply.arrays, values, _provenance(gpu, case.probe, repeats), "live")


def _diagnosis_of_barrier(error: str, detail: str) -> str:
    """No copy of these kernels is against a rule: what they may get wrong is how often they arrive."""
    if error != "LAUNCH_FAILED":
        return diagnose_fault(error, [], detail)
    return (
        f"the launch ended with {error}: an arrival more than the phase awaits, on a barrier whose bytes are still to "
        "come or that was never initialised, is a fault and no hang (measured on an H200)"
    )


# Probe → what runs it. A new probe is a line here and one in backend.py.
PROBES: dict[str, Callable[[Case, int, float], Observation]] = {
    "transfer": _run_transfer, "add_one": _run_add_one, "encode": _run_encode, "banks": _run_banks,
    "wgmma": _run_wgmma, "gallery": _run_gallery, **dict.fromkeys(TIMED_PROBES, _run_timed),
    "gemm": lambda case, repeats, deadline_s: run_gemm(case, repeats, deadline_s, _ask, _provenance),
}  # fmt: skip
