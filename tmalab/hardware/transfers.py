"""Transfers for a campaign: thousands of them through one or several workers, each result as it comes.

    for index, result in stream_transfers(list_of_params, workers=4): …

A transfer's memory stays on the worker's device between transfers that name the same, so what a transfer costs is one
launch and the bytes that come back. A fault costs one worker and one transfer: the rest go on in the next process.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tmalab.errors import InputError, TmaLabError
from tmalab.hardware.worker_client import Reply, Worker, pool, raise_error, shared_worker
from tmalab.model.box_bytes import transaction_bytes
from tmalab.model.tensor_map_fields import TensorMapFields

WAIT_NS = 2_000_000  # how long the kernel waits for its phase
MOST_SMEM_BYTES = 231_424  # 227 KiB less the 1024 bytes in front of what is dumped (transfer.cu)
_BACKGROUND = 0xCD
_OPTIONAL: dict[str, Any] = {
    "offsets": [], "op": None, "smem_base": 0, "address_offset": 0, "descriptor_space": "param",
    "descriptor_align": 64, "wait_ns": WAIT_NS,
}  # fmt: skip
_CHUNK = 32  # transfers in one request: few enough that a fault wastes little of what was sent
_BACKLOG = 256  # results that wait to be taken


@dataclass(frozen=True)
class TransferResult:
    """One transfer: `arrays` holds "smem" (load) or "memory" (store, reduce), and nothing where `error` is set.

    `values` are an observation's: completed, waited_ns, error, delivered_bytes … `raised` is the error of this package
    that stood in the way of running it at all, as a sentence.
    """

    values: dict[str, Any]
    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    raised: str | None = None

    @property
    def error(self) -> str | None:
        """The driver's error without CUDA_ERROR_ (INVALID_VALUE: the encoder's own), TIMEOUT, WORKER_DIED, or None."""
        return self.values.get("error")


def complete_params(params: Mapping[str, Any], tm: TensorMapFields | None = None) -> dict[str, Any]:
    """A transfer's parameters with every optional one filled in, checked as far as packing them needs.

    Beside the contract's: address_offset (bytes from the memory's 1024-byte aligned start to the tensor's),
    descriptor_space (param global const shared local), descriptor_align (16 to 128), wait_ns. Raises InputError, and
    TensorMapError for a map whose transaction bytes are asked for and that no copy can have.
    """
    whole = {**_OPTIONAL, **params}
    missing = [name for name in ("tensor_map", "direction", "coords", "smem_bytes", "memory") if name not in whole]
    if missing:
        raise InputError("a transfer needs it", field=missing[0], value=None, fix=f"give {', '.join(missing)}")
    tm = tm or TensorMapFields.from_dict(whole["tensor_map"])
    smem_bytes = whole["smem_bytes"]
    if not isinstance(smem_bytes, int) or not 0 < smem_bytes <= MOST_SMEM_BYTES:
        raise InputError(
            "not what one block can dump", field="smem_bytes", value=smem_bytes, limit=MOST_SMEM_BYTES,
            fix=f"use 1 to {MOST_SMEM_BYTES}",
        )  # fmt: skip
    if whole.get("smem") is None:
        whole["smem"] = {"pattern": "fill", "value": _BACKGROUND, "bytes": smem_bytes}
    armed = whole.pop("expect_tx_bytes", None)
    _check({**whole, "expect_tx_bytes": armed or 0}, tm)
    return {**whole, "expect_tx_bytes": transaction_bytes(tm) if armed is None else armed}


def _check(whole: Mapping[str, Any], tm: TensorMapFields) -> None:
    words = {
        "direction": ("load", "store", "reduce"), "descriptor_space": ("param", "global", "const", "shared", "local"),
        "op": (None, "add", "min", "max", "inc", "dec", "and", "or", "xor"), "descriptor_align": (16, 32, 64, 128),
    }  # fmt: skip
    for name, allowed in words.items():
        if whole[name] not in allowed:
            raise InputError("unknown", field=name, value=whole[name], fix=f"use one of {', '.join(map(str, allowed))}")
    if whole["direction"] == "reduce" and whole["op"] is None:
        raise InputError("a reduction needs an operation", field="op", value=None, fix="use add, min, max …")
    numbers = {"smem_base": 1 << 18, "expect_tx_bytes": 1 << 20, "address_offset": 1 << 32, "wait_ns": 10**9}
    for name, past in numbers.items():
        value = whole[name]
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < past:
            raise InputError("out of range", field=name, value=value, limit=past - 1, fix=f"use 0 to {past - 1}")
    for name, most, least, past in (("coords", 5, -(1 << 31), 1 << 31), ("offsets", 3, 0, 1 << 16)):
        listed = whole[name]
        if not isinstance(listed, Sequence) or len(listed) > most:
            raise InputError(
                "not a short list", field=name, value=listed, limit=most, fix=f"give at most {most} integers"
            )
        for position, value in enumerate(listed):
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value < past:
                raise InputError(
                    "not an integer that the instruction holds", field=f"{name}[{position}]", value=value,
                    limit=past - 1, fix=f"use {least} to {past - 1}",
                )  # fmt: skip
    if not 1 <= tm.rank <= 5:
        raise InputError("no instruction moves it", field="rank", value=tm.rank, limit=5, fix="use 1 to 5 dimensions")
    if len(whole["coords"]) != tm.rank:
        raise InputError(
            f"{len(whole['coords'])} coordinates", field="coords", value=whole["coords"], limit=tm.rank,
            fix=f"give {tm.rank}, innermost dimension first",
        )  # fmt: skip


def run_transfers(
    transfers: Sequence[Mapping[str, Any]], *, workers: int = 1, deadline_s: float = 2.0
) -> list[TransferResult]:
    """The results of all transfers, in their order. Raises NoHopperGpuError, InputError; a fault is a result."""
    if workers == 1:
        whole = [complete_params(params) for params in transfers]
        return [_result(reply) for reply in shared_worker().ask("transfer", whole, deadline_s=deadline_s)]
    numbered = stream_transfers(transfers, workers=workers, deadline_s=deadline_s)
    return [result for _, result in sorted(numbered, key=lambda pair: pair[0])]


def stream_transfers(
    transfers: Sequence[Mapping[str, Any]], *, workers: int = 1, deadline_s: float = 2.0
) -> Iterator[tuple[int, TransferResult]]:
    """(index, result) of each transfer as it comes, in no promised order where there are several workers.

    Parameters are checked as they are sent, so a bad one raises InputError when its turn comes. Several workers share
    the GPU; they hide each other's restarts after faults. Stop early by closing the generator; run one at a time.
    """
    pending = iter(range(0, len(transfers), _CHUNK))
    taking, ended = threading.Lock(), threading.Event()
    results: queue.Queue[tuple[int, TransferResult] | BaseException | None] = queue.Queue(_BACKLOG)

    def work(worker: Worker) -> None:
        try:
            while not ended.is_set():
                with taking:
                    first = next(pending, None)
                if first is None:
                    break
                chunk = [complete_params(params) for params in transfers[first : first + _CHUNK]]
                for offset, reply in enumerate(worker.ask("transfer", chunk, deadline_s=deadline_s)):
                    _put(results, (first + offset, _result(reply)), ended)
                    if ended.is_set():
                        return
        except BaseException as error:
            _put(results, error, ended)
        finally:
            _put(results, None, ended)

    # The pool's first worker is run_case's: a caller may run a case between two results, and must not wait for itself.
    threads = [threading.Thread(target=work, args=(worker,), daemon=True) for worker in pool(workers + 1)[1:]]
    for thread in threads:
        thread.start()
    try:
        running = len(threads)
        while running:
            taken = results.get()
            if taken is None:
                running -= 1
            elif isinstance(taken, BaseException):
                raise taken
            else:
                yield taken
    finally:
        ended.set()
        for thread in threads:
            thread.join()


def _put(results: queue.Queue[Any], item: object, ended: threading.Event) -> None:
    """Put, unless nobody will take it any more."""
    while not ended.is_set():
        try:
            return results.put(item, timeout=0.1)
        except queue.Full:
            continue
    return None


def _result(reply: Reply) -> TransferResult:
    if reply.raised is None:
        return TransferResult(reply.values, reply.arrays)
    try:
        raise_error(reply.raised)
    except TmaLabError as error:
        return TransferResult({"completed": False, "error": None}, raised=str(error))
    raise AssertionError("raise_error returned")
