"""Where a watched kernel passed its deadline, in words: which barrier, armed, arrived, missing.

    surplus_bytes = arrived - armed      pending_arrivals of count

>>> print(stop_sentence({"barrier": "full_barrier", "line": 21, "thread": 0, "address": 0x1400, "phase_parity": 0,
...     "count": 1, "pending_arrivals": 0, "armed_bytes": 8192, "surplus_bytes": -4096}))
line 21, thread 0 waits for full_barrier, phase of parity 0: armed for 8192 bytes, 4096 arrived; 4096 are missing.

Plain integers in, a sentence out: no numpy and no GPU.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_LATE = "nothing is missing: it completed just after the deadline"


def stop_sentence(stop: Mapping[str, Any]) -> str:
    """One wait that passed its deadline, as `watch_probe` describes it."""
    where = f"line {stop['line']}, thread {stop['thread']} waits for {stop['barrier']}"
    found = "; ".join(filter(None, [_arrivals(stop), _bytes(stop)]))
    return f"{where}, phase of parity {stop['phase_parity']}: {found}."


def _arrivals(stop: Mapping[str, Any]) -> str | None:
    pending, count = stop["pending_arrivals"], stop["count"]
    if not pending:
        return None
    if count is None:
        return f"{_many(pending, 'arrival is', 'arrivals are')} missing, and no init of this barrier was seen"
    return f"{count - pending} of {_many(count, 'arrival', 'arrivals')} came, {pending} {_verb(pending)} missing"


def _bytes(stop: Mapping[str, Any]) -> str | None:
    armed, surplus = stop["armed_bytes"], stop["surplus_bytes"]
    if surplus is None:
        return f"armed for {armed} bytes; how many arrived could not be counted"
    if surplus == 0:
        if armed:
            return f"armed for {armed} bytes, all arrived"
        return None if stop["pending_arrivals"] else _LATE
    came = f"armed for {armed} bytes, {armed + surplus} arrived"
    if surplus < 0:
        return f"{came}; {-surplus} {_verb(-surplus)} missing"
    return f"{came}; {surplus} {_verb(surplus)} too many"


def _many(number: int, one: str, several: str) -> str:
    return f"{number} {one if number == 1 else several}"


def _verb(number: int) -> str:
    return "is" if number == 1 else "are"
