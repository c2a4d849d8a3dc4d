"""What the tests of front ends share: a program of the one tile, or the reason why it cannot be tried here."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest

from tmalab.frontends.front_end import FRONT_ENDS, front_end
from tmalab.frontends.program import load_program

# An older version of this one is installed in an environment of its own too: the series that was recorded.
SERIES = {"cute": "4.8."}


@pytest.fixture
def program() -> Callable[[str], ModuleType]:
    """By a front end's name: its program's module. Skips where package, recorded version or compiler is missing."""

    def find(name: str) -> ModuleType:
        found, title = front_end(name).version(), FRONT_ENDS[name].title
        if found is None:
            pytest.skip(f"needs {title}: pip install 'tmalab[{FRONT_ENDS[name].extra}]'")
        if not found.startswith(SERIES.get(name, "")):
            pytest.skip(f"needs {title} {SERIES[name]}x: pip install 'tmalab[{FRONT_ENDS[name].extra}]'")
        if name == "cudacore" and not has_nvrtc():
            pytest.skip("needs NVRTC: pip install 'tmalab[cuda-core]'")
        if name == "cccl" and front_end("cudacore").version() is None:  # TIRx brings CCCL for its own use
            pytest.skip("needs DLPack's header, of cuda-core: pip install 'tmalab[cccl]'")
        return load_program(f"{name}/tile")

    return find


def has_nvrtc() -> bool:
    """Whether cuda.bindings finds the compiler. CuTe DSL brings the one without the other."""
    try:
        from cuda.bindings import nvrtc

        nvrtc.nvrtcVersion()
    except (ImportError, RuntimeError):  # its own error for a library that it does not find is one of the latter
        return False
    return True
