"""Every speed that the project claims, measured in one run beside a calibration loop.

    python benchmarks/run.py                  a table; each line the median of 20, its limit, and their ratio
    python benchmarks/run.py --json FILE      the same as JSON, every sample kept
    python benchmarks/run.py check predict    only the claims whose name holds one of these words

A claim that this machine cannot measure (no Hopper GPU, a package not installed) says so and counts for nothing.
Exit code 1 if a limit is passed. Nothing here is a test: a busy machine is slow, which the calibration line shows.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np

from tmalab import NoHopperGpuError, TensorMap, model, observe
from tmalab.experiment import catalogue
from tmalab.experiment.bank_patterns import patterns_of
from tmalab.experiment.case import Case
from tmalab.model import rules
from tmalab.model.pipeline_program import pipeline_events

REPEATS = 20
ROOT = Path(__file__).parent.parent
CHECK_ONE = ["check", "--dtype", "float16", "--global-dim", "128,16", "--global-strides", "256", "--box-dim", "64,8"]


class NotHereError(Exception):
    """This machine cannot measure the claim; the message says why."""


def samples(function: Callable[[], object], repeats: int = REPEATS) -> list[float]:
    """Seconds of each of `repeats` calls, after one that warms up."""
    function()
    taken = []
    for _ in range(repeats):
        start = perf_counter()
        function()
        taken.append(perf_counter() - start)
    return taken


def run(*words: str, stdin: str | None = None) -> None:
    """One fresh Python, which must answer: legal (0) and illegal (1) are both answers, a traceback is none."""
    done = subprocess.run([sys.executable, *words], cwd=ROOT, input=stdin, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1) or "Traceback" in done.stderr:
        raise NotHereError(last_line(done.stderr))


def last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no answer"])[-1]


# --- claims: each returns its samples in seconds (or, for a ratio, the ratios) ----------------------------------------


def calibration() -> list[float]:
    """A million turns of a plain Python loop: the yardstick for the machine and for how busy it is."""

    def loop() -> int:
        total = 0
        for number in range(1_000_000):
            total += number & 7
        return total

    return samples(loop)


def import_beyond_numpy() -> list[float]:
    """`import tmalab` and all that a prediction uses, less `import numpy`, the two in turn."""
    whole = "from tmalab import TensorMap, model, observe; model.load"
    pairs = []
    for _ in range(REPEATS):
        (ours,) = samples(lambda: run("-c", whole), 1)
        (numpys,) = samples(lambda: run("-c", "import numpy"), 1)
        pairs.append(ours - numpys)
    return pairs


def predict_32_kib() -> list[float]:
    """A 64x256 fp16 tile with 128B swizzle, out of a tensor of 1 MiB."""
    return _predict((512, 1024), (1024,), (64, 256))


def predict_200_kib() -> list[float]:
    """A 64x200x8 fp16 tile with 128B swizzle."""
    return _predict((64, 400, 16), (128, 51200), (64, 200, 8))


def _predict(global_dim: tuple[int, ...], global_strides: tuple[int, ...], box_dim: tuple[int, ...]) -> list[float]:
    tensor_map = TensorMap.tiled("float16", global_dim, global_strides, box_dim, swizzle="128B")
    memory = np.random.default_rng(0).integers(0, 256, global_dim[-1] * global_strides[-1], dtype=np.uint8)
    size = tensor_map.footprint_bytes()
    return samples(lambda: model.load(tensor_map, memory, [0] * tensor_map.rank, smem_bytes=size))


def warp_pattern() -> list[float]:
    """The wavefronts of one access, the dearest: 16 bytes a lane, all in one group of banks."""
    addresses = [128 * lane for lane in range(32)]
    return [taken / 100 for taken in samples(lambda: [model.warp_access(addresses, 16).count for _ in range(100)])]


def warp_patterns_10_000() -> list[float]:
    """10,000 random accesses, loads and stores of 1 to 16 bytes; 2,000 patterns, five times."""
    params = {"family": "random", "seed": 5, "count": 2000, "op": ["load", "store"]}
    patterns = patterns_of(params) * 5
    return samples(lambda: [pattern.access().count for pattern in patterns], 5)


def check_100_000() -> list[float]:
    """100,000 descriptors through `tmalab check -`, one JSON line each, start and reading included."""
    lines = "\n".join(_random_descriptor_lines(100_000))
    return samples(lambda: run("-m", "tmalab", "check", "-", "--json", stdin=lines), 3)


def rules_100_000() -> list[float]:
    """The rules alone, on 100,000 tensor maps that are already built."""
    maps = [TensorMap.from_dict(json.loads(line)) for line in _random_descriptor_lines(100_000)]
    return samples(lambda: [rules.violations(tensor_map, "sm_90") for tensor_map in maps], 3)


def _random_descriptor_lines(count: int) -> list[str]:
    """About half of them broken in one place."""
    random = np.random.default_rng(7)
    words = ("none", "32B", "64B", "128B")
    lines = []
    for _ in range(count):
        rank = int(random.integers(2, 6))
        dims = [int(n) for n in random.integers(16, 4096, rank)]
        strides = [dims[0] * 2 + (-dims[0] * 2) % 16]
        for dim in dims[1:-1]:
            strides.append(strides[-1] * dim)
        box = [int(n) for n in random.integers(1, 9, rank)]
        box[0] *= 8
        if random.random() < 0.5:
            strides[int(random.integers(rank - 1))] += 8
        swizzle = words[int(random.integers(4))]
        fields = {"dtype": "float16", "global_dim": dims, "global_strides": strides, "box_dim": box, "swizzle": swizzle}
        lines.append(json.dumps(fields))
    return lines


def explore_pipeline() -> list[float]:
    """Every interleaving of a 3-stage, 2-consumer pipeline of 20 turns; the search alone, without the proof."""
    program = model.BarrierProgram(pipeline_events(num_stages=3, consumers=2, iterations=20))
    if program.run(prove=False).bounded:
        raise NotHereError("the search was bounded")
    return samples(lambda: program.run(prove=False))


def prove_pipeline() -> list[float]:
    """The same, as a reader asks it: the order of one run proves that every interleaving completes."""
    events = pipeline_events(num_stages=3, consumers=2, iterations=20)
    return samples(lambda: model.BarrierProgram(events).run())


def check_cold() -> list[float]:
    """`tmalab check` on one descriptor, a fresh Python each time."""
    return samples(lambda: run("-m", "tmalab", *CHECK_ONE))


def against_tensor_layouts() -> list[float]:
    """How many times faster than the public package the map of one 64x64 fp16 tile is; in the same run."""
    try:
        from tensor_layouts import Layout, Swizzle, compose
    except ImportError:
        raise NotHereError("pip install tensor-layouts") from None
    tensor_map = TensorMap.tiled("float16", (64, 64), (128,), (64, 64), swizzle="128B")
    layout = compose(Swizzle(3, 3, 3), Layout((64, 64), (1, 64)))  # the same map in elements of 2 bytes
    ours = model.shared_offsets(tensor_map)
    theirs = np.array([[layout(column, row) for row in range(64)] for column in range(64)]) * 2
    if not (ours == theirs).all():
        raise NotHereError("the two maps differ: nothing to compare")
    slow = samples(lambda: [layout(column, row) for row in range(64) for column in range(64)])
    fast = samples(lambda: model.shared_offsets(tensor_map))
    return [theirs_s / ours_s for theirs_s, ours_s in zip(slow, fast, strict=True)]


def observe_warm() -> list[float]:
    """`observe(case, live=True)` on a worker that has run it once."""
    case = catalogue.case("tile/128B/r0/c0/b0")
    try:
        return samples(lambda: observe(case, live=True))
    except NoHopperGpuError as error:
        raise NotHereError(error.reason) from None


def observe_cold() -> list[float]:
    """The first `observe(case, live=True)` of a fresh Python with an empty compile cache, worker start included."""
    first_observe = (
        "from time import perf_counter; from tmalab import observe; start = perf_counter()\n"
        "observe('tile/128B/r0/c0/b0', live=True); print(perf_counter() - start)"
    )
    taken = []
    for _ in range(5):
        with tempfile.TemporaryDirectory() as cache:
            done = subprocess.run(
                [sys.executable, "-c", first_observe],
                cwd=ROOT, env={**os.environ, "TMALAB_CACHE": cache}, capture_output=True, text=True, check=False,
            )  # fmt: skip
        if done.returncode != 0:
            raise NotHereError(last_line(done.stderr))
        taken.append(float(done.stdout))
    return taken


def copy_beside_driver() -> list[float]:
    """4 GiB copied by the TMA engine alone, as a share of the driver's own rate; both in turn, in one run."""
    case = catalogue.case("pipeline/copy")
    best = next(version for version in case.params["versions"] if version[:5] == ["counter", 1, 16384, 6, 3])
    try:
        seen = observe(Case("copy", case.probe, {**case.params, "versions": [best]}), live=True, repeats=REPEATS)
    except NoHopperGpuError as error:
        raise NotHereError(error.reason) from None
    ours, drivers = seen["ms"]
    return [float(share) for share in drivers / ours]


CLAIMS: dict[str, tuple[Callable[[], list[float]], float | None, str]] = {
    "calibration loop": (calibration, None, "s"),
    "import beyond numpy": (import_beyond_numpy, 0.150, "s"),
    "predict 32 KiB": (predict_32_kib, 0.001, "s"),
    "predict 200 KiB": (predict_200_kib, 0.006, "s"),
    "warp pattern": (warp_pattern, 50e-6, "s"),
    "warp patterns, 10,000": (warp_patterns_10_000, 0.5, "s"),
    "check 100,000, batch": (check_100_000, 6.0, "s"),
    "check 100,000, rules": (rules_100_000, None, "s"),
    "barriers, every order": (explore_pipeline, 1.0, "s"),
    "barriers, proved": (prove_pipeline, 0.1, "s"),
    "check, cold start": (check_cold, 0.350, "s"),
    "map beside tensor-layouts": (against_tensor_layouts, 100.0, "x"),
    "observe live, warm": (observe_warm, 0.010, "s"),
    "observe live, cold": (observe_cold, 4.0, "s"),
    "TMA copy beside driver": (copy_beside_driver, 0.98, "x"),
}


def within(median: float, limit: float | None, unit: str) -> bool:
    """A time stays under its limit, a speed-up over it."""
    return limit is None or (median >= limit if unit == "x" else median <= limit)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="measure only the claims whose name holds one of these")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every sample here")
    arguments = parser.parse_args()

    machine = {"python": platform.python_version(), "numpy": np.__version__, "cpu": platform.processor() or "?"}
    print(f"Python {machine['python']}, numpy {machine['numpy']}, {os.cpu_count()} cores")
    print(f"{'claim':28}{'median':>12}{'best':>12}{'limit':>10}   verdict")
    rows, all_within = [], True
    for name, (measure, limit, unit) in CLAIMS.items():
        if arguments.words and not any(word in name for word in arguments.words):
            continue
        try:
            taken = measure()
        except NotHereError as reason:
            print(f"{name:28}not measured: {reason}")
            rows.append({"claim": name, "not_measured": str(reason)})
            continue
        median, best = statistics.median(taken), (max if unit == "x" else min)(taken)
        good = within(median, limit, unit)
        all_within &= good
        shown = (lambda value: f"{value:.3g} x") if unit == "x" else (lambda value: f"{value * 1e3:.3f} ms")
        bound = "" if limit is None else f"{limit:.3g} x" if unit == "x" else f"{limit * 1e3:g} ms"
        verdict = "" if limit is None else "within" if good else "OVER"
        print(f"{name:28}{shown(median):>12}{shown(best):>12}{bound:>10}   {verdict}", flush=True)
        rows.append({"claim": name, "unit": unit, "median": median, "limit": limit, "within": good, "samples": taken})
    if arguments.json:
        arguments.json.write_text(json.dumps({"schema": 1, "machine": machine, "rows": rows}, indent=1) + "\n")
    return 0 if all_within else 1


if __name__ == "__main__":
    sys.exit(main())
