"""Which event comes before which in every run: read off one run, as a set of bits an event.

    arrive ─▶ phase complete ─▶ wait        bytes land ─▶ phase complete ─▶ wait        store ─▶ wait_group        sync

>>> from tmalab.model.barrier_code import link
>>> from tmalab.model.barrier_events import read_events
>>> from tmalab.model.barrier_machine import Machine
>>> said = [{"t": "t0", "op": "st_shared", "buf": "d"}, {"t": "t0", "op": "fence_proxy_async"}]
>>> order = run_in_order(Machine(link(read_events(said))))
>>> order.before(0, 1), order.before(1, 0)
(True, False)

`always` is the proof that makes one run enough. Where each operation on a barrier comes, in this order, after all those
of the phase before it, where the counts of each phase come out even only when the last of its operations is done, and
where no wait can return one phase early or two late, every interleaving counts every operation in the same phase.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from tmalab.model.barrier_code import SYNCS, Instruction
from tmalab.model.barrier_machine import Machine
from tmalab.model.barrier_state import Choice, State, Trouble
from tmalab.model.bulk_group import BulkGroups


class Counted(NamedTuple):
    """Operations of one phase of one barrier, as bits, and what they add up to."""

    every: int = 0
    expects: int = 0
    known_to_arrivals: int = 0
    arrived: int = 0
    armed_bytes: int = 0
    landed_bytes: int = 0


class Waited(NamedTuple):
    """A wait: its node, barrier and phase, the bits before it, and the latest phase its agent had waited for."""

    node: int
    bar: int
    phase: int
    past: int
    seen: int


class Order:
    """One run with, for each node that it reached, the nodes that come before it in every run."""

    def __init__(self, machine: Machine):
        self.machine, self.code = machine, machine.code
        self.past: dict[int, int] = {}
        self.reached: dict[int, int] = {}
        self.where: dict[int, tuple[Instruction, int]] = {}
        self.counted: dict[tuple[int, int], Counted] = {}
        self.issued: dict[int, int] = {}
        self.waits: list[Waited] = []
        self.groups = [BulkGroups() for _ in self.code.agents]
        self.group_waits: list[tuple[Instruction, int, BulkGroups]] = []
        self.choices: list[Choice] = []
        self.troubled = False
        self.last: State | None = None

    def before(self, first: int, then: int) -> bool:
        """Whether the first node comes before the other in every run (that books the barriers alike)."""
        return self.past.get(then, 0) >> first & 1 == 1

    def armed(self, bar: int, phase: int) -> Counted:
        """What was counted in that phase."""
        return self.counted.get((bar, phase), Counted())

    # --- the proof ----------------------------------------------------------------------------------------------------

    def always(self) -> bool:
        """Whether every interleaving counts every operation in the phase of this run, and so ends as it does."""
        if self.troubled or self.last is None or self._lives_end():
            return False
        return next(self.open_nodes(), None) is None

    def open_nodes(self) -> Iterator[int]:
        """Nodes that the proof fails at: put off, each may be counted late, or let something else come early."""
        for bar, phase in self.counted:
            yield from self._open_in_phase(bar, phase)
        for wait in self.waits:
            yield from self._open_at_wait(wait)
        for agent in range(len(self.code.agents)):
            yield from self._open_at_end(agent)

    def _lives_end(self) -> bool:
        """Whether a barrier is made invalid, or initialised more than once: its phases do not follow one another."""
        inits = [bar for made in (self.code.first, *self.code.code) for i in made if i.op == "init" for bar in i.bars]
        return len(inits) > len(set(inits)) or any(i.op == "inval" for made in self.code.code for i in made)

    def _open_in_phase(self, bar: int, phase: int) -> Iterator[int]:
        found, earlier = self.counted[bar, phase], self.armed(bar, phase - 1).every
        if earlier:
            for node in _bits(found.every):
                yield from _bits(earlier & ~self.past[node])
        yield from _bits(found.expects & ~found.known_to_arrivals)
        barrier = self.last.bars[bar] if self.last is not None else None
        if barrier is None:
            yield from _bits(found.every)
        elif barrier.phase > phase:
            if found.arrived != barrier.expected_count or found.armed_bytes != found.landed_bytes:
                yield from _bits(found.every)
        elif found.arrived >= barrier.expected_count and found.landed_bytes >= found.armed_bytes:
            yield from _bits(found.every)

    def _open_at_wait(self, wait: Waited) -> Iterator[int]:
        if wait.phase <= wait.seen:
            yield from self._may_fly(wait)
        yield from _bits(self.armed(wait.bar, wait.phase - 1).every & ~wait.past)
        barrier = self.last.bars[wait.bar] if self.last is not None else None
        # The next phase must not be able to end before this wait returns: one of its operations comes after it.
        if barrier is None or barrier.phase <= wait.phase + 1:
            return
        if not any(self.before(wait.node, node) for node in _bits(self.armed(wait.bar, wait.phase + 1).every)):
            yield wait.node

    def _may_fly(self, wait: Waited) -> Iterator[int]:
        """Landings of the barrier's loads that may be in flight at a wait that returns for an old phase."""
        for number, flight in enumerate(self.code.flights):
            issue = self.issued.get(number)
            if flight.bar != wait.bar or not flight.tx_bytes or issue is None:
                continue
            if not self.before(wait.node, issue) and not wait.past >> flight.node & 1:
                yield flight.node

    def _open_at_end(self, agent: int) -> Iterator[int]:
        assert self.last is not None
        place = self.last.places[agent]
        made = self.code.code[agent]
        if place < len(made) and made[place].op == "wait":
            [bar] = made[place].bars
            barrier = self.last.bars[bar]
            if barrier is not None:
                yield from _bits(self.armed(bar, barrier.phase - 1).every & ~self._now[agent])
                inits = [node for node, (i, _) in self.where.items() if i.op == "init" and bar in i.bars]
                if any(not self._now[agent] >> node & 1 for node in inits):  # it may wait before the barrier is there
                    yield made[place].node

    # --- the run ------------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Go through one run, the events in list order as far as they can be."""
        self._now = [0] * len(self.code.agents)
        self._at_gate: dict[int, int] = {}
        self._together = 0
        start = 0
        for instruction in self.code.first:
            self.past[instruction.node] = start
            self.where[instruction.node] = (instruction, -1)
            start |= 1 << instruction.node
        self._now = [start] * len(self.code.agents)
        state = self.machine.begun(self._tell)
        while state is not None:
            self.last = state
            choices = self.machine.choices(state, all_of_them=False)
            if not choices:
                return
            choice = min(choices, key=partial(self.turn, state))
            self.choices.append(choice)
            after = self.machine.after(state, choice, self._tell)
            if choice.flight >= 0:
                self._land(state, after, choice)
            elif len(choice.agents) > 1 or self._next(state, choice).op in SYNCS:
                self._meet(state, choice)
            else:
                self._step(state, choice)
            state = after
        self.last = None

    def _tell(self, verdict: str, rule: str, trouble: Trouble) -> None:
        self.troubled = True

    def _next(self, state: State, choice: Choice) -> Instruction:
        return self.code.code[choice.agents[0]][state.places[choice.agents[0]]]

    def turn(self, state: State, choice: Choice) -> tuple[int, int]:
        """Where a step stands in the list of events: the run goes in this order as far as it can."""
        if choice.flight < 0:
            return self._next(state, choice).event.number, 0
        pieces = self.code.flights[choice.flight].pieces
        if pieces is None:  # lands when nothing else can go on, whole
            return len(self.code.events), -choice.tx_bytes
        left = next(flight.left for flight in state.flights if flight.flight == choice.flight)
        return pieces[left][1], 0

    def _step(self, state: State, choice: Choice) -> None:
        [agent] = choice.agents
        instruction = self._next(state, choice)
        if instruction.gate >= 0:
            self._at_gate[instruction.gate] = self._at_gate.get(instruction.gate, 0) | self._now[agent]
            if state.gates[instruction.gate] > 1:
                return
        node, op = instruction.node, instruction.op
        past = self._at_gate[instruction.gate] if instruction.gate >= 0 else self._now[agent]
        if op == "wait":
            self.reached[node] = past
            for bar in instruction.bars:
                past |= self._waited(state, instruction, agent, bar, past)
        self.past[node], self.where[node] = past, (instruction, agent)
        if instruction.gate < 0 or self.code.gates[instruction.gate] == 1:
            self._now[agent] |= past | 1 << node
        else:  # the one arrival of all comes with the last of them, whoever that is: it is known where all have met
            self._together |= 1 << node
        if op in ("arrive", "expect_tx", "arrive_expect_tx", "arrive_drop", "complete_tx"):
            for bar in instruction.bars:
                self._count(state, instruction, bar, past)
        elif op == "tma_load":
            self.issued |= dict.fromkeys(instruction.flights, node)
        elif op == "tma_store":
            self.groups[agent] = self.groups[agent].store(node)
        elif op == "commit_group":
            self.groups[agent] = self.groups[agent].commit()
        elif op == "wait_group":
            self.group_waits.append((instruction, agent, self.groups[agent]))
            for store in self.groups[agent].covered(instruction.event.amount):
                self._now[agent] |= 1 << store + 1 | (0 if instruction.event.read else 1 << store + 2)
                self.past[store + 1] = self.past[store + 2] = self.past[store] | 1 << store

    def _waited(self, state: State, instruction: Instruction, agent: int, bar: int, past: int) -> int:
        barrier = state.bars[bar]
        if barrier is None:
            return 0
        phase = barrier.phase - 1
        seen = state.seen[self.machine.waiters[agent, bar]]
        self.waits.append(Waited(instruction.node, bar, phase, past, seen))
        found = self.armed(bar, phase)
        joined = found.every | found.known_to_arrivals
        for node in _bits(found.every & ~past):
            joined |= self.past[node]
        return joined

    def _count(self, state: State, instruction: Instruction, bar: int, past: int) -> None:
        barrier = state.bars[bar]
        if barrier is None:
            return
        at = (bar, barrier.phase)
        found, bit = self.counted.get(at, Counted()), 1 << instruction.node
        amount, op = instruction.event.amount, instruction.op
        arrives = 0 if op in ("expect_tx", "complete_tx") else 1 if op == "arrive_expect_tx" else amount
        arms = amount if op in ("expect_tx", "arrive_expect_tx") else 0
        self.counted[at] = found._replace(
            every=found.every | bit,
            expects=found.expects | (bit if arms else 0),
            known_to_arrivals=found.known_to_arrivals | (past | bit if arrives else 0),
            arrived=found.arrived + arrives,
            armed_bytes=found.armed_bytes + arms,
            landed_bytes=found.landed_bytes + (amount if op == "complete_tx" else 0),
        )

    def _land(self, state: State, after: State | None, choice: Choice) -> None:
        flight = self.code.flights[choice.flight]
        barrier = state.bars[flight.bar]
        over = after is not None and all(left.flight != choice.flight for left in after.flights)
        issue = self.issued.get(choice.flight)
        past = 0 if issue is None else self.past[issue] | 1 << issue
        riders = [each.node for each in self.code.flights if each.rides == choice.flight and not each.pieces]
        for node in (flight.node, *riders) if over else ():
            self.past[node] = past
        if barrier is None:
            return
        at = (flight.bar, barrier.phase)
        found = self.counted.get(at, Counted())
        bits = sum(1 << node for node in (flight.node, *riders)) if over else 0
        self.counted[at] = found._replace(every=found.every | bits, landed_bytes=found.landed_bytes + choice.tx_bytes)

    def _meet(self, state: State, choice: Choice) -> None:
        ctas, now, local = self.code.ctas, self._now, self._next(state, choice).op == "cta_sync"
        joined = []
        for agent in choice.agents:
            past = self._together if len(choice.agents) == len(now) else 0
            for other in choice.agents:
                if not local or ctas[agent] is None or ctas[other] in (None, ctas[agent]):
                    past |= now[other]
            joined.append(past)
        for agent, past in zip(choice.agents, joined, strict=True):
            instruction = self.code.code[agent][state.places[agent]]
            self.past[instruction.node], self.where[instruction.node] = past, (instruction, agent)
            now[agent] = past | 1 << instruction.node


def _bits(number: int) -> list[int]:
    found = []
    while number:
        found.append(number.bit_length() - 1)
        number ^= 1 << found[-1]
    return found


def run_in_order(machine: Machine) -> Order:
    """One run of the program, and the order that it shows."""
    order = Order(machine)
    order.run()
    return order
