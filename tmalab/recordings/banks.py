"""What an H200 took for one access pattern, looked up in all recorded cases of the probe "banks".

    Pattern ──equal addresses, width and op──▶ BankMeasurement(cycles, latency_cycles, wavefronts, conflicts …)

>>> from tmalab.experiment.bank_patterns import Pattern
>>> column = measured_pattern(Pattern(tuple(128 * lane for lane in range(32)), 4, "load"))
>>> column.wavefronts, round(column.cycles)
(32, 32)
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from tmalab.experiment.bank_patterns import Pattern, patterns_of
from tmalab.experiment.observation import Observation
from tmalab.recordings.store import Store, default_store

PROBE = "banks"


@dataclass(frozen=True)
class BankMeasurement:
    """One pattern as it was measured. `cycles` are those of the full pipe an access, `spread` that of its runs.

    `latency_cycles` is a dependent chain's, None for stores. `wavefronts` and `conflicts` are the profiler's; where it
    did not count, `wavefronts` is the whole number of cycles and `conflicts` None.
    """

    cycles: float
    spread: float
    latency_cycles: float | None
    wavefronts: int
    conflicts: int | None
    observation: Observation


def measured_pattern(pattern: Pattern, store: Store | None = None) -> BankMeasurement | None:
    """The recording of exactly this pattern, or None. Raises RecordingError where a recording is damaged."""
    return measured_patterns(store).get(pattern)


def measured_patterns(store: Store | None = None) -> Mapping[Pattern, BankMeasurement]:
    """All recorded patterns; one that several cases hold is the first's."""
    store = default_store() if store is None else store
    manifest = store.manifest()  # another object once the recordings have changed
    if store not in _kept or _kept[store][0] is not manifest:
        _kept[store] = manifest, _read(store)
    return _kept[store][1]


_kept: WeakKeyDictionary[Store, tuple[object, Mapping[Pattern, BankMeasurement]]] = WeakKeyDictionary()


def _read(store: Store) -> Mapping[Pattern, BankMeasurement]:
    found: dict[Pattern, BankMeasurement] = {}
    for case in store.cases().values():
        seen = store.get(case) if case.probe == PROBE else None
        if seen is not None and not seen["error"]:
            for index, pattern in enumerate(patterns_of(case.params)):
                found.setdefault(pattern, _measurement(seen, index))
    return found


def _measurement(seen: Observation, index: int) -> BankMeasurement:
    latency = float(seen["latency_cycles"][index])
    return BankMeasurement(
        cycles=float(seen["cycles"][index]),
        spread=float(seen["spread"][index]),
        latency_cycles=None if math.isnan(latency) else latency,
        wavefronts=int(seen["wavefronts"][index]),
        conflicts=int(seen["ncu_conflicts"][index]) if "ncu_conflicts" in seen.arrays else None,
        observation=seen,
    )
