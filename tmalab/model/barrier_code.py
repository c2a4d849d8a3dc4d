"""A barrier program made ready to run: each agent's instructions, the barriers by number, the bytes that are to land.

    events ──link──▶ code of each agent │ barriers │ flights (one a load and barrier, with the pieces that it lands in)

>>> from tmalab.model.barrier_events import read_events
>>> code = link(read_events([{"t": "p", "op": "tma_load", "bar": "b", "bytes": 64},
...                          {"t": "hw", "op": "complete_tx", "bar": "b", "bytes": 64}]))
>>> code.agents, code.bars, code.flights[0].pieces
(('p',), ('b',), ((64, 1),))

`all` is a member beside the named threads. Each member waits, reads and fences for itself; what `all` issues it issues
once, and its arrival counts once, when every thread has come to it. In a program of several CTAs `c1`, `cta1` and
`cta1.prod` are threads of CTA 1, and a name without a CTA stands for that thread of each.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from tmalab.model.barrier_events import ENGINE, EVERY_THREAD, FIRST, Event

_CTA_AGENT = re.compile(r"(?:cta|c)_?(\d{1,2})(?:[._].*)?", re.ASCII | re.IGNORECASE)
_CTA_NAME = re.compile(r"cta_?(\d{1,2})\.(.+)", re.ASCII | re.IGNORECASE)
# What `all` does once for everyone; of the others each thread does its own.
_ONCE = frozenset({"init", "expect_tx", "complete_tx", "inval", "tma_load", "tma_store"})
_TOGETHER = frozenset({"arrive", "arrive_expect_tx", "arrive_drop"})
SYNCS = ("cta_sync", "cluster_sync")


class Instruction(NamedTuple):
    """One event as one agent carries it out. `node` numbers it for the order of events; `gate` is its meeting place."""

    op: str
    event: Event
    node: int
    bars: tuple[int, ...] = ()
    bufs: tuple[str, ...] = ()
    flights: tuple[int, ...] = ()
    gate: int = -1


class Flight(NamedTuple):
    """The bytes of one load for one barrier. `pieces` are (bytes, event) where the program lists them, else None.

    `node` is the landing of its last piece. `rides` is the flight in whose listed piece this one's bytes are counted.
    """

    event: Event | None
    bar: int
    tx_bytes: int
    node: int
    bufs: tuple[str, ...]
    pieces: tuple[tuple[int, int], ...] | None = None
    rides: int = -1


class Code(NamedTuple):
    """A linked program. `gates` are how many members each meeting of `all` has; `ctas` of an agent None: each CTA's."""

    events: tuple[Event, ...]
    agents: tuple[str, ...]
    ctas: tuple[int | None, ...]
    first: tuple[Instruction, ...]
    code: tuple[tuple[Instruction, ...], ...]
    bars: tuple[str, ...]
    flights: tuple[Flight, ...]
    gates: tuple[int, ...]
    nodes: int
    cluster: bool
    initialised: frozenset[int]


def cta_of_name(name: str) -> int | None:
    """The CTA that a barrier's or buffer's name says: 1 of cta1.full."""
    found = _CTA_NAME.fullmatch(name)
    return int(found[1]) if found else None


def link(events: tuple[Event, ...]) -> Code:
    """The program of the events."""
    return _Linker(events).code()


class _Linker:
    def __init__(self, events: tuple[Event, ...]):
        self.events = events
        threads = [event.agent for event in events if event.agent not in (*FIRST, ENGINE)]
        self.agents = tuple(dict.fromkeys(threads))
        names = [name for event in events for name in (event.bar, event.buf) if name]
        self.cluster = any(event.op == "cluster_sync" or event.multicast for event in events) or any(
            cta_of_name(name) is not None for name in names
        )
        self.cta: dict[str, int | None] = {agent: self._cta_of_agent(agent) for agent in self.agents}
        known = {cta for cta in self.cta.values() if cta is not None}
        known |= {cta for name in names if (cta := cta_of_name(name)) is not None}
        known |= {cta for event in events if isinstance(event.multicast, tuple) for cta in event.multicast}
        self.all_ctas = sorted(known | {0, 1}) if self.cluster else [0]
        self.numbers: dict[str, int] = {}
        self.flights: list[Flight] = []
        self.gates: list[int] = []
        self.nodes = 0
        self._find_copies()

    def _cta_of_agent(self, agent: str) -> int | None:
        found = _CTA_AGENT.fullmatch(agent) if self.cluster else None
        return int(found[1]) if found else None

    # --- names --------------------------------------------------------------------------------------------------------

    def _find_copies(self) -> None:
        """Barriers that one event initialises in every CTA: `full` is initialised and cta1.full is used."""
        self.made = made = {event.bar for event in self.events if event.op == "init" and event.bar}
        used = {event.bar for event in self.events if event.bar}
        for event in self.events:
            if isinstance(event.multicast, tuple) and event.bar:
                used |= {f"cta{cta}.{_plain(event.bar)}" for cta in event.multicast}
        away = {bar for bar in used - made if cta_of_name(bar) is not None}
        copied = {_plain(bar) for bar in away} & made
        # A multicast names the barrier at one offset of every CTA; so do the CTAs that use it by that name.
        for bar in {event.bar for event in self.events if event.multicast is True and event.bar} & made:
            users = {self.cta.get(event.agent) for event in self.events if event.bar == bar}
            if len(users - {None}) > 1:
                copied.add(bar)
        self.copies = {bar: [bar, *(f"cta{cta}.{bar}" for cta in self.all_ctas)] for bar in copied}

    def _bars(self, event: Event, cta: int | None) -> tuple[int, ...]:
        bar = event.bar
        if bar is None:
            return ()
        if event.op == "init":
            names = self.copies.get(bar, [bar])
        elif event.op == "tma_load" and isinstance(event.multicast, tuple):
            names = [f"cta{cta}.{_plain(bar)}" for cta in event.multicast]
        elif event.op == "tma_load" and self._masks(event):
            names = [f"cta{cta}.{_plain(bar)}" for cta in self._reached(event)]
        elif event.op == "tma_load" and event.multicast and (bar in self.copies or self._owned(bar)):
            names = [f"cta{cta}.{bar}" for cta in self._reached(event) if bar in self.copies or cta in self._owned(bar)]
        else:
            own = cta is not None and (bar in self.copies or cta in self._owned(bar))
            names = [f"cta{cta}.{bar}" if own else bar]
        return tuple(self.numbers.setdefault(name, len(self.numbers)) for name in names)

    def _masks(self, event: Event) -> bool:
        """Whether a load to cta0.full with a mask of several CTAs is the one event of that multicast.

        It is not where other loads with a mask name the same barrier of other CTAs: then each stands for its own CTA.
        """
        mask, bar = event.said.get("multicast"), event.bar
        if not isinstance(mask, int) or mask < 2 or bar is None or cta_of_name(bar) is None:
            return False
        others = {other.bar for other in self.events if other.op == "tma_load" and other.multicast is True} - {bar}
        return not any(_plain(other) == _plain(bar) for other in others if other)

    def _owned(self, bar: str) -> frozenset[int]:
        """The CTAs that initialise a barrier of their own under this plain name; none where it is one barrier."""
        if bar in self.made or cta_of_name(bar) is not None:
            return frozenset()
        return frozenset(cta for cta in self.all_ctas if f"cta{cta}.{bar}" in self.made)

    def _reached(self, event: Event) -> list[int]:
        """The CTAs of a multicast that names none: those of its mask, or all."""
        mask = event.said.get("multicast")
        masked = [cta for cta in range(16) if isinstance(mask, int) and mask > 1 and mask >> cta & 1]
        return masked or self.all_ctas

    def _bufs(self, event: Event, cta: int | None, bar: str | None = None) -> tuple[str, ...]:
        """The buffers that the event touches, one in each CTA that it reaches."""
        buf = event.buf
        if buf is None or not self.cluster or cta_of_name(buf) is not None:
            return () if buf is None else (buf,)
        into = cta_of_name(bar) if bar else None
        if event.op == "tma_load" and into is not None:
            ctas: Iterable[int] = [into]
        elif (event.op == "tma_load" and event.multicast is True) or cta is None:
            ctas = self.all_ctas
        else:
            ctas = [cta]
        return tuple(f"cta{cta}.{buf}" for cta in ctas)

    # --- instructions -------------------------------------------------------------------------------------------------

    def code(self) -> Code:
        first = tuple(self._instruction(event, None) for event in self.events if event.agent in FIRST)
        code: dict[str, list[Instruction]] = {agent: [] for agent in self.agents}
        gone: set[str] = set()
        for event in self.events:
            if event.agent in code and event.agent not in gone:  # what stands after its exit a thread never does
                self._place(event, code)
            if event.op == "exit":
                gone.add(event.agent)
        self._match_pieces()
        everything = (*first, *(instruction for made in code.values() for instruction in made))
        inited = {bar for instruction in everything if instruction.op == "init" for bar in instruction.bars}
        return Code(
            self.events, self.agents, tuple(self.cta.values()), first, tuple(tuple(made) for made in code.values()),
            tuple(self.numbers), tuple(self.flights), tuple(self.gates), self.nodes, self.cluster, frozenset(inited),
        )  # fmt: skip

    def _place(self, event: Event, code: Mapping[str, list[Instruction]]) -> None:
        if event.agent != EVERY_THREAD or event.op in _ONCE:
            code[event.agent].append(self._instruction(event, self.cta[event.agent]))
        elif event.op in _TOGETHER:
            self.gates.append(len(self.agents))
            shared = self._instruction(event, None)._replace(gate=len(self.gates) - 1)
            for made in code.values():
                made.append(shared)
        else:
            for agent, made in code.items():
                made.append(self._instruction(event, self.cta[agent]))

    def _instruction(self, event: Event, cta: int | None) -> Instruction:
        bars = self._bars(event, cta)
        flights: list[int] = []
        if event.op == "tma_load":
            for bar in bars:
                bufs = self._bufs(event, cta, tuple(self.numbers)[bar])
                flights.append(len(self.flights))
                self.flights.append(Flight(event, bar, event.amount, self._node(), bufs))
        bufs = () if event.op == "tma_load" else self._bufs(event, cta)
        if event.op == "tma_store":  # the two nodes after its own: the source was read, the data is in global memory
            node = self._node()
            self.nodes += 2
            return Instruction(event.op, event, node, bars, bufs)
        return Instruction(event.op, event, self._node(), bars, bufs, tuple(flights))

    def _node(self) -> int:
        self.nodes += 1
        return self.nodes - 1

    # --- the engine's pieces ------------------------------------------------------------------------------------------

    def _match_pieces(self) -> None:
        """Give each listed complete_tx of the engine to the load whose bytes it lands, in list order."""
        listed: dict[int, list[tuple[int, int]]] = {}
        for event in self.events:
            if event.agent == ENGINE and event.amount:
                [bar] = self._bars(event, None)
                listed.setdefault(bar, []).append((event.amount, event.number))
        for bar, pieces in listed.items():
            loads = [number for number, flight in enumerate(self.flights) if flight.bar == bar and flight.tx_bytes]
            loads.sort(key=lambda number: self.flights[number].event.number)  # type: ignore[union-attr]
            self._share_out(bar, pieces, loads)

    def _share_out(self, bar: int, pieces: list[tuple[int, int]], loads: list[int]) -> None:
        given: dict[int, list[tuple[int, int]]] = {}
        riders: dict[int, int] = {}
        at, left = 0, self.flights[loads[0]].tx_bytes if loads else 0
        for piece in pieces:
            size = piece[0]
            while at < len(loads) - 1 and (size > left or left == 0):
                if left and size > left:  # the piece counts this load's last bytes and the next one's first
                    riders[loads[at]] = loads[at + 1]
                size -= left
                at += 1
                left = self.flights[loads[at]].tx_bytes
            left = max(left - size, 0)
            if loads:
                given.setdefault(loads[at], []).append(piece)
            else:
                self.flights.append(Flight(None, bar, piece[0], self._node(), (), (piece,)))
        for number, found in given.items():
            self.flights[number] = self.flights[number]._replace(pieces=tuple(found))
        for number, on in riders.items():
            self.flights[number] = self.flights[number]._replace(rides=on, pieces=tuple(given.get(number, ())))


def _plain(name: str) -> str:
    found = _CTA_NAME.fullmatch(name)
    return found[2] if found else name
