"""The campaign: random descriptors and transfers by the hundred thousand, the hardware's answers beside the model's.

    chunks ──▶ processes, each with a GPU worker ──▶ journal.jsonl ──▶ summary.json
                                    (an interrupted campaign goes on)  disagreements.jsonl
                                                                       descriptors.jsonl.gz, transfers.jsonl.gz

The last two are the golden set: every so-many-th record with the hash of what the hardware left, for tests that run
where there is no GPU. A fault costs one GPU worker; a process that dies costs the chunks that were under way.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import signal
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tmalab.errors import HardwareError, InputError, RecordingError
from tmalab.experiment import generator
from tmalab.recordings.comparing import Json, compare_chunk
from tmalab.recordings.files import write_atomically
from tmalab.recordings.progress import Progress

if TYPE_CHECKING:
    from tmalab.hardware.gpu import GpuInfo

SCHEMA = 1
CHUNKS = {"transfers": 200, "descriptors": 2500}  # records in a chunk: about a second's work; the long ones first
GOLDEN = {"transfers": 1000, "descriptors": 4000}  # golden records that a campaign aims at, whatever its size
JOURNAL = "journal.jsonl"
_MOST_BROKEN_POOLS = 5


class Task(NamedTuple):
    """One chunk to compare; the arguments of `compare_chunk`."""

    kind: str
    seed: int
    chunk: int
    records: int
    golden_every: int


def run_campaign(
    *, descriptors: int, transfers: int, seed: int, out: Path, workers: int | None = None, force: bool = False
) -> Json:
    """Compare that many of each, write the results into the folder `out`, and return the summary.

    Goes on from `out`'s journal if seed, code, GPU and driver are the same, unless `force`. `workers` is the number
    of processes (default: one a core, at most 16). Raises InputError, NoHopperGpuError, RecordingError, HardwareError.
    """
    from tmalab.hardware.gpu import find_gpu

    for field, value in (("descriptors", descriptors), ("transfers", transfers), ("workers", workers or 1)):
        if value < 0:
            raise InputError("negative", field=field, value=value, limit=0, fix="use 0 or more")
    gpu = find_gpu()
    identity = campaign_identity(seed, gpu)
    journal = Journal(out / JOURNAL, identity, start_over=force)
    wanted = tasks(seed, {"transfers": transfers, "descriptors": descriptors})
    left = [task for task in wanted if journal.count_of(task) != task.records]
    total = descriptors + transfers
    with journal, Progress("campaign", total, done=total - sum(task.records for task in left)) as progress:
        for found in _compare(left, workers or min(os.cpu_count() or 1, 16)):
            journal.add(found)
            wrong = sum(len(result["disagreements"]) for result in journal.results.values())
            progress.advance(found["count"], f"{wrong} disagreement{'s'[: wrong != 1]}")
    results = [journal.results[task.kind, task.chunk] for task in wanted]
    summary = {**identity, "date": datetime.now(UTC).isoformat(timespec="seconds"), **summed(results)}
    _write_results(out, summary, results)
    (out / JOURNAL).unlink()
    return summary


def campaign_identity(seed: int, gpu: GpuInfo) -> Json:
    """What makes two campaigns the same one: seed, generator, the code on both sides, GPU and driver."""
    from tmalab.hardware.compile import kernel_sha256

    return {
        "schema": SCHEMA, "seed": seed, "generator": generator.VERSION, "code_sha256": _code_sha256(),
        "kernel_sha256": kernel_sha256("transfer"), "gpu": gpu.name, "compute_capability": gpu.compute_capability,
        "driver": gpu.driver, "cuda": gpu.cuda, "nvrtc": gpu.nvrtc,
    }  # fmt: skip


def _code_sha256() -> str:
    """Of the model and the generator: after a change to either, what was compared says nothing."""
    package, digest = Path(__file__).parent.parent, hashlib.sha256()
    for path in sorted([*package.glob("model/**/*.py"), *package.glob("experiment/*.py")]):
        digest.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def tasks(seed: int, totals: Mapping[str, int]) -> list[Task]:
    """The chunks that make up so many records of each kind; the last of a kind may be short."""
    listed = []
    for kind, size in CHUNKS.items():
        every = max(1, totals[kind] // GOLDEN[kind])
        starts = range(0, totals[kind], size)
        listed += [
            Task(kind, seed, chunk, min(size, totals[kind] - start), every) for chunk, start in enumerate(starts)
        ]
    return listed


def _compare(left: list[Task], workers: int) -> Iterator[Json]:
    """The results of all tasks as they come, through processes that may die."""
    broken = 0
    while left:
        # spawn: a forked child would share the parent's CUDA state, which the driver forbids
        pool = ProcessPoolExecutor(
            min(workers, len(left)), mp_context=get_context("spawn"), initializer=_let_the_parent_stop
        )
        try:
            running = {pool.submit(compare_chunk, *task): task for task in left}
            for future in as_completed(running):
                yield future.result()
                left.remove(running[future])
        except BrokenProcessPool:
            broken += 1
            if broken > _MOST_BROKEN_POOLS:
                raise HardwareError(
                    f"the comparing processes died {broken} times", field="left", value=left[:3],
                    fix="run the same command again to go on; try --workers 1 to see which chunk it is",
                ) from None  # fmt: skip
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _let_the_parent_stop() -> None:
    """The interrupt key stops the campaign once, in the parent, and not once more in every process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


class Journal:
    """Every finished chunk as one line of JSON behind the campaign's identity; a torn last line is no line."""

    def __init__(self, path: Path, identity: Json, *, start_over: bool = False):
        self.path, self.results = path, {}  # type: Path, dict[tuple[str, int], Json]
        lines = [] if start_over else _json_lines(path)
        if lines and lines[0] == identity:
            self.results = {(line["kind"], line["chunk"]): line for line in lines[1:]}
        text = "".join(f"{json.dumps(line)}\n" for line in [identity, *self.results.values()])
        write_atomically(path, text.encode())
        self._file = path.open("a", encoding="utf-8")

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def count_of(self, task: Task) -> int:
        """How many records of the task's chunk were compared with the same golden positions; 0 if not at all."""
        found = self.results.get((task.kind, task.chunk), {})
        return found.get("count", 0) if found.get("golden_every") == task.golden_every else 0

    def add(self, found: Json) -> None:
        """Keep one chunk's result."""
        self.results[found["kind"], found["chunk"]] = found
        self._file.write(json.dumps(found) + "\n")
        self._file.flush()


def _json_lines(path: Path) -> list[Json]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise RecordingError(
            f"cannot read the journal: {error}",
            field="file",
            value=str(path),
            fix="remove it, or start over with --force",
        ) from error
    lines = []
    for line in text.splitlines():
        try:
            lines.append(json.loads(line))
        except ValueError:
            break
    return lines


# --- results ----------------------------------------------------------------------------------------------------------


def summed(results: Sequence[Json]) -> Json:
    """Counts of all chunks by kind, each rule with how often it was broken, and how often alone."""
    summary: Json = {}
    for kind in ("descriptors", "transfers"):
        counts: Counter[str] = Counter()
        compared = wrong = 0
        for result in (result for result in results if result["kind"] == kind):
            counts.update(result["counts"])
            compared += result["count"]
            wrong += len(result["disagreements"])
        summary[kind] = {"compared": compared, "disagreements": wrong}
        if kind == "descriptors":
            rules = sorted(name.removeprefix("rule ") for name in counts if name.startswith("rule "))
            summary[kind]["rules"] = {rule: [counts[f"rule {rule}"], counts[f"alone {rule}"]] for rule in rules}
        plain = {name: count for name, count in counts.items() if not name.startswith(("rule ", "alone "))}
        summary[kind]["counts"] = dict(sorted(plain.items()))
    return summary


def _write_results(out: Path, summary: Json, results: list[Json]) -> None:
    wrong = [record for result in results for record in result["disagreements"]]
    write_atomically(out / "disagreements.jsonl", "".join(f"{json.dumps(record)}\n" for record in wrong).encode())
    for kind in ("descriptors", "transfers"):
        golden = [record for result in results if result["kind"] == kind for record in result["golden"]]
        head = {name: value for name, value in summary.items() if name not in ("descriptors", "transfers")}
        lines = [{**head, "kind": kind, "records": len(golden)}, *golden]
        text = "".join(f"{json.dumps(line, separators=(',', ':'))}\n" for line in lines)
        # mtime=0: the same records are the same file
        write_atomically(out / f"{kind}.jsonl.gz", gzip.compress(text.encode(), 9, mtime=0))
    write_atomically(out / "summary.json", (json.dumps(summary, indent=1) + "\n").encode())
