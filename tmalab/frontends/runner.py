"""`run_case` for the cases of a front end: the same promise as hardware.runner's, kept by a worker of its own.

    Case(probe="cute") ─▶ installed? ─▶ worker (deadline) ─▶ Observation; provenance names program, hash and GPU

>>> from tmalab.experiment.case import Case
>>> is_front_end(Case("a", "cute")), is_front_end(Case("b", "transfer"))
(True, False)
"""

from __future__ import annotations

import atexit
from datetime import UTC, datetime

from tmalab.errors import InputError
from tmalab.experiment.case import Case
from tmalab.experiment.observation import Observation, Provenance
from tmalab.frontends.front_end import FRONT_ENDS, require
from tmalab.frontends.program import program_names, program_sha256
from tmalab.hardware.worker_client import Worker

BACKEND = "tmalab.frontends.backend:FrontEndBackend"
_DEADLINE_S = 60.0  # a front end compiles inside it; a case may say less
_workers: list[Worker] = []


def is_front_end(case: Case) -> bool:
    """Whether the case is a front end's, and so this module's to run."""
    return case.probe in FRONT_ENDS


def run_case(case: Case, *, repeats: int = 1) -> Observation:
    """The observation of `case`, run now. Its parameter `deadline_s` bounds it: then `error` is TIMEOUT.

    Raises InputError for an unknown program, HardwareError where the front end is missing, NoHopperGpuError.
    """
    name = f"{case.probe}/{case.params.get('program')}"
    if name not in program_names():
        raise InputError("no such program", field="program", value=name, fix=f"use one of {', '.join(program_names())}")
    installed = {"name": case.probe, "version": require(case.probe, case.params.get("version"))}
    worker = _worker()
    gpu = worker.gpu()
    deadline_s = float(case.params.get("deadline_s", _DEADLINE_S))
    (reply,) = worker.ask(case.probe, [{**case.params, "repeats": repeats}], deadline_s=deadline_s)
    values = dict(reply.or_raise().values)
    detail = values.pop("detail", "")
    values = {"package": installed, **values, "diagnosis": values.get("diagnosis") or detail or None}
    provenance = Provenance(
        gpu=gpu.name, compute_capability=gpu.compute_capability, driver=gpu.driver, cuda=gpu.cuda, nvrtc=gpu.nvrtc,
        kernel=f"{name}.py", kernel_sha256=program_sha256(name), date=datetime.now(UTC).isoformat(timespec="seconds"),
        repeats=repeats,
    )  # fmt: skip
    return Observation(case, reply.arrays, values, provenance, "live")


def _worker() -> Worker:
    """One worker for all front ends of this process, ended with it."""
    if not _workers:
        _workers.append(Worker(BACKEND))
        atexit.register(_workers[0].close)
    return _workers[0]
