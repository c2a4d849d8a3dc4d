"""Observations that nobody measured, for tests of how they are kept; they live in temporary folders only."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tmalab.experiment.case import Case
from tmalab.experiment.observation import Observation, Provenance


@pytest.fixture
def provenance() -> Provenance:
    return Provenance(
        gpu="Test GPU", compute_capability="9.0", driver="1.2", cuda="13.0", nvrtc="13.0", kernel="transfer",
        kernel_sha256="ab" * 32, date="2026-01-02T03:04:05+00:00", repeats=1,
    )  # fmt: skip


@pytest.fixture
def seen(provenance) -> Callable[..., Observation]:
    """seen(number): an observation of a case of its own, its bytes and its mask made from the number."""

    def make(number: int, *, name: str | None = None, smem_bytes: int = 256, **changes) -> Observation:
        smem = ((np.arange(smem_bytes) * (number + 1)) % 251).astype(np.uint8)
        fields = {
            "case": Case(name or f"demo/{number}", "transfer", {"coords": [number, 0], "smem_bytes": smem_bytes}),
            "arrays": {"smem": smem, "cycles": np.array([number, 7], np.int64)},
            "values": {"completed": True, "error": None, "waited_ns": number},
            "provenance": provenance,
            "source": "live",
            "undefined": {"smem": smem > 200},
        }
        return Observation(**{**fields, **changes})

    return make
