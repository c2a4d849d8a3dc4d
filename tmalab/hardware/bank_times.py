"""From patterns to what the probe "banks" is sent, and from its cycles to those of one access.

    Pattern ──arrays_of──▶ addresses int32[n, 32], operations uint8[n]       -1: lane masked off
    full, chain uint32[rounds, n, trials] ──per_access──▶ cycles, spread, latency_cycles float32[n]

>>> from tmalab.experiment.bank_patterns import Pattern
>>> addresses, operations = arrays_of([Pattern((0, 4, *[None] * 30), 4, "store")])
>>> addresses[0, :4].tolist(), operations.tolist()
([0, 4, -1, -1], [7])
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tmalab.errors import InputError
from tmalab.experiment.bank_patterns import Pattern
from tmalab.hardware.banks_probe import ROUNDS, UNROLLED, WARPS
from tmalab.hardware.cuda_device import MOST_SHARED_BYTES
from tmalab.model.banks import OPS, WIDTHS
from tmalab.model.matrix_access import MATRIX_OPS, ROW_BYTES

_HIGHEST = MOST_SHARED_BYTES - ROW_BYTES
# The numbers of bank_access.cuh.
_NUMBERED = [*((op, width) for op in OPS for width in WIDTHS), *((op, ROW_BYTES) for op in MATRIX_OPS)]
OPERATIONS = {operation: number for number, operation in enumerate(_NUMBERED)}


def arrays_of(patterns: Sequence[Pattern]) -> tuple[np.ndarray, np.ndarray]:
    """Addresses and operations. Raises InputError for an address past the shared memory that a block may have."""
    addresses = np.array(
        [[-1 if address is None else address for address in pattern.addresses] for pattern in patterns], np.int64
    )
    if np.max(addresses) > _HIGHEST:
        raise InputError(
            "past the shared memory of a block", field="addresses", value=int(np.max(addresses)), limit=_HIGHEST,
            fix=f"use addresses up to {_HIGHEST}",
        )  # fmt: skip
    operations = np.array([OPERATIONS[pattern.op, pattern.width_bytes] for pattern in patterns], np.uint8)
    return addresses.astype(np.int32), operations


def per_access(full: np.ndarray, chain: np.ndarray, operations: np.ndarray) -> dict[str, np.ndarray]:
    """Medians over the trials, in cycles an access: of the full pipe, and of a chain (nan for stores).

    `spread` is how far apart the full pipe's fastest and slowest trial lie.
    """
    few, many = 1, 2  # of ROUNDS; the first has none
    accesses = (ROUNDS[many] - ROUNDS[few]) * UNROLLED
    each = (full[many].astype(np.float64) - full[few]) / (accesses * WARPS)
    alone = (chain[many].astype(np.float64) - chain[few]) / accesses
    loads = np.isin(operations, [number for (op, _), number in OPERATIONS.items() if op.startswith("l")])
    return {
        "cycles": np.median(each, axis=1).astype(np.float32),
        "spread": np.ptp(each, axis=1).astype(np.float32),
        "latency_cycles": np.where(loads, np.median(alone, axis=1), np.nan).astype(np.float32),
    }
