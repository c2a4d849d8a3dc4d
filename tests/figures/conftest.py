"""A stand-in for `observe` whose bytes the model made, for tests of how figures are built; it is never a recording.

And the one way in which the tests bring a figure to a state.
"""

from collections.abc import Callable

import numpy as np
import pytest

from tmalab import model
from tmalab.errors import RecordingError
from tmalab.experiment.case import Case
from tmalab.experiment.memory import make_bytes
from tmalab.experiment.observation import Observation, Provenance
from tmalab.model.tensor_map import TensorMap

PROVENANCE = Provenance(
    gpu="NVIDIA H200", compute_capability="9.0", driver="0.0", cuda="0.0", nvrtc="0.0", kernel="stand-in",
    kernel_sha256="0" * 64, date="2000-01-01T00:00:00Z", repeats=1,
)  # fmt: skip


@pytest.fixture(scope="session")
def put():
    """put(figure, **state) → what the figure, brought to that state, has found."""

    def go(figure, **state):
        for name, value in state.items():
            setattr(figure, name, value)
        return figure._found

    return go


@pytest.fixture(scope="session")
def stand_in() -> Callable[..., Callable[[Case], Observation]]:
    """stand_in(change={"tile/…": [(byte, value), …]}, missing={…}, values={…}, provenance=…) → an `observe`."""

    def make(change=None, missing=(), values=None, provenance=PROVENANCE, source="recorded"):
        def observe(case: Case) -> Observation:
            if case.name in missing:
                raise RecordingError("not recorded yet", field="case", value=case.name, fix="record it")
            given = case.params
            tensor_map = TensorMap.from_dict(given["tensor_map"])
            if case.probe == "encode":
                verdict = {"accepted": not tensor_map.violations(), "error": None, "diagnosis": None}
                return Observation(case, {"encoded": np.zeros(128, np.uint8)}, verdict, provenance, source)
            memory, coords = make_bytes(given["memory"])[given.get("address_offset", 0) :], given["coords"]
            smem = np.array(
                model.load(
                    tensor_map, memory, coords, smem_bytes=given["smem_bytes"],
                    smem_base=given["smem_base"],
                )
            )  # fmt: skip
            for byte, value in (change or {}).get(case.name, ()):
                smem[byte] = value
            seen = {"completed": True, "error": None, "diagnosis": None, **(values or {}).get(case.name, {})}
            return Observation(case, {"smem": smem}, seen, provenance, source)

        return observe

    return make
