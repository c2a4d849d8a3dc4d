"""What every test shares: the line that says what it ran on, and the one way in which a GPU test may be skipped.

Nothing is imported from here. `@pytest.mark.gpu` asks for the `hopper` fixture; a test that wants to know the GPU
takes `hopper` as an argument.
"""

import os

import numpy as np
import pytest

from tmalab.errors import NoHopperGpuError
from tmalab.hardware import find_gpu


def pytest_report_header() -> str:
    try:
        gpu = str(find_gpu())
    except NoHopperGpuError as error:
        gpu = f"none ({error.reason})"
    return f"numpy {np.__version__} · Hopper GPU: {gpu}"


@pytest.fixture(scope="session")
def hopper():
    """The GPU, as `find_gpu` describes it. Skips on NoHopperGpuError and on nothing else: any other error is a bug."""
    try:
        return find_gpu()
    except NoHopperGpuError as error:
        if os.environ.get("TMALAB_REQUIRE_GPU") == "1":
            raise
        pytest.skip(str(error))


@pytest.fixture(autouse=True)
def _gpu_marker(request: pytest.FixtureRequest) -> None:
    if request.node.get_closest_marker("gpu"):
        request.getfixturevalue("hopper")
