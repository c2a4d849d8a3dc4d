"""What the driver says of a tensor map: its 128 bytes, or only whether it would take it. The worker asks it.

    encode_tensor_map(tm) ─▶ bytes          driver_verdicts([tm, tm, …]) ─▶ [True, False, …]

`cuTensorMapEncodeTiled` answers only where a CUDA context is current (measured on H200, driver 580.159.04,
2026-11-30: without one it refuses every map), and the context is the worker's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import repeat

import numpy as np

from tmalab.errors import HardwareError
from tmalab.hardware.driver_encode import PLACEHOLDER_ADDRESS, DoesNotFitError, c_fields, fields_of
from tmalab.hardware.worker_client import Worker, shared_worker
from tmalab.model.tensor_map_fields import TensorMapFields

__all__ = ["PLACEHOLDER_ADDRESS", "driver_verdict", "driver_verdicts", "encode_tensor_map"]

_CHUNK = 1000  # maps in one question
_DEADLINE_S = 30.0


def encode_tensor_map(tm: TensorMapFields, address: int | None = None) -> bytes:
    """The 128 bytes that the driver writes for `tm`.

    `address` stands for the map's own; where both are None, PLACEHOLDER_ADDRESS (1024-byte aligned, of no allocation)
    is encoded, and the bytes serve to be looked at. Raises HardwareError where the driver refuses (ask
    `tm.violations()` for the reasons), NoHopperGpuError where there is no Hopper GPU.
    """
    ((accepted, encoded),) = _ask([tm], [address], shared_worker())
    if not accepted:
        raise HardwareError("the driver refuses it", field="tensor_map", value=tm, fix="see its violations()")
    return encoded


def driver_verdict(tm: TensorMapFields, address: int | None = None) -> bool:
    """Would the driver take `tm`? Its own answer; no rule of the model is asked. What fits no C type: no."""
    return driver_verdicts([tm], [address])[0]


def driver_verdicts(
    tms: Sequence[TensorMapFields], addresses: Sequence[int | None] | None = None, *, worker: Worker | None = None
) -> list[bool]:
    """The driver's verdict of each map, about 50 µs apiece. To try an offset, give PLACEHOLDER_ADDRESS + offset."""
    given = list(repeat(None, len(tms))) if addresses is None else list(addresses)
    return [accepted for accepted, _ in _ask(tms, given, worker or shared_worker())]


def _ask(
    tms: Sequence[TensorMapFields], addresses: Sequence[int | None], worker: Worker
) -> Iterator[tuple[bool, bytes]]:
    for first in range(0, len(tms), _CHUNK):
        chunk = tms[first : first + _CHUNK]
        fits = np.array([_fits(tm) for tm in chunk], bool)
        accepted, encoded = np.zeros(len(chunk), bool), np.zeros((len(chunk), 128), np.uint8)
        asked = {
            "maps": [tm.to_dict() for tm, fit in zip(chunk, fits, strict=True) if fit],
            "addresses": [address for address, fit in zip(addresses[first:], fits, strict=False) if fit],
        }
        (reply,) = worker.ask("encode", [asked], deadline_s=_DEADLINE_S)
        if reply.or_raise().fault:
            raise HardwareError(f"the worker ended while encoding: {reply.values}")
        accepted[fits], encoded[fits] = reply.arrays["accepted"], reply.arrays["encoded"]
        yield from zip(accepted.tolist(), (row.tobytes() for row in encoded), strict=True)


def _fits(tm: TensorMapFields) -> bool:
    """Can the driver be asked at all? A number of a million digits is not even sent to the worker."""
    try:
        c_fields(fields_of(tm))
    except DoesNotFitError:
        return False
    return tm.address is None or 0 <= tm.address < 2**64
