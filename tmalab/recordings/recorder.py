"""The recorder: run every case of the catalogue on this machine's Hopper GPU and rewrite the recordings.

    catalogue ──run_live──▶ working folder (a store, added to every two seconds) ──all done──▶ recordings
                                └─ after an interruption: what the same kernel, GPU and driver saw is kept

>>> [group for group in chosen_groups(["edges,tile"])]
['edges', 'tile']

The recordings change in one step at the end, so that an interrupted run leaves the old ones whole.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tmalab.errors import HardwareError, InputError, RecordingError
from tmalab.experiment import catalogue
from tmalab.experiment.case import Case
from tmalab.experiment.observation import Observation
from tmalab.recordings.files import make_folder
from tmalab.recordings.progress import Progress
from tmalab.recordings.store import DATA, Store

if TYPE_CHECKING:
    from tmalab.hardware.gpu import GpuInfo

# How often a probe is measured: times vary, bytes are moved twice to see that they do not.
REPEATS = {"add_one": 20, "banks": 9, "gallery": 3, "transfer": 2, "encode": 2, "wgmma": 2, "tirx": 21} | {
    "two_loads": 250, "parity": 200, "landing": 100, "reuse": 40, "barrier_ops": 20, "clocks": 10, "cute": 21,
    "pipeline": 15, "pipeline_costs": 16, "tma_copy": 21, "gemm": 31,
}  # fmt: skip
_SAVE_EVERY_S = 2.0


def record(only: Sequence[str] = (), *, out: Path = DATA, force: bool = False) -> list[Observation]:
    """Record the groups named in `only` (all without it) into the store at `out`; the observations, in order.

    A folder beside it, `.partial` behind its name, keeps what is done if the run is interrupted; the next run goes
    on from there unless `force`. The cases of a front end that is not installed stay as they are; a named group that
    has no others is an error. Raises InputError for an unknown group, NoHopperGpuError, HardwareError, RecordingError
    where a folder cannot be written.
    """
    from tmalab.hardware.gpu import find_gpu  # late: reading recordings needs no GPU
    from tmalab.recordings.live import run_live

    groups = {name: catalogue.group(name) for name in chosen_groups(only)}
    staying = _leave_out_missing(groups, Store(out), named=bool(only))
    gpu = find_gpu()
    make_folder(out)
    if "add_one" in groups:
        _count_instructions(gpu)
    if warps := [case for listed in groups.values() for case in listed if case.probe == "banks"]:
        _count_wavefronts(warps, gpu)
    if "gemm" in groups:
        _count_products(groups["gemm"], gpu)
    partial = Store(Path(out).with_name(f"{Path(out).name}.partial"))
    kept = {} if force else _still_valid(partial, groups, gpu)
    partial.clear()  # what is stale would stand in the way of what replaces it
    if kept:
        partial.write({"part0": list(kept.values())})
    total = sum(map(len, groups.values()))
    seen: dict[str, list[Observation]] = {}
    with Progress("record", total, done=len(kept)) as progress, _Saving(partial) as saving:
        for name, listed in groups.items():
            seen[name] = []
            for case in listed:
                if case.key not in kept:
                    kept[case.key] = run_live(case, repeats=REPEATS.get(case.probe, 1))
                    saving.add(kept[case.key])
                    progress.advance(1, case.name)
                seen[name].append(kept[case.key])
    Store(out).write({name: [*listed, *staying.get(name, [])] for name, listed in seen.items()})
    partial.clear()
    return [observation for listed in seen.values() for observation in listed]


def chosen_groups(only: Iterable[str]) -> list[str]:
    """The groups that `only` names, each word one or several with commas between; all where it names none."""
    words = [word for listed in only for word in listed.split(",") if word]
    for word in words:
        catalogue.group(word)  # raises for an unknown one, before anything runs
    return list(dict.fromkeys(words)) or list(catalogue.GROUPS)


def _leave_out_missing(groups: dict[str, list[Case]], store: Store, *, named: bool) -> dict[str, list[Observation]]:
    """Take away the cases of front ends that are not installed; what was recorded of them, by group, to be kept.

    A group without any other case goes; where it was asked for, that is an error.
    """
    from tmalab.frontends.front_end import require
    from tmalab.frontends.runner import is_front_end

    staying = {}
    for name, listed in list(groups.items()):
        missing: dict[tuple[str, str | None], HardwareError] = {}
        for asked in sorted({_package(case) for case in listed if is_front_end(case)}, key=str):
            try:
                require(*asked)
            except HardwareError as error:
                missing[asked] = error
                sys.stderr.write(f"record: {name} stays as it was recorded: {error}\n")
        groups[name] = [case for case in listed if _package(case) not in missing]
        found = [store.get(case) for case in listed if _package(case) in missing]
        staying[name] = [seen for seen in found if seen is not None]
        if not groups[name]:
            if named:
                raise next(iter(missing.values()))
            del groups[name]
    return staying


def _package(case: Case) -> tuple[str, str | None]:
    """The front end that a case is for and, where it is for one alone, the version."""
    return case.probe, case.params.get("version")


def _still_valid(partial: Store, groups: dict[str, list[Case]], gpu: GpuInfo) -> dict[str, Observation]:
    """What the working folder holds that this run would measure in the same way: kernel source, GPU and driver."""
    from tmalab.recordings.live import source_sha256

    kept = {}
    try:
        for listed in groups.values():
            for case in listed:
                found = partial.get(case)
                if found is None:
                    continue
                then = found.provenance
                same_machine = (then.gpu, then.driver) == (gpu.name, gpu.driver)
                if same_machine and then.kernel_sha256 == (source_sha256(then.kernel) if then.kernel_sha256 else ""):
                    kept[case.key] = found
    except (RecordingError, InputError):  # a damaged folder, a kernel that is no more: worth less than a clean start
        return {}
    return kept


def _count_instructions(gpu: GpuInfo) -> None:
    """Have the profiler count what `add_one` executes, once a machine; a recording without it says None."""
    from tmalab.hardware.ncu import keep_counts, kept_counts

    reason = None
    for variant in catalogue.ADD_ONE_VARIANTS:
        try:
            if kept_counts(variant, gpu) is None and keep_counts(variant, gpu) is None:
                reason = "no profiler: install NVIDIA Nsight Compute (ncu)"
        except HardwareError as error:
            reason = str(error)
    if reason is not None:
        sys.stderr.write(f"record: executed instructions are not counted: {reason}\n")


def _count_wavefronts(cases: list[Case], gpu: GpuInfo) -> None:
    """Have the profiler count the wavefronts of every pattern; a recording without them has cycles alone."""
    from tmalab.hardware.bank_counters import keep_bank_counts

    try:
        reason = None if keep_bank_counts(cases, gpu) else "no profiler: install NVIDIA Nsight Compute (ncu)"
    except HardwareError as error:
        reason = str(error)
    if reason is not None:
        sys.stderr.write(f"record: wavefronts are not counted: {reason}\n")


def _count_products(cases: list[Case], gpu: GpuInfo) -> None:
    """Have the profiler look at every rung of the ladder at its one size; a recording without it says None."""
    from tmalab.experiment.gemm_cases import ladder_cases
    from tmalab.hardware.gemm_counters import keep_gemm_counts

    try:
        reason = (
            None if keep_gemm_counts(ladder_cases(cases), gpu) else "no profiler: install NVIDIA Nsight Compute (ncu)"
        )
    except HardwareError as error:
        reason = str(error)
    if reason is not None:
        sys.stderr.write(f"record: the tensor cores' counters were not read: {reason}\n")


class _Saving:
    """Collects observations and adds them to the working store now and then, and once more whatever happens."""

    def __init__(self, store: Store):
        self._store, self._batch, self._saved = store, [], time.monotonic()  # type: Store, list[Observation], float

    def __enter__(self) -> _Saving:
        return self

    def __exit__(self, *error: object) -> None:
        self._save()

    def add(self, seen: Observation) -> None:
        self._batch.append(seen)
        if time.monotonic() - self._saved >= _SAVE_EVERY_S:
            self._save()

    def _save(self) -> None:
        if self._batch:
            self._store.write({f"part{len(self._store.manifest()['files'])}": self._batch})
            self._batch = []
        self._saved = time.monotonic()
