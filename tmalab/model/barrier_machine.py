"""The event machine: one state of a barrier program, the steps that are possible in it, and the state after each.

    state = where each agent is │ each barrier │ loads in flight │ phases each agent has waited for │ meetings of `all`

>>> from tmalab.model.barrier_code import link
>>> from tmalab.model.barrier_events import read_events
>>> machine = Machine(link(read_events([{"t": "w", "op": "wait", "bar": "b", "parity": 1},
...                                     {"t": "init", "op": "init", "bar": "b", "count": 1}])))
>>> begun = machine.begun(print)
>>> [choice] = machine.choices(begun)
>>> machine.done(machine.after(begun, choice, print))
True

Only what moves a barrier is state: whether a read of a buffer is safe follows from the order of the events, which
`barrier_order` reads off one run. What is wrong at a step is told to the caller's `tell(verdict, rule, step)`.
"""

from __future__ import annotations

from itertools import islice

from tmalab.model.barrier_code import SYNCS, Code, Instruction
from tmalab.model.barrier_events import OPS
from tmalab.model.barrier_state import Choice, InFlight, State, Tell, Trouble, put
from tmalab.model.mbarrier import MOST, MBarrier, MBarrierError

# What neither waits nor moves a barrier: it is done as soon as its agent comes to it.
LOCAL = frozenset(op for op, fields in OPS.items() if "bar" not in fields and op not in SYNCS) | {"test_wait"}
_ARRIVES = frozenset({"arrive", "arrive_expect_tx", "arrive_drop"})
_ARMS = frozenset({"arrive", "expect_tx", "arrive_expect_tx", "arrive_drop", "tma_load"})
# The engine moves 16 bytes at least.
_LEAST_PIECE = 16


class Machine:
    """Steps of one linked program. With `story`, a barrier that nobody initialises is taken as open."""

    def __init__(self, code: Code, story: bool = False):
        self.code, self.story = code, story
        waits = [(agent, bar) for agent, made in enumerate(code.code) for i in made if i.op == "wait" for bar in i.bars]
        self.waiters = {at: slot for slot, at in enumerate(dict.fromkeys(waits))}
        # Barriers of a story that loads complete and nobody arms: each load counts as the arrival that arms it.
        self.armed_by_loads: set[int] = set()
        self.start = State(
            (0,) * len(code.agents),
            self._given_bars() if story else (None,) * len(code.bars),
            tuple(InFlight(number, 0, 0) for number, flight in enumerate(code.flights) if flight.event is None),
            (-1,) * len(self.waiters),
            code.gates,
        )

    def _given_bars(self) -> tuple[MBarrier | None, ...]:
        """Barriers that nobody initialises: they count what arrives in a phase, or let through where nothing does."""
        made: list[MBarrier | None] = []
        for bar in range(len(self.code.bars)):
            on_it = [i for code in self.code.code for i in {i.node: i for i in code}.values() if bar in i.bars]
            arrives = {i.node: max(i.event.amount, 1) if i.op == "arrive" else 1 for i in on_it if i.op in _ARRIVES}
            turns = max((sum(i.op == "wait" and bar in i.bars for i in code) for code in self.code.code), default=0)
            loads = [i.node for i in on_it if i.op == "tma_load" and i.event.amount]
            armed = arrives or bar in self.code.initialised or any(i.op == "expect_tx" for i in on_it)
            if not armed and turns and len(loads) % turns == 0:
                arrives = dict.fromkeys(loads, 1)
                self.armed_by_loads |= {bar} if loads else set()
            free = bar in self.code.initialised or not arrives
            made.append(None if free else MBarrier.init(max(sum(arrives.values()) // max(turns, 1), 1)))
        return tuple(made)

    # --- what is possible ---------------------------------------------------------------------------------------------

    def choices(self, state: State, *, all_of_them: bool = True) -> list[Choice]:
        """Every step that is possible; where one of them can wait for nothing and disturb nobody, that one alone."""
        found: list[Choice] = []
        for agent, place in enumerate(state.places):
            made = self.code.code[agent]
            if place == len(made):
                continue
            instruction = made[place]
            if instruction.op in LOCAL:
                if all_of_them:
                    return [Choice((agent,))]
                found.append(Choice((agent,)))
            elif instruction.op in SYNCS:
                group = self._group(state, agent, instruction.op)
                if group and group[0] == agent:
                    found.append(Choice(group))
            elif instruction.op != "wait" or self._passes(state, instruction):
                found.append(Choice((agent,)))
        flights = state.flights if all_of_them else self._next_to_land(state, bool(found))
        flying: dict[int, int] = {}
        for each in state.flights if flights else ():
            said = self.code.flights[each.flight]
            flying[said.bar] = flying.get(said.bar, 0) + (each.left if said.pieces is None else 0)
        for each in flights:
            found += self._landings(state, each, flying[self.code.flights[each.flight].bar])
        return found

    def _next_to_land(self, state: State, others: bool) -> list[InFlight]:
        """For one run: the listed loads, and two of the rest where nothing else can go on."""
        listed = [each for each in state.flights if self.code.flights[each.flight].pieces is not None]
        rest = (each for each in state.flights if self.code.flights[each.flight].pieces is None)
        return listed if others else [*listed, *islice(rest, 2)]

    def _passes(self, state: State, instruction: Instruction) -> bool:
        [bar] = instruction.bars
        barrier = state.bars[bar]
        return barrier is None or not barrier.valid or barrier.test_wait(instruction.event.parity)

    def _group(self, state: State, agent: int, op: str) -> tuple[int, ...]:
        """The agents that meet at this sync; none while one of them is elsewhere and has not ended."""
        ctas = self.code.ctas
        apart = op == "cta_sync" and self.code.cluster and None not in ctas
        group = []
        for other, place in enumerate(state.places):
            made = self.code.code[other]
            if place == len(made) or (apart and ctas[other] != ctas[agent]):
                continue  # who has ended is not waited for
            if made[place].op != op:
                return ()
            group.append(other)
        return tuple(group)

    def _landings(self, state: State, flight: InFlight, flying: int) -> list[Choice]:
        said = self.code.flights[flight.flight]
        if said.pieces is not None:
            return [Choice((), flight.flight, said.pieces[flight.left][0])] if flight.left < len(said.pieces) else []
        barrier, found = state.bars[said.bar], [Choice((), flight.flight, flight.left)]
        if barrier is None or barrier.pending_count or barrier.tx_count <= 0:
            return found
        # Bytes land in pieces. Two matter: the one that ends the phase before the rest is there, and the one that
        # leaves so little of this load that the next one's bytes take the count past zero.
        todo = barrier.tx_count
        if todo < flight.left and todo % _LEAST_PIECE == 0:
            found.append(Choice((), flight.flight, todo))
        elif _LEAST_PIECE < flight.left <= todo < flying:
            found.append(Choice((), flight.flight, flight.left - _LEAST_PIECE))
        return found

    def done(self, state: State | None) -> bool:
        """Whether every agent has come to its end."""
        return state is not None and all(
            place == len(made) for place, made in zip(state.places, self.code.code, strict=True)
        )

    def begun(self, tell: Tell) -> State | None:
        """The state after the events of `init` and `host`, which come first."""
        state: State | None = self.start
        for instruction in self.code.first:
            if state is not None:
                state = self._effect(state, instruction, -1, tell)
        return state

    # --- a step -------------------------------------------------------------------------------------------------------

    def after(self, state: State, choice: Choice, tell: Tell) -> State | None:
        """The state after a step; None where what follows it has no meaning. What is wrong with it is told."""
        if choice.flight >= 0:
            return self._land(state, choice, tell)
        places = list(state.places)
        for agent in choice.agents:
            places[agent] += 1
        agent = choice.agents[0]
        instruction = self.code.code[agent][state.places[agent]]
        moved = state._replace(places=tuple(places))
        if instruction.op in LOCAL or instruction.op in SYNCS:
            return moved
        if instruction.gate >= 0:
            left = state.gates[instruction.gate] - 1
            moved = moved._replace(gates=put(state.gates, instruction.gate, left))
            if left:
                return moved
        return self._effect(moved, instruction, agent, tell)

    def _effect(self, state: State, instruction: Instruction, agent: int, tell: Tell) -> State | None:
        after: State | None = state
        for at, bar in enumerate(instruction.bars):
            if after is None:
                return None
            barrier = after.bars[bar]
            if instruction.op == "init":
                after = self._init(after, instruction, agent, bar, tell)
                continue
            if barrier is None or not barrier.valid:
                if self.story and bar not in self.code.initialised:
                    after = self._issue(after, instruction.flights[at]) if instruction.op == "tma_load" else after
                    continue
                verdict = "race" if bar in self.code.initialised and barrier is None else "error"
                tell(verdict, "mbarrier_must_be_initialised", Trouble(instruction, agent, bar, {}))
                return None
            if instruction.op == "wait":
                after = self._wait(after, instruction, agent, bar, tell)
            elif instruction.op == "tma_load":
                if bar in self.armed_by_loads and barrier.pending_count:
                    armed = barrier.arrive_expect_tx(min(instruction.event.amount, MOST))
                    after = after._replace(bars=put(after.bars, bar, armed))
                after = self._issue(after, instruction.flights[at])
            else:
                after = self._count(after, instruction, agent, bar, tell)
        return after

    def _init(self, state: State, instruction: Instruction, agent: int, bar: int, tell: Tell) -> State | None:
        before, address = state.bars[bar], instruction.event.said.get("address") or 0
        if address % 8:
            numbers = {"value": address, "limit": 8}
            tell("error", "mbarrier_address_align_8", Trouble(instruction, agent, bar, numbers))
            return None
        try:
            made = MBarrier.init(instruction.event.amount)
        except MBarrierError as error:
            tell("error", error.rule, Trouble(instruction, agent, bar, {"value": error.value, "limit": error.limit}))
            return None
        if before is not None:  # a new life begins with an even phase that was not there before
            made = made._replace(phase=(before.phase // 2 + 1) * 2)
        return state._replace(bars=put(state.bars, bar, made))

    def _count(self, state: State, instruction: Instruction, agent: int, bar: int, tell: Tell) -> State | None:
        barrier, amount = state.bars[bar], instruction.event.amount
        assert barrier is not None
        try:
            if instruction.op == "inval":
                made = barrier.inval()
            else:
                made = getattr(barrier, instruction.op)(amount)
        except MBarrierError as error:
            verdict = "race" if error.rule == "arrivals_within_count" else "error"
            tell(verdict, error.rule, Trouble(instruction, agent, bar, {"value": error.value, "limit": error.limit}))
            return None
        return state._replace(bars=put(state.bars, bar, made))

    def _issue(self, state: State, number: int) -> State:
        flight = self.code.flights[number]
        if flight.rides >= 0 and not flight.pieces:
            return state
        left = 0 if flight.pieces is not None else flight.tx_bytes
        if flight.pieces is None and not left:
            return state
        barrier = state.bars[flight.bar]
        made = InFlight(number, left, 0 if barrier is None else barrier.phase)
        return state._replace(flights=tuple(sorted((*state.flights, made))))

    def _wait(self, state: State, instruction: Instruction, agent: int, bar: int, tell: Tell) -> State:
        barrier, slot = state.bars[bar], self.waiters[agent, bar]
        assert barrier is not None
        phase, seen = barrier.phase - 1, state.seen[slot]
        flying = [flight for flight in state.flights if self.code.flights[flight.flight].bar == bar]
        flying = [flight for flight in flying if self.code.flights[flight.flight].event is not None]
        if phase <= seen:
            if flying and self._is_used(state, agent, bar, flying):
                tell("race", "parity_counts_barrier_phases", Trouble(instruction, agent, bar, {"phase": phase + 1}))
        elif early := [flight for flight in flying if flight.phase <= phase]:
            numbers = {"phase": phase, "flights": tuple(flight.flight for flight in early)}
            tell("race", "expect_tx_equals_delivered", Trouble(instruction, agent, bar, numbers))
        return state._replace(seen=put(state.seen, slot, max(phase, seen)))

    def _is_used(self, state: State, agent: int, bar: int, flying: list[InFlight]) -> bool:
        """Whether a wait that passed for an old phase is taken for the loads in flight, and not for a free stage.

        Where the agent reads what the barrier's loads bring, it is when the read comes before its next wait. Where it
        reads nothing that is written down, it is unless the agent issues the barrier's next load itself.
        """
        made = self.code.code[agent]
        ahead = made[state.places[agent] :]
        mine = {i.event.number for i in made if i.op == "tma_load"}
        events = [self.code.flights[each.flight].event for each in flying]
        own = any(event is not None and event.number in mine for event in events)
        filled = {buf for flight in self.code.flights if flight.bar == bar for buf in flight.bufs}
        if any(i.op == "ld_shared" and filled & {*i.bufs} for i in made):
            for instruction in ahead:
                if instruction.op == "wait" and bar in instruction.bars:
                    return False
                if instruction.op == "ld_shared" and filled & {*instruction.bufs}:
                    return True
            return False
        next_on_it = next((i for i in ahead if bar in i.bars), None)
        return own or next_on_it is None or next_on_it.op not in _ARMS

    def _land(self, state: State, choice: Choice, tell: Tell) -> State | None:
        said = self.code.flights[choice.flight]
        at = next(at for at, flight in enumerate(state.flights) if flight.flight == choice.flight)
        flight = state.flights[at]
        left = flight.left + 1 if said.pieces is not None else flight.left - choice.tx_bytes
        # A load whose listed pieces are fewer than its bytes stays in flight for ever.
        listed = sum(piece[0] for piece in said.pieces) if said.pieces is not None else 0
        whole = listed >= said.tx_bytes or said.rides >= 0
        over = left == len(said.pieces) and whole if said.pieces is not None else left == 0
        rest = () if over else (flight._replace(left=left),)
        flights = state.flights[:at] + rest + state.flights[at + 1 :]
        barrier = state.bars[said.bar]
        if barrier is None or not barrier.valid:
            if self.story and said.bar not in self.code.initialised:
                return state._replace(flights=flights)
            verdict = "race" if said.bar in self.code.initialised else "error"
            tell(verdict, "mbarrier_must_be_initialised", Trouble(None, -1, said.bar, {"flights": (choice.flight,)}))
            return None
        try:
            made = barrier.complete_tx(choice.tx_bytes)
        except MBarrierError as error:
            numbers = {"value": error.value, "limit": error.limit, "flights": (choice.flight,)}
            tell("error", error.rule, Trouble(None, -1, said.bar, numbers))
            return None
        return state._replace(flights=flights, bars=put(state.bars, said.bar, made))
