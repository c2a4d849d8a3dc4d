"""`Observation`: what was seen when a case ran, and where, when and with what it was seen.

case ─ arrays    bytes and times, by name: "smem" uint8[smem_bytes], "cycles" int64[repeats] …
     ─ values    what is one JSON value: completed, waited_ns, error, diagnosis …
     ─ undefined masks (True: the hardware promises nothing there, do not compare), by array name
     ─ provenance, source
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from tmalab.errors import InputError
from tmalab.experiment.case import Case

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Provenance:
    """Where a measurement comes from. `date` is ISO 8601 in UTC; `kernel_sha256` hashes the source with its headers.

    Where no kernel ran, `kernel` is the driver's function and `kernel_sha256` is empty.
    """

    gpu: str
    compute_capability: str
    driver: str
    cuda: str
    nvrtc: str
    kernel: str
    kernel_sha256: str
    date: str
    repeats: int

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        return asdict(self)

    def line(self) -> str:
        """The sentence that every figure prints under its picture."""
        runs = "1 run" if self.repeats == 1 else f"{self.repeats} runs"
        ran = f"{self.kernel} {self.kernel_sha256[:8]}".rstrip()
        return (
            f"{self.gpu} (sm_{self.compute_capability.replace('.', '')}) · driver {self.driver} · CUDA {self.cuda} · "
            f"{ran} · {self.date[:10]} · {runs}"
        )


@dataclass(frozen=True)
class Observation:
    """One case as the hardware answered it. `source` says whether this is the recording or was run just now."""

    case: Case
    arrays: Mapping[str, np.ndarray]
    values: Mapping[str, Any]
    provenance: Provenance
    source: Literal["recorded", "live"]
    undefined: Mapping[str, np.ndarray] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Any:
        """The array or the value of that name. Raises InputError where nothing of that name was observed."""
        if name in self.arrays:
            return self.arrays[name]
        if name in self.values:
            return self.values[name]
        known = ", ".join([*self.arrays, *self.values])
        raise InputError("not observed", field="name", value=name, fix=f"use one of {known}")

    def __repr__(self) -> str:
        shapes = ", ".join(f"{name}: {array.dtype}{list(array.shape)}" for name, array in self.arrays.items())
        return f"Observation({self.case.name!r}, {shapes}, values={dict(self.values)!r})"
