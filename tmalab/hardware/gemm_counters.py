"""What the GPU's own counters say of the ladder, through Nsight Compute: one launch a rung.

    ncu … python -m tmalab.hardware.gemm_once 8192 8192 8192 tma wgmma … ─▶ {"tensor_pct": 61.3, "l2_hit_pct": …}

The recorder counts before it times, and keeps the counts beside the compiled kernels; an observation of that rung on
that shape carries them from then on.

>>> parse('"ID","Metric Name","Metric Value"\\n"0","lts__t_sector_hit_rate.pct","81.5"\\n')
[{'l2_hit_pct': 81.5}]
"""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence

from tmalab.experiment.case import Case
from tmalab.experiment.gemm_plan import rung
from tmalab.hardware.compile import kernel_sha256, remember, remembered
from tmalab.hardware.gpu import GpuInfo
from tmalab.hardware.ncu import profile, uncounted

# Name here → the counter's
METRICS = {
    "tensor_pct": "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
    "tensor_instructions": "sm__inst_executed_pipe_tensor.sum",
    "shared_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "shared_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
    "l2_hit_pct": "lts__t_sector_hit_rate.pct",
    "l2_sectors": "lts__t_sectors.sum",
    "dram_bytes": "dram__bytes.sum",
    "instructions": "smsp__inst_executed.sum",
    "duration_ns": "gpu__time_duration.sum",
}
_NAMES = {metric: name for name, metric in METRICS.items()}
_START_S, _LAUNCH_S = 60.0, 10.0  # the deadline


def kept_gemm_counts(case: Case, gpu: GpuInfo) -> dict[str, float] | None:
    """What was counted for this case on this GPU with this driver and compiler, or None where nothing was."""
    kept = remembered("gemm_counts", _key(case, gpu))
    return None if kept is None else json.loads(kept)


def keep_gemm_counts(cases: Sequence[Case], gpu: GpuInfo) -> bool:
    """Count those of `cases`, all of one shape, that were not; False where there is no profiler.

    Raises HardwareError where ncu runs but reads no counters.
    """
    left = [case for case in cases if kept_gemm_counts(case, gpu) is None]
    if not left:
        return True
    m, n, k = (left[0].params[name] for name in ("m", "n", "k"))
    counts = count(m, n, k, [case.params["rung"] for case in left])
    if counts is None:
        return False
    for case, counted in zip(left, counts, strict=True):
        remember("gemm_counts", _key(case, gpu), json.dumps(counted).encode())
    return True


def _key(case: Case, gpu: GpuInfo) -> list[str]:
    kernel = f"gemm/{rung(case.params['rung']).file}"
    return [case.key, kernel_sha256(kernel), gpu.name, gpu.driver, gpu.nvrtc]


def count(m: int, n: int, k: int, rungs: Sequence[str]) -> list[dict[str, float]] | None:
    """The counters of one launch of each; None where there is no profiler. The clocks are left as they are."""
    program = ("tmalab.hardware.gemm_once", str(m), str(n), str(k), *rungs)
    done = profile(METRICS.values(), program, _START_S + _LAUNCH_S * len(rungs), "--kernel-name", "gemm")
    if done is None:
        return None
    launches = parse(done.stdout)
    if len(launches) != len(rungs):
        raise uncounted(f"ncu counted {len(launches)} of {len(rungs)} launches", done)
    return launches


def parse(text: str) -> list[dict[str, float]]:
    """The counters of each launch, in their order, from what `ncu --csv` prints; what it does not know is left out."""
    launches: dict[int, dict[str, float]] = {}
    for row in csv.DictReader(line for line in text.splitlines() if line.startswith('"')):
        name = _NAMES.get(row.get("Metric Name", ""))
        try:
            value = float((row.get("Metric Value") or "").replace(",", ""))
        except ValueError:
            continue
        if name:
            launches.setdefault(int(row["ID"]), {})[name] = value
    return [launches[number] for number in sorted(launches)]
