"""Thousands of random launches, a third of them faulty, and nothing may be left behind: the promise, put to the test.

    python benchmarks/soak.py                                  5000 launches, 210 of which kill their CUDA context
    python benchmarks/soak.py --launches 300 --kills 10        a short one

soak.json beside this file is what the first line printed on an H200.

    two in three    a random load, store or reduction: its bytes are held against the model's
    hangs           a load whose barrier is armed for 16 bytes more than come; the kernel's deadline is 20 ms
    kills           a load to a misaligned shared address, or from an inner coordinate between two 16-byte steps

At the end: every good launch was right, every faulty one was named, this process has no child and no more memory than
after its first tenth, and the GPU's memory is what it was. Exit code 1 if not. Needs a Hopper GPU.
"""

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from datetime import date
from pathlib import Path
from random import Random
from time import perf_counter, sleep

from tmalab import NoHopperGpuError, TensorMap
from tmalab.experiment.case import Case
from tmalab.experiment.random_transfer import random_transfer
from tmalab.experiment.transfer_case import transfer_case
from tmalab.hardware import close_worker, find_gpu, stream_transfers
from tmalab.recordings.comparing import foretold_faults, judge_transfer

WAIT_NS = 20_000_000
MEMORY = {"pattern": "arange_float32", "bytes": 4096}
BOX = TensorMap.tiled("float32", (32, 32), (128,), (16, 8))
MOST_GROWTH_BYTES = 64 << 20
RELEASE_S = 10.0


def good(rng: Random, name: str) -> Case:
    """A random transfer that keeps every rule."""
    while True:
        case = random_transfer(rng, name)
        if "expect_tx_bytes" not in case.params and not foretold_faults(case):
            return case


def hang(rng: Random, name: str) -> Case:
    """A load that brings 16 bytes less than its barrier waits for."""
    armed = BOX.transaction_bytes() + 16 * rng.randrange(1, 64)
    case = transfer_case(name, BOX, "load", (4 * rng.randrange(8), rng.randrange(32)), memory=MEMORY,
                         smem_bytes=1024, expect_tx_bytes=armed)  # fmt: skip
    return Case(name, "transfer", {**case.params, "wait_ns": WAIT_NS})


def kill(rng: Random, name: str) -> Case:
    """A load that the engine refuses, which ruins the CUDA context."""
    place = {"coords": (0, 0), "smem_base": 64} if rng.random() < 0.5 else {"coords": (1, 0), "smem_base": 0}
    return transfer_case(name, BOX, "load", place["coords"], memory=MEMORY, smem_bytes=1024,
                         smem_base=place["smem_base"])  # fmt: skip


def programme(launches: int, kills: int, seed: int) -> list[tuple[str, Case]]:
    """(kind, case) of every launch, shuffled: a third is faulty."""
    rng = Random(seed)
    faulty = launches // 3
    kinds = ["kill"] * kills + ["hang"] * (faulty - kills) + ["good"] * (launches - faulty)
    rng.shuffle(kinds)
    make = {"good": good, "hang": hang, "kill": kill}
    return [(kind, make[kind](rng, f"soak/{number}")) for number, kind in enumerate(kinds)]


def complaint(kind: str, case: Case, result) -> str | None:
    """What was not as it has to be, or None."""
    if result.raised:
        return f"raised: {result.raised}"
    if kind == "good":
        judged = judge_transfer(case, result)
        return f"wrong: {judged[0]}" if judged else None
    if kind == "hang":
        return None if result.error is None and not result.values["completed"] else f"did not hang: {result.values}"
    (violation, *_) = foretold_faults(case)
    return None if result.error == violation.cuda_error else f"{result.error} where {violation.cuda_error} was foretold"


def children() -> int:
    """Processes whose parent is this one."""
    count = 0
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        count += fields[1] == str(os.getpid()) and fields[0] != "Z"
    return count


def own_bytes() -> int:
    """Resident memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def gpu_mib() -> int:
    """Memory in use on the first GPU, whoever uses it."""
    asked = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
    return int(subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split()[0])


def soak(launches: int, kills: int, workers: int, seed: int) -> dict[str, object]:
    """Run it; figures and complaints."""
    gpu = find_gpu()
    planned = programme(launches, kills, seed)
    before, early, started = gpu_mib(), 0, perf_counter()
    counts: Counter[str] = Counter()
    complaints: list[str] = []
    results = stream_transfers([case.params for _, case in planned], workers=workers)
    for number, (index, result) in enumerate(results):
        kind, case = planned[index]
        counts[kind] += 1
        if said := complaint(kind, case, result):
            complaints.append(f"{case.name} ({kind}) {said}")
        if number == launches // 10:
            early = own_bytes()
    seconds = perf_counter() - started
    close_worker()
    patience = perf_counter() + RELEASE_S  # the driver gives memory back a moment after its process has gone
    while gpu_mib() > before and perf_counter() < patience:
        sleep(0.2)
    left = {"children": children(), "gpu_mib": gpu_mib() - before, "grown_bytes": own_bytes() - early}
    if sum(counts.values()) != launches:
        complaints.append(f"{sum(counts.values())} of {launches} came back")
    if left["children"] or left["gpu_mib"] > 0 or left["grown_bytes"] > MOST_GROWTH_BYTES:
        complaints.append(f"left behind: {left}")
    return {"gpu": str(gpu), "launches": launches, **counts, "seconds": round(seconds, 1), "workers": workers,
            "left": left, "complaints": complaints, "date": date.today().isoformat()}  # fmt: skip


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Thousands of random launches, a third of them faulty.")
    parser.add_argument("--launches", type=int, default=5000)
    parser.add_argument("--kills", type=int, default=210)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    try:
        figures = soak(given.launches, given.kills, given.workers, given.seed)
    except NoHopperGpuError as error:
        print(f"not here: {error}", file=sys.stderr)
        return 2
    print(json.dumps(figures, indent=1))
    return 1 if figures["complaints"] else 0


if __name__ == "__main__":
    sys.exit(main())
