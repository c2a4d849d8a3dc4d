"""Wavefronts and bank conflicts as the GPU's own counters give them, through Nsight Compute: one launch a pattern.

    patterns ─▶ ncu … python -m tmalab.hardware.banks_once FILE ─▶ "ncu_wavefronts", "ncu_conflicts" uint16[patterns]

The recorder counts a case before it is run, about 10 ms a pattern, and keeps the counts beside the compiled kernels;
every observation of that case on this machine carries them from then on.

>>> counts_of_launch({WAVEFRONTS["load"]: 256, WAVEFRONTS["store"]: 0, CONFLICTS["load"]: 64, CONFLICTS["store"]: 0})
(4, 1)
"""

from __future__ import annotations

import csv
import io
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from tmalab.errors import HardwareError
from tmalab.experiment.bank_patterns import patterns_of
from tmalab.experiment.case import Case
from tmalab.hardware.bank_times import arrays_of
from tmalab.hardware.banks_once import ACCESSES
from tmalab.hardware.compile import kernel_sha256, remember, remembered
from tmalab.hardware.gpu import GpuInfo
from tmalab.hardware.ncu import profile, uncounted

KERNEL = "banks_once"
_NAMES = {"load": "ld", "store": "st"}
WAVEFRONTS = {op: f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{name}.sum" for op, name in _NAMES.items()}
CONFLICTS = {op: f"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{name}.sum" for op, name in _NAMES.items()}
_METRICS = (*WAVEFRONTS.values(), *CONFLICTS.values())
_START_S, _PATTERN_S = 60.0, 0.2  # the deadline: much more than either was seen to take


def kept_bank_counts(case: Case, gpu: GpuInfo) -> dict[str, np.ndarray] | None:
    """What was counted for this case on this GPU with this driver and compiler, or None where nothing was."""
    kept = remembered("bank_counts", _key(case, gpu))
    if kept is None:
        return None
    with np.load(io.BytesIO(kept), allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def keep_bank_counts(cases: Sequence[Case], gpu: GpuInfo) -> bool:
    """Count those of `cases` that were not, in one run of the profiler; False where there is no profiler.

    Raises HardwareError where ncu runs but reads no counters.
    """
    left = [case for case in cases if kept_bank_counts(case, gpu) is None]
    if not left:
        return True
    patterns = [patterns_of(case.params) for case in left]
    counts = count_wavefronts(*arrays_of([pattern for listed in patterns for pattern in listed]))
    if counts is None:
        return False
    first = 0
    for case, listed in zip(left, patterns, strict=True):
        content = io.BytesIO()
        part = slice(first, first + len(listed))
        np.savez(content, ncu_wavefronts=counts["ncu_wavefronts"][part], ncu_conflicts=counts["ncu_conflicts"][part])
        remember("bank_counts", _key(case, gpu), content.getvalue())
        first += len(listed)
    return True


def _key(case: Case, gpu: GpuInfo) -> list[str]:
    return [case.key, kernel_sha256(KERNEL), gpu.name, gpu.driver, gpu.nvrtc]


def count_wavefronts(addresses: np.ndarray, operations: np.ndarray) -> dict[str, np.ndarray] | None:
    """Both counts an access, of each pattern; None where there is no profiler. The clocks are left as they are."""
    deadline_s = _START_S + _PATTERN_S * len(addresses)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "patterns.npz"
        np.savez(file, addresses=addresses, operations=operations)
        program = ("tmalab.hardware.banks_once", str(file))
        done = profile(_METRICS, program, deadline_s, "--cache-control", "none")
    if done is None:
        return None
    launches = parse_launches(done.stdout)
    if len(launches) != len(addresses):
        raise uncounted(f"ncu counted {len(launches)} of {len(addresses)} launches", done)
    counts = np.array([counts_of_launch(launch) for launch in launches], np.uint16)
    return {"ncu_wavefronts": counts[:, 0], "ncu_conflicts": counts[:, 1]}


def parse_launches(text: str) -> list[dict[str, int]]:
    """Metric name → value of each launch, in their order, from what `ncu --csv` prints."""
    launches: dict[int, dict[str, int]] = {}
    for row in csv.DictReader(line for line in text.splitlines() if line.startswith('"')):
        if row.get("Metric Name") in _METRICS:
            launches.setdefault(int(row["ID"]), {})[row["Metric Name"]] = round(
                float(row["Metric Value"].replace(",", ""))
            )
    return [launches[number] for number in sorted(launches)]


def counts_of_launch(launch: Mapping[str, int]) -> tuple[int, int]:
    """Wavefronts and conflicts of one access. Raises HardwareError where a launch's are no multiple of its accesses."""
    found = []
    for metrics in (WAVEFRONTS, CONFLICTS):
        each, rest = divmod(sum(launch.get(name, 0) for name in metrics.values()), ACCESSES)
        if rest:
            raise HardwareError(f"the counters do not divide by {ACCESSES} accesses", value=dict(launch))
        found.append(each)
    return found[0], found[1]
