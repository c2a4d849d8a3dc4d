"""Executed instructions, as the GPU's own counters give them through Nsight Compute; recorded ones come from here only.

    ncu --csv … python -m tmalab.hardware.run_once tma ─▶ {"instructions": 89, "thread_instructions": …, "opcodes": …}

`python -m tmalab.hardware.ncu` profiles the add_one kernels once (some seconds each) and keeps the counts beside the
compiled kernels; from then on every observation of them on this machine carries them.

>>> parse_csv('noise\\n"ID","Metric Name","Metric Unit","Metric Value"\\n"0","a.sum","inst","1,234"\\n')
{'a.sum': '1,234'}
"""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tmalab.errors import HardwareError, TmaLabError
from tmalab.hardware.compile import kernel_sha256, remember, remembered
from tmalab.hardware.gpu import GpuInfo, find_gpu

_WARP, _THREAD = "smsp__inst_executed.sum", "smsp__thread_inst_executed.sum"
_OPCODES = "sass__inst_executed_per_opcode"
_DEADLINE_S = 120.0
_PLACES = ("/usr/local/cuda/bin/ncu", "/opt/nvidia/nsight-compute")


def find_ncu() -> str | None:
    """The profiler's path: on PATH, or where its installer puts it. None where there is none."""
    if found := shutil.which("ncu"):
        return found
    candidates = [path for place in _PLACES for path in (Path(place), *Path(place).glob("*/ncu")) if path.is_file()]
    return str(candidates[-1]) if candidates else None


def profile(
    metrics: Iterable[str], program: Sequence[str], deadline_s: float, *options: str
) -> subprocess.CompletedProcess[str] | None:
    """What `ncu --csv` says of these metrics of `python -m` program; None where there is no profiler.

    The clocks are left as they are. Raises HardwareError after `deadline_s`.
    """
    ncu = find_ncu()
    if ncu is None:
        return None
    package = str(Path(__file__).parent.parent.parent)
    paths = os.pathsep.join([package, *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [
        ncu, "--csv", "--clock-control", "none", *options, "--metrics", ",".join(metrics),
        sys.executable, "-m", *program,
    ]  # fmt: skip
    try:
        return subprocess.run(
            command, capture_output=True, text=True, timeout=deadline_s, check=False,
            env={**os.environ, "PYTHONPATH": paths},
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise HardwareError(f"ncu did not finish within {deadline_s:.0f} s", field="program", value=program) from None


def uncounted(
    what: str, done: subprocess.CompletedProcess[str], field: str | None = None, value: object = None
) -> HardwareError:
    """The error of a profiler that ran and read no counters, with the reason that it gave."""
    told = [line for line in (done.stdout + done.stderr).splitlines() if "error" in line.lower()]
    return HardwareError(
        f"{what}: {told[0] if told else f'exit code {done.returncode}'}", field=field, value=value,
        fix="run as root, or allow counters with the driver's NVreg_RestrictProfilingToAdminUsers=0",
    )  # fmt: skip


def kept_counts(variant: str, gpu: GpuInfo) -> dict[str, Any] | None:
    """What was counted for this kernel on this GPU with this driver and compiler, or None where nothing was."""
    kept = remembered("counts", _key(variant, gpu))
    return None if kept is None else json.loads(kept)


def keep_counts(variant: str, gpu: GpuInfo) -> dict[str, Any] | None:
    """Count, and keep for `kept_counts`. None where there is no profiler. Raises HardwareError as the counting does."""
    counts = count_instructions(variant)
    if counts is not None:
        remember("counts", _key(variant, gpu), json.dumps(counts).encode())
    return counts


def _key(variant: str, gpu: GpuInfo) -> list[str]:
    return [kernel_sha256(f"add_one_{variant}"), gpu.name, gpu.driver, gpu.nvrtc]


def count_instructions(variant: str) -> dict[str, Any] | None:
    """Executed instructions of one launch of add_one_`variant`; None where there is no profiler.

    `instructions` counts a warp's once, `thread_instructions` each thread's, `opcodes` the warp's by SASS opcode
    (empty where this ncu does not give them). The clocks are left as they are. Raises HardwareError where ncu runs but
    reads no counters (no permission, or a virtual machine without them).
    """
    program = ("tmalab.hardware.run_once", variant)
    done = profile((_WARP, _THREAD, _OPCODES), program, _DEADLINE_S, "--print-metric-instances", "details")
    if done is None:
        return None
    metrics = parse_csv(done.stdout)
    if _WARP not in metrics:
        raise uncounted("ncu read no counters", done, "variant", variant)
    return {
        "instructions": _integer(metrics[_WARP]),
        "thread_instructions": _integer(metrics[_THREAD]),
        "opcodes": parse_opcodes(metrics.get(_OPCODES, "")),
    }


def parse_csv(text: str) -> dict[str, str]:
    """Metric name → value, from what `ncu --csv` prints between the program's own lines."""
    lines = [line for line in text.splitlines() if line.startswith('"')]
    return {row["Metric Name"]: row["Metric Value"] for row in csv.DictReader(lines) if row.get("Metric Name")}


def parse_opcodes(value: str) -> dict[str, int]:
    """Opcode → count, from `41 (BAR: 2; FADD: 8; …)`.

    >>> parse_opcodes("10 (BAR: 2; FADD: 8)")
    {'BAR': 2, 'FADD': 8}
    """
    return {name: int(count.replace(",", "")) for name, count in re.findall(r"([A-Z][A-Z0-9_.]*): ([\d,]+)", value)}


def _integer(text: str) -> int:
    return round(float(text.replace(",", "")))


def main() -> int:
    """Count the three add_one kernels on this machine, and keep and print the counts."""
    from tmalab.hardware.add_one_probe import VARIANTS

    try:
        gpu = find_gpu()
        counted = {variant: keep_counts(variant, gpu) for variant in VARIANTS}
    except TmaLabError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    if None in counted.values():
        sys.stderr.write("no profiler: install NVIDIA Nsight Compute (ncu)\n")
        return 1
    sys.stdout.write(json.dumps(counted, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
