"""What the TMA engine does, computed: exact, numpy only, no GPU, no files, no plots.

    TensorMap → rules (would the driver take it?)
              → shared_offsets, load, store, reduce (which byte goes where?)
              → launch_violations (will the engine refuse it all the same?)
    addresses → conflict_degree, warp_access (what does a warp pay for them?)

>>> from tmalab import TensorMap, model
>>> model.shared_offsets(TensorMap.tiled("float16", (64, 8), (128,), (64, 8), swizzle="128B"))[8, 1]
np.int64(128)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tmalab.model.banks import conflict_degree, warp_access
    from tmalab.model.barrier_outcome import Outcome
    from tmalab.model.barrier_program import BarrierProgram
    from tmalab.model.launch_rules import launch_violations
    from tmalab.model.shared_tile import shared_offsets
    from tmalab.model.transfer import load, reduce, store
    from tmalab.model.wgmma_tile import MatrixDescriptor, elements_read, matrix_descriptors

# One line a public function: the module that holds it is imported when it is first asked for.
_HOMES = {
    "shared_offsets": "tmalab.model.shared_tile",
    "load": "tmalab.model.transfer",
    "store": "tmalab.model.transfer",
    "reduce": "tmalab.model.transfer",
    "launch_violations": "tmalab.model.launch_rules",
    "conflict_degree": "tmalab.model.banks",
    "warp_access": "tmalab.model.banks",
    "MatrixDescriptor": "tmalab.model.wgmma_tile",
    "matrix_descriptors": "tmalab.model.wgmma_tile",
    "elements_read": "tmalab.model.wgmma_tile",
    "BarrierProgram": "tmalab.model.barrier_program",
    "Outcome": "tmalab.model.barrier_outcome",
}
__all__ = [*_HOMES]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'tmalab.model' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
