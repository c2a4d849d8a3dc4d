"""`Timeline`: what the agents of one run did, lane by lane, in cycles of one multiprocessor and in nanoseconds.

    producer  ▐arm▐load A▐load B▐
    engine              ├── A in flight ──┤
    barrier       ◆ armed                 ◆ A complete ◆ phase 1

>>> load = Event("load A", "producer", 21, 50, ptx="cp.async.bulk.tensor.2d…")
>>> line = Timeline("demo", ("producer",), (load,), cycles_per_ns=2.0, tick_ns=32)
>>> line.ns(50), line.to_chrome_trace()["traceEvents"][-1]["ts"]
(25.0, 0.0105)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

SCHEMA = 1
_PROCESS = 1  # one multiprocessor, whose clock all lanes share


@dataclass(frozen=True)
class Counts:
    """A barrier as it stands: `phase` counts from 0, `pending_count` arrivals and `tx_count` bytes are awaited."""

    phase: int
    pending_count: int
    tx_count: int


@dataclass(frozen=True)
class Event:
    """Something that an agent did, from `begin_cycles` to `end_cycles` (the same for what takes no time).

    `ptx` is its line where it is an instruction; `before` and `after` the barrier's counts where it changes them;
    `latest` says that the event was seen at its end and may have happened any time since `begin_cycles`.
    """

    name: str
    lane: str
    begin_cycles: int
    end_cycles: int
    ptx: str = ""
    before: Counts | None = None
    after: Counts | None = None
    latest: bool = False
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Timeline:
    """The events of one run, by their begin. Cycles count from the run's start, on one multiprocessor's clock64.

    `cycles_per_ns` was measured against %globaltimer, which itself ticks every `tick_ns`.
    """

    title: str
    lanes: tuple[str, ...]
    events: tuple[Event, ...]
    cycles_per_ns: float
    tick_ns: int
    provenance: str = ""
    notes: tuple[str, ...] = ()

    def ns(self, cycles: float) -> float:
        """Nanoseconds of that many cycles."""
        return cycles / self.cycles_per_ns

    def of_lane(self, lane: str) -> list[Event]:
        """The events of one lane."""
        return [event for event in self.events if event.lane == lane]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON with a schema version; every event has its nanoseconds too."""
        events = [
            {**asdict(event), "begin_ns": round(self.ns(event.begin_cycles), 1),
             "end_ns": round(self.ns(event.end_cycles), 1)}
            for event in self.events
        ]  # fmt: skip
        return {
            "schema": SCHEMA, "title": self.title, "lanes": list(self.lanes), "events": events,
            "cycles_per_ns": self.cycles_per_ns, "tick_ns": self.tick_ns, "provenance": self.provenance,
            "notes": list(self.notes),
        }  # fmt: skip

    def to_chrome_trace(self) -> dict[str, Any]:
        """The Trace Event Format that Perfetto and chrome://tracing open: a thread a lane, times in microseconds.

        What takes time is a complete event ("X"), what takes none an instant ("i"); the barrier's counts are counters
        ("C"). A viewer drops complete events of one thread that overlap: a lane's take as many threads of its name as
        they need. Source: Trace Event Format, Google.
        """
        rows = self._rows()
        threads = [(lane, row) for lane in self.lanes for row in range(max(rows[lane], default=0) + 1)]
        tids = {thread: tid for tid, thread in enumerate(threads, start=1)}
        turns = {lane: iter(row) for lane, row in rows.items()}
        parts = (
            part for event in self.events for part in self._parts(event, tids[event.lane, next(turns[event.lane])])
        )
        return {
            "traceEvents": [*self._names(tids), *parts],
            "displayTimeUnit": "ns",
            "otherData": {
                "title": self.title, "provenance": self.provenance, "cycles_per_ns": self.cycles_per_ns,
                "tick_ns": self.tick_ns, "notes": " ".join(self.notes),
            },
        }  # fmt: skip

    def _rows(self) -> dict[str, list[int]]:
        """Of each lane: the row of each of its events, in their order; those of a row do not overlap."""
        rows: dict[str, list[int]] = {}
        for lane in self.lanes:
            events = self.of_lane(lane)
            rows[lane], ends = [0] * len(events), list[int]()  # until when each row is taken
            for at in sorted(range(len(events)), key=lambda at: events[at].begin_cycles):
                begin, end = events[at].begin_cycles, events[at].end_cycles
                if end > begin:  # an instant is in nobody's way
                    row = next((row for row, until in enumerate(ends) if until <= begin), len(ends))
                    ends[row:] = [end, *ends[row + 1 :]]
                    rows[lane][at] = row
        return rows

    def _names(self, tids: Mapping[tuple[str, int], int]) -> Iterator[dict[str, Any]]:
        yield {"ph": "M", "name": "process_name", "pid": _PROCESS, "tid": 0, "args": {"name": self.title}}
        for (lane, _), at in tids.items():
            yield {"ph": "M", "name": "thread_name", "pid": _PROCESS, "tid": at, "args": {"name": lane}}
            yield {"ph": "M", "name": "thread_sort_index", "pid": _PROCESS, "tid": at, "args": {"sort_index": at}}

    def _parts(self, event: Event, tid: int) -> Iterator[dict[str, Any]]:
        place = {"pid": _PROCESS, "tid": tid}
        args: dict[str, Any] = {"cycles": [event.begin_cycles, event.end_cycles], **event.detail}
        args |= {"ptx": event.ptx} if event.ptx else {}
        args |= {"seen": "at its end"} if event.latest else {}
        for name, counts in (("before", event.before), ("after", event.after)):
            args |= {name: asdict(counts)} if counts else {}
        spans = event.end_cycles > event.begin_cycles
        yield {
            "ph": "X" if spans else "i", "name": event.name, "cat": event.lane, **place, "args": args,
            "ts": self._us(event.begin_cycles),
            **({"dur": round(self._us(event.end_cycles) - self._us(event.begin_cycles), 6)} if spans else {"s": "t"}),
        }  # fmt: skip
        if event.after:
            yield {
                "ph": "C", "name": "barrier", "ts": self._us(event.end_cycles), "pid": _PROCESS, "tid": 0,
                "args": {"pending_count": event.after.pending_count, "tx_count": event.after.tx_count},
            }  # fmt: skip

    def _us(self, cycles: int) -> float:
        return round(self.ns(cycles) / 1000, 6)
