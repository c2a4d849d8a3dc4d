"""The notebook's side of the worker: start it, ask it, and replace it when a fault or a deadline has ended it.

    ask(probe, items) ─▶ one Reply an item:  values + arrays | error "ILLEGAL_INSTRUCTION", "TIMEOUT", "WORKER_DIED"

A reply that ended the worker names its error and costs nothing else: the next item, or the next call, has a new worker.
"""

from __future__ import annotations

import atexit
import os
import selectors
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np

from tmalab import errors
from tmalab.hardware.frames import FrameError, encode_frame, read_frame
from tmalab.hardware.gpu import GpuInfo

START_DEADLINE_S = 60.0  # a cold driver and a cold compiler; a warm machine takes about one second
_STDERR_TAIL = 2000
_READ_BYTES = 1 << 20


@dataclass(frozen=True)
class Reply:
    """What one item came to. `fault` says that it cost the worker; `raised` describes an error of this package's."""

    values: dict[str, Any]
    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    fault: bool = False
    raised: dict[str, Any] | None = None

    def or_raise(self) -> Reply:
        """This reply, or the error that it describes."""
        if self.raised is not None:
            raise_error(self.raised)
        return self


class WorkerDied(Exception):  # noqa: N818
    """The worker's pipe ended, sent no frame, or passed a deadline; `error` is the word for an observation."""

    def __init__(self, error: str, detail: str):
        self.error, self.detail = error, detail
        super().__init__(f"{error}: {detail}")


def raise_error(fields: Mapping[str, Any]) -> None:
    """Raise the TmaLabError that the worker described (worker.error_fields)."""
    if fields["kind"] == "NoHopperGpuError":
        raise errors.NoHopperGpuError(fields["reason"], fix=fields["fix"])
    kind = {"InputError": errors.InputError}.get(fields["kind"], errors.HardwareError)
    raise kind(fields["message"], field=fields.get("field"), value=fields.get("value"), fix=fields["fix"])


class Process:
    """One worker process. Starting it does not wait; `gpu()` waits for its first word."""

    def __init__(self, backend: str | None = None):
        package = str(Path(errors.__file__).parent.parent)
        paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
        self._stderr: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  (closed by stop)
        self._popen = subprocess.Popen(
            # -P: the notebook's folder may hold a random.py, and the worker is to import Python's
            [sys.executable, "-P", "-m", "tmalab.hardware.worker", *filter(None, [backend])],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._stderr,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            start_new_session=True,  # the notebook's interrupt key is not meant for it
        )  # fmt: skip
        assert self._popen.stdin is not None
        assert self._popen.stdout is not None
        self._to, self._from = self._popen.stdin.fileno(), self._popen.stdout.fileno()
        os.set_blocking(self._to, False)
        os.set_blocking(self._from, False)
        self._unread = bytearray()
        self._gpu: GpuInfo | None = None
        self.is_cold = True

    def gpu(self) -> GpuInfo:
        """The GPU that the worker found. Raises NoHopperGpuError with its reason, HardwareError if it did not start."""
        if self._gpu is None:
            try:
                message, _ = self.receive(START_DEADLINE_S)
            except WorkerDied as death:
                raise errors.HardwareError(f"the worker did not start: {death.detail}") from None
            if "raised" in message:
                raise_error(message["raised"])
            self._gpu = GpuInfo(**message["gpu"])
        return self._gpu

    def send(
        self, message: Mapping[str, Any], deadline_s: float, arrays: Mapping[str, np.ndarray] | None = None
    ) -> None:
        """One request. Raises WorkerDied."""
        unsent, until = memoryview(encode_frame(message, arrays)), time.monotonic() + deadline_s
        while unsent:
            self._wait(self._to, selectors.EVENT_WRITE, until)
            try:
                unsent = unsent[os.write(self._to, unsent[:65536]) :]
            except BlockingIOError:
                continue
            except OSError:
                raise self._died("it closed its pipe") from None

    def receive(self, deadline_s: float) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """The next frame. Raises WorkerDied."""
        until = time.monotonic() + deadline_s

        def read(count: int) -> bytes:
            while len(self._unread) < count:
                self._wait(self._from, selectors.EVENT_READ, until)
                try:
                    piece = os.read(self._from, _READ_BYTES)
                except BlockingIOError:
                    continue
                if not piece:
                    break
                self._unread += piece
            taken = bytes(self._unread[:count])
            del self._unread[:count]
            return taken

        try:
            frame = read_frame(read)
        except FrameError as error:
            raise self._died(str(error)) from None
        if frame is None:
            raise self._died("it ended")
        return frame

    def stop(self) -> None:
        """End it, now; harmless when it has ended."""
        if self._popen.poll() is None:
            self._popen.kill()
        self._popen.wait()
        for stream in (self._popen.stdin, self._popen.stdout, self._stderr):
            if stream is not None and not stream.closed:
                stream.close()

    def _wait(self, descriptor: int, event: int, until: float) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(descriptor, event)
            if not selector.select(max(0.0, until - time.monotonic())):
                raise WorkerDied("TIMEOUT", "it did not answer in time, and was stopped")

    def _died(self, how: str) -> WorkerDied:
        try:
            code: int | str = self._popen.wait(1.0)
        except subprocess.TimeoutExpired:
            code = "none yet"
        size = self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, size - _STDERR_TAIL))
        last_words = self._stderr.read().decode(errors="replace").strip()
        return WorkerDied("WORKER_DIED", f"{how} (exit code {code}){': ' if last_words else ''}{last_words}")


class Worker:
    """A worker for as long as one is wanted, whatever happens to its process. Safe to share between threads."""

    def __init__(self, backend: str | None = None):
        self._backend = backend
        self._process: Process | None = None
        self._owner = os.getpid()
        self._lock = threading.Lock()

    def gpu(self) -> GpuInfo:
        """The GPU. Raises NoHopperGpuError, HardwareError."""
        with self._lock:
            try:
                return self._ready().gpu()
            except errors.TmaLabError:
                self._discard()
                raise

    def ask(
        self, probe: str, items: Sequence[Mapping[str, Any]], *, deadline_s: float,
        arrays: Mapping[str, np.ndarray] | None = None,
    ) -> Iterator[Reply]:  # fmt: skip
        """One Reply an item, in order, each within `deadline_s`. Raises TmaLabError where there is no worker to be had.

        A parameter {"pattern": "given"} stands for the entry of `arrays` under that parameter's name.

        Where the caller stops early, or is interrupted, the process is given up: nobody would read its answers.
        """
        with self._lock:
            left, finished = list(items), False
            try:
                while left:
                    yield from self._ask_one_process(probe, left, deadline_s, arrays)
                finished = True
            finally:
                if not finished:
                    self._discard()

    def _ask_one_process(
        self, probe: str, left: list[Mapping[str, Any]], deadline_s: float, arrays: Mapping[str, np.ndarray] | None
    ) -> Iterator[Reply]:
        """Replies until `left` is empty or the process has ended; takes each answered item off `left`."""
        process = self._ready()
        process.gpu()
        try:
            process.send({"probe": probe, "items": left}, START_DEADLINE_S, arrays)
            # The first item of a new process loads and may compile its kernel.
            allowance = START_DEADLINE_S if process.is_cold else 0.0
            while left:
                message, arrays = process.receive(deadline_s + allowance)
                allowance, process.is_cold = 0.0, False
                del left[0]
                if "raised" in message:
                    yield Reply({}, raised=message["raised"])
                    continue
                if message.get("fault"):
                    self._replace()
                    yield Reply(message["values"], arrays, fault=True)
                    return
                yield Reply(message["values"], arrays)
        except WorkerDied as death:
            if left:
                del left[0]
            self._replace()
            yield Reply({"completed": False, "error": death.error, "detail": death.detail}, fault=True)

    def _ready(self) -> Process:
        if self._owner != os.getpid():  # a fork holds the same pipes: leave them to the process that made them
            self._process, self._owner = None, os.getpid()
        if self._process is None:
            self._process = Process(self._backend)
        return self._process

    def _discard(self) -> None:
        if self._process is not None and self._owner == os.getpid():
            self._process.stop()
        self._process = None

    def _replace(self) -> None:
        """A new process, started but not waited for, so that it is warming up while the answer is being read."""
        self._discard()
        self._process = Process(self._backend)

    def close(self) -> None:
        """End the process; the next question starts another."""
        with self._lock:
            self._discard()


# Another backend for the workers of the pool, as module:factory; None is the GPU.
BACKEND: str | None = None
_pool: list[Worker] = []


def pool(count: int) -> list[Worker]:
    """The first `count` workers of this process, made as they are wanted and ended with it."""
    if not _pool:
        atexit.register(close_worker)
    _pool.extend(Worker(BACKEND) for _ in range(count - len(_pool)))
    return _pool[:count]


def shared_worker() -> Worker:
    """The one worker that run_case uses."""
    return pool(1)[0]


def close_worker() -> None:
    """End all workers, freeing the GPU; the next experiment starts another."""
    for worker in _pool:
        worker.close()
