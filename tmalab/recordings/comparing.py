"""One chunk of a campaign: ask the hardware, ask the model, and keep whole whatever the two disagree on.

    descriptor ─┬─ driver_verdict ─── accepted?              transfer ─┬─ the engine ── bytes, count, or fault
                └─ violations() ───── none?                            └─ the model ─── bytes, count, or foretold fault

>>> from tmalab.experiment.generator import descriptors
>>> judge_descriptor(descriptors(7, 0, 1)[0], accepted=True)["disagrees"] in (True, False)
True

Runs in a process of its own, one of many (campaign.py); what it returns is plain JSON.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tmalab.errors import HardwareError, TmaLabError
from tmalab.experiment import generator
from tmalab.experiment.case import Case
from tmalab.experiment.memory import make_bytes
from tmalab.model.tensor_map import TensorMap

if TYPE_CHECKING:
    import numpy as np

    from tmalab.hardware.transfers import TransferResult
    from tmalab.model.violation import Violation

Json = dict[str, Any]
_SLICE = 32  # transfers whose results are held at once: each may be 1 MiB
_DEADLINE_S = 20.0  # the kernel's own is 2 ms; this one is for a machine whose processes all start workers at once
_SHOWN = 8  # differing bytes that a disagreement lists


def compare_chunk(kind: str, seed: int, chunk: int, count: int, golden_every: int) -> Json:
    """Chunk number `chunk` of "descriptors" or "transfers", `count` of them: counts, disagreements, golden records.

    Every `golden_every`-th record is golden, and the chunk's first fault. Raises HardwareError where the hardware
    could not be asked at all.
    """
    compare = {"descriptors": _compare_descriptors, "transfers": _compare_transfers}[kind]
    try:
        found = compare(seed, chunk, count, golden_every)
    except TmaLabError as error:  # its children don't all survive the way to the other process
        raise HardwareError(f"chunk {chunk} of the {kind}: {error}") from None
    return {"kind": kind, "chunk": chunk, "count": count, "golden_every": golden_every, **found}


# --- descriptors ------------------------------------------------------------------------------------------------------


def _compare_descriptors(seed: int, chunk: int, count: int, golden_every: int) -> Json:
    from tmalab.hardware.encode import driver_verdict

    counts: Counter[str] = Counter()
    disagreements, golden = [], []
    for position, tensor_map in enumerate(generator.descriptors(seed, chunk, count)):
        accepted = driver_verdict(tensor_map)
        judged = judge_descriptor(tensor_map, accepted)
        rules = judged["rules"]
        counts["accepted" if accepted else "refused"] += 1
        counts[tensor_map.kind] += 1
        counts.update(f"rule {rule}" for rule in rules)
        if len(rules) == 1:  # a rule that is never broken alone is never shown to be one
            counts[f"alone {rules[0]}"] += 1
        record = {"tensor_map": tensor_map.to_dict(), "accepted": accepted}
        if judged["disagrees"]:
            disagreements.append({"name": f"random/{seed}/{chunk}/{position}", **record, "rules": rules})
        if position % golden_every == 0:
            golden.append(record)
    return {"counts": dict(counts), "disagreements": disagreements, "golden": golden}


def judge_descriptor(tensor_map: TensorMap, accepted: bool) -> Json:
    """Does the model take what the driver took? `rules` are those that it says are broken."""
    rules = sorted({violation.rule for violation in tensor_map.violations()})
    return {"rules": rules, "disagrees": accepted == bool(rules)}


# --- transfers --------------------------------------------------------------------------------------------------------


def _compare_transfers(seed: int, chunk: int, count: int, golden_every: int) -> Json:
    cases = generator.transfers(seed, chunk, count)
    counts: Counter[str] = Counter()
    disagreements, golden, fault_kept = [], [], False
    for first in range(0, count, _SLICE):
        listed = cases[first : first + _SLICE]
        results = _run([dict(case.params) for case in listed])
        for position, (case, result) in enumerate(zip(listed, results, strict=True), first):
            _count(counts, case, result)
            wrong = judge_transfer(case, result)
            if wrong:
                disagreements.append({"case": case.to_dict(), "seen": result.values, "wrong": wrong})
            if position % golden_every == 0 or (result.error and not fault_kept):
                golden.append({"case": case.to_dict(), **outcome(result)})
                fault_kept |= bool(result.error)
    return {"counts": dict(counts), "disagreements": disagreements, "golden": golden}


def _run(listed: list[Json]) -> list[TransferResult]:
    """The engine's answers. A worker that died or fell silent is asked once more: that can be the machine's doing."""
    from tmalab.hardware.transfers import run_transfers

    results = run_transfers(listed, deadline_s=_DEADLINE_S)
    for position, result in enumerate(results):
        if result.error in ("TIMEOUT", "WORKER_DIED"):
            (results[position],) = run_transfers([listed[position]], deadline_s=_DEADLINE_S)
    return results


def _count(counts: Counter[str], case: Case, result: TransferResult) -> None:
    params = case.params
    kind, direction = params["tensor_map"]["kind"], params["direction"]
    counts[f"{kind} {direction}"] += 1
    counts[f"dtype {params['tensor_map']['dtype']}"] += 1
    if params["op"]:
        counts[f"reduce {params['op']} {params['tensor_map']['dtype']}"] += 1
    if result.error:
        counts[f"fault {result.error}"] += 1
    counts.update(f"launch rule {rule}" for rule in {violation.rule for violation in foretold_faults(case)})
    counts["bytes"] += sum(array.nbytes for array in result.arrays.values())


def outcome(result: TransferResult) -> Json:
    """What a golden record keeps of a result: its hash, or its fault."""
    kept: Json = {"error": result.error}
    for name, array in result.arrays.items():
        kept |= {"array": name, "sha256": hashlib.sha256(array.tobytes()).hexdigest()}
    return kept | {name: result.values[name] for name in ("completed", "delivered_bytes") if name in result.values}


def judge_transfer(case: Case, result: TransferResult) -> list[Json]:
    """Everything in which the engine did not do what the model foretells; [] where they agree."""
    if result.raised is not None:
        return [{"what": "not run", "hardware": result.raised}]
    try:
        foretold = foretold_faults(case)
        if foretold or result.error:
            errors = sorted({str(violation.cuda_error) for violation in foretold})
            agree = result.error in errors
            return [] if agree else [{"what": "fault", "hardware": result.error, "model": errors}]
        return _judge_bytes(case, result) + _judge_count(case, result)
    except Exception as error:  # the campaign goes on; a model that raises is a disagreement like any other
        return [{"what": "the model raised", "model": f"{type(error).__name__}: {error}"}]


def _judge_bytes(case: Case, result: TransferResult) -> list[Json]:
    ((name, seen),) = result.arrays.items()
    expected = expected_bytes(case)
    if seen.shape != expected.shape:
        return [{"what": name, "hardware": list(seen.shape), "model": list(expected.shape)}]
    (at,) = (seen != expected).nonzero()
    if not len(at):
        return []
    shown = at[:_SHOWN]
    return [
        {"what": name, "differing": len(at), "at": shown.tolist(), "hardware": seen[shown].tolist(),
         "model": expected[shown].tolist()}
    ]  # fmt: skip


def _judge_count(case: Case, result: TransferResult) -> list[Json]:
    """A load's bytes on its barrier, and whether the phase completed; a store waits for its group and counts none."""
    if case.params["direction"] != "load":
        return [] if result.values["completed"] else [{"what": "completed", "hardware": False, "model": True}]
    wrong = []
    right = _tensor_map(case).transaction_bytes()
    armed = case.params.get("expect_tx_bytes", right)
    delivered, completed = result.values.get("delivered_bytes"), result.values["completed"]
    if delivered not in (None, right):
        wrong.append({"what": "delivered_bytes", "hardware": delivered, "model": right})
    # Armed for too few, a phase was seen to complete early and to hang: both are right.
    if armed >= right and completed != (armed == right):
        wrong.append({"what": "completed", "hardware": completed, "model": armed == right})
    return wrong


def foretold_faults(case: Case) -> list[Violation]:
    """The launch rules that the model says this transfer breaks."""
    from tmalab.model.launch_rules import launch_violations

    params = case.params
    return launch_violations(
        _tensor_map(case), params["coords"], direction=params["direction"], op=params["op"],
        smem_base=params["smem_base"], offsets=params["offsets"], smem_bytes=params["smem_bytes"],
        descriptor_space=params.get("descriptor_space", "param"), descriptor_align=params.get("descriptor_align", 64),
    )  # fmt: skip


def expected_bytes(case: Case) -> np.ndarray:
    """The bytes that the model foretells: shared memory after a load, global memory after a store or a reduction."""
    from tmalab.model import transfer

    params, tensor_map = case.params, _tensor_map(case)
    memory, start = _bytes_of(params["memory"]), params.get("address_offset", 0)
    if params["direction"] == "load":
        return transfer.load(
            tensor_map, memory[start:], params["coords"], smem_bytes=params["smem_bytes"],
            smem_base=params["smem_base"], offsets=params["offsets"], background=params["smem"]["value"],
        )  # fmt: skip
    smem, changed = _bytes_of(params["smem"]), memory.copy()
    where = {"memory": memory[start:], "smem_base": params["smem_base"]}
    if params["direction"] == "store":
        changed[start:] = transfer.store(tensor_map, smem, params["coords"], **where)
    else:
        changed[start:] = transfer.reduce(tensor_map, smem, params["coords"], params["op"], **where)
    return changed


def _tensor_map(case: Case) -> TensorMap:
    return TensorMap.from_dict(case.params["tensor_map"])


def _bytes_of(spec: Json) -> np.ndarray:
    return _kept_bytes(json.dumps(spec, sort_keys=True))


@lru_cache(maxsize=128)
def _kept_bytes(spec: str) -> np.ndarray:
    made = make_bytes(json.loads(spec))
    made.setflags(write=False)
    return made
