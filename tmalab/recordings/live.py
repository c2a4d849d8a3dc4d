"""Whose a case is when it is run live: the GPU's own probes, or a front end's programs; and the hash of its source.

    case.probe "transfer" ─▶ hardware.runner          "cute", "tirx", "triton" ─▶ frontends.runner
    kernel "transfer.cu"  ─▶ kernel_sha256            "cute/strips.py"         ─▶ program_sha256

>>> len(source_sha256("cute/strips.py")), len(source_sha256("transfer.cu"))
(64, 64)
"""

from __future__ import annotations

from tmalab.experiment.case import Case
from tmalab.experiment.observation import Observation


def run_live(case: Case, *, repeats: int = 1) -> Observation:
    """The observation of `case`, run now. Raises as the runner whose case it is."""
    from tmalab.frontends import runner as front_ends
    from tmalab.hardware import runner as hardware

    if front_ends.is_front_end(case):
        return front_ends.run_case(case, repeats=repeats)
    return hardware.run_case(case, repeats=repeats)


def source_sha256(kernel: str) -> str:
    """The hash of the source that a provenance names. Raises InputError where there is none of that name."""
    from tmalab.frontends.program import program_sha256
    from tmalab.hardware import compile as compiling

    if kernel.endswith(".py"):
        return program_sha256(kernel.removesuffix(".py"))
    return compiling.kernel_sha256(kernel.removesuffix(".cu"))
