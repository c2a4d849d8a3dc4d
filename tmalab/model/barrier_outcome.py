"""What running a barrier program says: the verdict, why, the first bad event, the counts there, and one whole run.

    error > race > hang > completes        `outcomes` holds every one that is possible, the verdict first

A race that may also end in a fault stays a race: where it does not fault it goes wrong in silence.

>>> WORST[0], worst_first({"completes", "race"})
('error', ('race', 'completes'))
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from tmalab.model.mbarrier import BarrierCounts

WORST = ("error", "race", "hang", "completes")


def worst_first(verdicts: Iterable[str]) -> tuple[str, ...]:
    """The verdicts, the worst first."""
    return tuple(sorted(set(verdicts), key=WORST.index))


class Finding(NamedTuple):
    """One thing that is wrong (or, with the verdict `note`, worth knowing), at the event where it shows."""

    verdict: str
    rule: str
    message: str
    fix: str = ""
    event: int | None = None
    numbers: Mapping[str, Any] = {}
    counts: Mapping[str, BarrierCounts] = {}


class Step(NamedTuple):
    """One step of a run. `event` is None where the engine lands bytes that no event lists."""

    agent: str
    event: int | None
    op: str
    bar: str | None
    text: str
    before: BarrierCounts | None = None
    after: BarrierCounts | None = None


class Outcome(NamedTuple):
    """The answer. `first_bad` is an index into the events; `counts` are the barriers' at that step.

    `findings` are all faults, worst first; `notes` break nothing. `blocked` says in which event an agent waits for
    ever. `trace` is a run that shows the verdict. `bounded` says where the search stopped, if it did; `states` how many
    states it saw, 0 where the order of the events alone proves that every interleaving does the same.
    """

    verdict: str
    outcomes: tuple[str, ...]
    why: str
    rule: str | None = None
    fix: str = ""
    first_bad: int | None = None
    counts: Mapping[str, BarrierCounts] = {}
    trace: tuple[Step, ...] = ()
    findings: tuple[Finding, ...] = ()
    notes: tuple[Finding, ...] = ()
    blocked: Mapping[str, int] = {}
    numbers: Mapping[str, Any] = {}
    bounded: str | None = None
    states: int = 0

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON values."""
        made = self._asdict()
        made["counts"] = _counts(self.counts)
        made["trace"] = [
            {**step._asdict(), "before": _one(step.before), "after": _one(step.after)} for step in self.trace
        ]
        for name in ("findings", "notes"):
            found: tuple[Finding, ...] = made[name]
            made[name] = [{**each._asdict(), "counts": _counts(each.counts)} for each in found]
        made["outcomes"], made["blocked"], made["numbers"] = list(self.outcomes), dict(self.blocked), dict(self.numbers)
        return made


def _counts(counts: Mapping[str, BarrierCounts]) -> dict[str, Any]:
    return {bar: each._asdict() for bar, each in counts.items()}


def _one(counts: BarrierCounts | None) -> dict[str, int] | None:
    return None if counts is None else counts._asdict()
