"""The GPU's side: find a Hopper GPU, encode, compile, and run cases in a worker process that a fault cannot outlive.

    find_gpu()      which GPU, which driver, or the precise reason why none can be used
    run_case(case)  the observation, live          run_transfers(list)  many at once, for a campaign
    close_worker()  frees the GPU

Nothing of CUDA is imported before one of these is called.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tmalab.hardware.arrays import load_tile, reduce_tile, store_tile
    from tmalab.hardware.gpu import GpuInfo, find_gpu
    from tmalab.hardware.runner import run_case
    from tmalab.hardware.transfers import run_transfers, stream_transfers
    from tmalab.hardware.worker_client import close_worker

_HOMES = {
    "find_gpu": "tmalab.hardware.gpu",
    "GpuInfo": "tmalab.hardware.gpu",
    "run_case": "tmalab.hardware.runner",
    "run_transfers": "tmalab.hardware.transfers",
    "stream_transfers": "tmalab.hardware.transfers",
    "close_worker": "tmalab.hardware.worker_client",
    "load_tile": "tmalab.hardware.arrays",
    "store_tile": "tmalab.hardware.arrays",
    "reduce_tile": "tmalab.hardware.arrays",
}
__all__ = [*_HOMES]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'tmalab.hardware' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
