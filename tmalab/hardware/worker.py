"""The worker process: it owns the CUDA context, runs one probe after another, and is what a fault costs.

    notebook ──{"probe", "items"}──▶ worker ──one frame an item──▶ notebook
                                       └─ after a fault, or when the notebook is gone: exit

Started as `python -m tmalab.hardware.worker` by worker_client.py. Requests come on standard input, replies leave on
what was standard output; anything that a library prints goes to standard error instead. A reader thread takes requests
off the pipe and ends the process when the pipe closes, whatever the main thread is doing.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, BinaryIO, Protocol

import numpy as np

from tmalab.errors import NoHopperGpuError, TmaLabError
from tmalab.hardware.frames import encode_frame, read_frame

DEFAULT_BACKEND = "tmalab.hardware.backend:CudaBackend"
FAULT_EXIT = 3
GIVEN = {"pattern": "given"}  # stands for the request's array of the same name


class Backend(Protocol):
    """What runs probes; `backend.CudaBackend` does, and the tests have one without a GPU."""

    def describe(self) -> dict[str, Any]:
        """The GPU, as GpuInfo.to_dict gives it."""

    def run(self, probe: str, params: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Values and arrays. Raises TmaLabError; a CudaFault (by its attribute `name`) ends the worker."""


def error_fields(error: TmaLabError) -> dict[str, Any]:
    """An error as JSON, for worker_client.raise_error to raise again."""
    fields = {"kind": type(error).__name__, "message": error.message, "fix": error.fix}
    if isinstance(error, NoHopperGpuError):
        fields["reason"] = error.reason
    if error.field is not None:
        fields |= {"field": error.field, "value": error.value if _is_plain(error.value) else repr(error.value)}
    return fields


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, (bool, int, float, str))


def serve(make_backend: Callable[[], Backend], requests: BinaryIO, replies: BinaryIO) -> int:
    """Answer requests until the pipe ends (exit code 0) or a fault has ruined the context (FAULT_EXIT)."""

    def reply(message: Mapping[str, Any], arrays: Mapping[str, np.ndarray] | None = None) -> None:
        replies.write(encode_frame(message, arrays))
        replies.flush()

    inbox: queue.SimpleQueue[tuple[dict[str, Any], dict[str, np.ndarray]]] = queue.SimpleQueue()
    threading.Thread(target=_take_in, args=(requests, inbox), daemon=True).start()
    try:
        backend = make_backend()
        reply({"gpu": backend.describe()})
    except TmaLabError as error:
        reply({"raised": error_fields(error)})
        return 0
    while True:
        request, given = inbox.get()
        for item in request["items"]:
            params = {name: given[name] if value == GIVEN else value for name, value in item.items()}
            try:
                reply(*_answer(backend, request["probe"], params))
            except _FaultError as fault:
                reply({"values": {"completed": False, "error": str(fault)}, "fault": True})
                return FAULT_EXIT


class _FaultError(Exception):
    """The context is ruined; the text is the driver's name for it."""


def _answer(backend: Backend, probe: str, params: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    try:
        values, arrays = backend.run(probe, params)
    except TmaLabError as error:
        return {"raised": error_fields(error)}, {}
    except Exception as error:
        name = getattr(error, "name", None)  # CudaFault; not by its class, so that no CUDA need be imported here
        if type(error).__name__ != "CudaFault" or name is None:
            raise
        raise _FaultError(name) from error
    return {"values": values}, arrays


def _take_in(requests: BinaryIO, inbox: queue.SimpleQueue[tuple[dict[str, Any], dict[str, np.ndarray]]]) -> None:
    """Queue what comes; end the process when nothing more can come, even if a kernel is still running."""
    try:
        while (frame := read_frame(requests.read)) is not None:
            inbox.put(frame)
    finally:
        os._exit(0)


def _own_streams() -> tuple[BinaryIO, BinaryIO]:
    """The pipes as they were handed over; afterwards standard output is standard error, and standard input is empty."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    sys.stdout = sys.stderr
    return requests, replies


def main(arguments: list[str]) -> int:
    """`arguments` may name another backend, as module:factory."""
    requests, replies = _own_streams()
    module, factory = (arguments or [DEFAULT_BACKEND])[0].split(":")
    code = serve(getattr(import_module(module), factory), requests, replies)
    os._exit(code)  # a ruined context can hang in its own clean-up; everything was flushed


if __name__ == "__main__":
    main(sys.argv[1:])
