"""The front ends that this package knows: the distribution behind each, its module, the extra that brings it.

    cute    nvidia-cutlass-dsl   cutlass     pip install 'tmalab[cute]'

>>> FRONT_ENDS["cute"].extra
'cute'
>>> front_end("basic")  # doctest: +ELLIPSIS
Traceback (most recent call last):
    ...
tmalab.errors.InputError: front_end='basic': unknown. Fix: use one of cute, tirx, triton, ...
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from tmalab.errors import HardwareError, InputError


@dataclass(frozen=True)
class FrontEnd:
    """`distribution` is what pip installs, `module` what a program imports, `extra` what brings both to `python`."""

    name: str
    title: str
    distribution: str
    module: str
    extra: str
    python: tuple[int, int] = (3, 11)  # the oldest that its wheel is for

    def version(self) -> str | None:
        """The installed version, or None where the module is not here."""
        try:
            if find_spec(self.module) is None:
                return None
        except ModuleNotFoundError:  # not even the package that it would stand in
            return None
        try:
            return version(self.distribution)
        except PackageNotFoundError:  # unpacked by hand, without its metadata
            return "unknown"


FRONT_ENDS = {
    each.name: each
    for each in (
        FrontEnd("cute", "CuTe DSL", "nvidia-cutlass-dsl", "cutlass", "cute"),
        FrontEnd("tirx", "TIRx", "apache-tvm-tirx", "tvm_tirx", "tirx"),
        FrontEnd("triton", "Triton", "triton", "triton", "triton"),
        FrontEnd("cudacore", "cuda.core", "cuda-core", "cuda.core", "cuda-core"),
        FrontEnd("tilelang", "TileLang", "tilelang", "tilelang", "tilelang"),
        FrontEnd("pallas", "Pallas Mosaic GPU", "jax", "jax", "pallas", (3, 12)),
        # Headers and no module: the folder that their wheel unpacks.
        FrontEnd("cccl", "CCCL", "nvidia-cuda-cccl", "nvidia.cu13.include.cccl", "cccl"),
        FrontEnd("numba", "numba-cuda", "numba-cuda", "numba_cuda", "numba"),
    )
}


def front_end(name: str) -> FrontEnd:
    """The front end of that name. Raises InputError."""
    if name not in FRONT_ENDS:
        raise InputError("unknown", field="front_end", value=name, fix=f"use one of {', '.join(FRONT_ENDS)}")
    return FRONT_ENDS[name]


def require(name: str, exactly: str | None = None) -> str:
    """The version of that front end. HardwareError where it is missing, or known to be another than `exactly`."""
    wanted = front_end(name)
    found = wanted.version()
    if found not in (None, "unknown") and exactly not in (None, found):
        raise HardwareError(
            f"{wanted.title} {exactly} is asked for, and {found} is installed", field="version", value=found,
            fix=f"pip install {wanted.distribution}=={exactly} in an environment of its own",
        )  # fmt: skip
    if found is None:
        how = f"pip install 'tmalab[{wanted.extra}]' (Linux)"
        if exactly is not None:
            how += f" and then {wanted.distribution}=={exactly}, in an environment of its own"
        if sys.version_info < wanted.python:
            how = f"{how} with Python {'.'.join(map(str, wanted.python))} or later"
        raise HardwareError(
            f"{wanted.title} is not installed here", field="front_end", value=name,
            fix=f"{how}, or read the recording with observe(case, live=False)",
        )  # fmt: skip
    return found
