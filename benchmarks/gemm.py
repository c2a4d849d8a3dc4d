"""The ladder of matrix products beside cuBLAS, every pair timed in turn on this machine's Hopper GPU.

    python benchmarks/gemm.py                      every rung at 8192, then the best at every size; limits and verdict
    python benchmarks/gemm.py store 4096 2048      these rungs at these sizes (m = n = k)
    python benchmarks/gemm.py --repeats 101 --json FILE

A ratio over 1 is the ladder's kernel being faster. Exit code 1 if a limit is missed. Nothing here is a test.
"""

import argparse
import json
import secrets
import statistics
import sys
from pathlib import Path

from tmalab import NoHopperGpuError
from tmalab.experiment.gemm_cases import BEST, LADDER, LADDER_SIZE, gemm_case
from tmalab.experiment.gemm_fastest import FASTEST, fastest_rung
from tmalab.hardware import run_case

LIMITS = {8192: 1.03}  # at the others LEAST, and LEAST_MEAN as the geometric mean of all
COMPARED, LEAST, LEAST_MEAN = (2048, 4096, 6144, 8192, 16384), 0.95, 1.0
MOST_ERROR = 1e-2


def measure(rung: str, size: int, repeats: int, seed: int) -> dict:
    """One line of the table."""
    seen = run_case(gemm_case(rung, size, size, size, seed=seed), repeats=repeats)
    line = {"rung": rung, "size": size, "seed": seed, **seen.values}
    if seen["error"] is None:
        line |= {name: seen.arrays[name].tolist() for name in ("ours_ns", "cublas_ns")}
    return line


def verdicts(lines: list[dict]) -> list[str]:
    """What misses its limit."""
    missed = [f"{line['rung']} at {line['size']}: {line['diagnosis']}" for line in lines if not line["completed"]]
    done = [line for line in lines if line["completed"]]
    missed += [
        f"{line['rung']} at {line['size']}: relative error {line['relative_error']:.2g}, {line['nan']} NaN, "
        f"{line['unwritten']} unwritten"
        for line in done
        if not line["relative_error"] < MOST_ERROR or line["nan"] or line["unwritten"]
    ]
    best = {line["size"]: line["ratio"] for line in done if line["rung"] in FASTEST and line["size"] in COMPARED}
    for size, ratio in best.items():
        if ratio < LIMITS.get(size, LEAST):
            missed.append(f"rung 10 at {size}: {ratio:.3f} of cuBLAS, at least {LIMITS.get(size, LEAST)}")
    if len(best) == len(COMPARED) and statistics.geometric_mean(best.values()) < LEAST_MEAN:
        missed.append(f"geometric mean {statistics.geometric_mean(best.values()):.3f}, at least {LEAST_MEAN}")
    return missed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", help="rungs and sizes; without any, the whole ladder")
    parser.add_argument("--repeats", type=int, default=31)
    parser.add_argument(
        "--seed", type=int, default=secrets.randbelow(1 << 31), help="of the inputs; else new each time"
    )
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    rungs = [word for word in chosen.words if not word.isdigit()]
    sizes = [int(word) for word in chosen.words if word.isdigit()]
    asked = [(rung, size) for size in sizes or [LADDER_SIZE] for rung in rungs or ([BEST] if sizes else LADDER)]
    if not chosen.words:
        asked += [(BEST, size) for size in COMPARED if size != LADDER_SIZE]
    # The last rung in the width that suits the size.
    asked = [(fastest_rung(size, size, size) if rung == BEST else rung, size) for rung, size in asked]
    lines = []
    print(f"inputs of seed {chosen.seed}")
    print(f"{'rung':12} {'size':>6} {'TFLOP/s':>8} {'cuBLAS':>8} {'ratio':>6} {'of peak':>7} {'error':>8}")
    for rung, size in asked:
        try:
            line = measure(rung, size, chosen.repeats, chosen.seed)
        except NoHopperGpuError as error:
            sys.exit(f"not measured: {error}")
        lines.append(line)
        if line["completed"]:
            print(
                f"{rung:12} {size:6} {line['tflops']:8.1f} {line['cublas_tflops']:8.1f} {line['ratio']:6.3f} "
                f"{line['share_of_datasheet']:7.1%} {line['relative_error']:8.1e}", flush=True,
            )  # fmt: skip
    if chosen.json:
        chosen.json.write_text(json.dumps(lines, indent=1) + "\n", encoding="utf-8")
    missed = verdicts(lines)
    print("\n".join(missed) or "every limit is kept")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
