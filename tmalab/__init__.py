"""TMA Lab: what Hopper's Tensor Memory Accelerator does, as a model, as measurements and as figures.

>>> from tmalab import TensorMap
>>> TensorMap.tiled("float16", (4096, 4096), (8192,), (64, 512), swizzle="128B").violations()[0].rule
'box_dim_range_1_256'

Importing this package imports nothing else: each name is fetched on first use (PEP 562), so that checking a
descriptor loads no numpy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tmalab import model
    from tmalab.errors import (
        HardwareError,
        InputError,
        NoHopperGpuError,
        RecordingError,
        TensorMapError,
        TmaLabError,
    )
    from tmalab.experiment.case import Case
    from tmalab.experiment.observation import Observation
    from tmalab.model.tensor_map import TensorMap
    from tmalab.model.violation import Violation
    from tmalab.recordings.observe import observe

__version__ = "0.1.0"

_HOMES = {
    "TensorMap": "tmalab.model.tensor_map",
    "Violation": "tmalab.model.violation",
    "TmaLabError": "tmalab.errors",
    "InputError": "tmalab.errors",
    "TensorMapError": "tmalab.errors",
    "NoHopperGpuError": "tmalab.errors",
    "RecordingError": "tmalab.errors",
    "HardwareError": "tmalab.errors",
    "Case": "tmalab.experiment.case",
    "Observation": "tmalab.experiment.observation",
    "observe": "tmalab.recordings.observe",
}
__all__ = [*_HOMES, "model"]  # noqa: PLE0604  (every entry is a str)


def __getattr__(name: str) -> Any:
    if name == "model":
        return import_module("tmalab.model")
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'tmalab' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
