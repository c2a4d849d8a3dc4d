"""What a figure is drawn from: the observation of a case, where there is one and it is an answer.

    recorded          → the observation        recorded, and damaged   → the error, as it is
    not recorded      → None: the model        the experiment failed   → HardwareError: its arrays are no answer

>>> answer_to(None, "edges/fill-zero") is None
True
"""

from __future__ import annotations

from collections.abc import Callable

from tmalab.errors import HardwareError, RecordingError
from tmalab.experiment.case import Case
from tmalab.experiment.catalogue import cases
from tmalab.experiment.observation import Observation

Observe = Callable[[Case], Observation]


def recorded_of(observe: Observe | None, case: Case) -> Observation | None:
    """What was observed of a case, whatever it says; None where nothing was. Raises RecordingError for damaged ones."""
    if observe is None:
        return None
    try:
        return observe(case)
    except RecordingError as error:
        if error.field != "case":  # there is one, and it is damaged
            raise
        return None


def answer_of(observe: Observe | None, case: Case) -> Observation | None:
    """The observation of a case; None where there is none. Raises HardwareError for one that failed."""
    seen = recorded_of(observe, case)
    if seen is None:
        return None
    failed = seen.values.get("error") or (None if seen.values.get("completed", True) else "TIMEOUT")
    if failed:
        raise HardwareError(f"{case.name} ended with {failed}: {seen.values.get('diagnosis') or 'no diagnosis'}")
    return seen


def answer_to(observe: Observe | None, name: str) -> Observation | None:
    """The same by the case's name; None also where the catalogue has no such case. Raises HardwareError."""
    case = cases().get(name)
    return None if case is None else answer_of(observe, case)
