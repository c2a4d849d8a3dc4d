"""Every interleaving of a barrier program: states seen once each, what is wrong in any of them, how each run can end.

    start ──▶ state ──▶ state ──▶ …        a state that was seen is not searched again; past `budget` states it stops

Besides what the machine tells, one thing shows only over all interleavings: an arrival, an armed byte or a load that
is counted in one phase in one order and in another in the next (`booked`), though somebody waits for that barrier.
"""

from __future__ import annotations

from typing import NamedTuple

from tmalab.model.barrier_machine import Machine
from tmalab.model.barrier_state import Choice, State, Trouble

Path = tuple[Choice, ...]
Booked = dict[tuple[int, int], dict[int, tuple[State, Choice]]]


class Told(NamedTuple):
    """Something wrong: the state before the step in which it shows, and the step."""

    verdict: str
    rule: str
    trouble: Trouble
    state: State | None
    choice: Choice | None


class Search(NamedTuple):
    """What a search found. `stuck` and `ended` are last states, of runs that hang and that complete.

    `booked` says for each node and barrier the phases that it was counted in; `idle` are waits that returned for a
    phase that their agent had waited for before.
    """

    told: tuple[Told, ...]
    stuck: tuple[State, ...]
    ended: tuple[State, ...]
    booked: Booked
    idle: frozenset[int]
    came: dict[State, tuple[State, Choice] | None]
    bounded: bool

    def path(self, state: State) -> Path:
        """The steps that lead to a state."""
        choices: list[Choice] = []
        at = self.came[state]
        while at is not None:
            choices.append(at[1])
            at = self.came[at[0]]
        return tuple(reversed(choices))


def search(machine: Machine, budget: int) -> Search:
    """Search the interleavings, `budget` states at most."""
    told: dict[tuple[str, int, int], Told] = {}
    here: list[tuple[State | None, Choice | None]] = [(None, None)]

    def tell(verdict: str, rule: str, trouble: Trouble) -> None:
        where = trouble.instruction.event.number if trouble.instruction is not None else -1
        told.setdefault((rule, where, trouble.bar), Told(verdict, rule, trouble, *here[0]))

    stuck: list[State] = []
    ended: list[State] = []
    booked: Booked = {}
    idle: set[int] = set()
    begun = machine.begun(tell)
    if begun is None:
        return Search(tuple(told.values()), (), (), booked, frozenset(), {}, False)
    came: dict[State, tuple[State, Choice] | None] = {begun: None}
    pending = [begun]
    while pending:
        if len(came) > budget:
            return Search(tuple(told.values()), tuple(stuck), tuple(ended), booked, frozenset(idle), came, True)
        state = pending.pop()
        choices = machine.choices(state)
        if not choices:
            (ended if machine.done(state) else stuck).append(state)
        for choice in choices:
            here[0] = (state, choice)
            _book(machine, state, choice, booked, idle)
            after = machine.after(state, choice, tell)
            if after is not None and after not in came:
                came[after] = (state, choice)
                pending.append(after)
    return Search(tuple(told.values()), tuple(stuck), tuple(ended), booked, frozenset(idle), came, False)


def _book(machine: Machine, state: State, choice: Choice, booked: Booked, idle: set[int]) -> None:
    if choice.flight >= 0 or len(choice.agents) != 1:
        return
    [agent] = choice.agents
    instruction = machine.code.code[agent][state.places[agent]]
    if instruction.gate >= 0 and state.gates[instruction.gate] > 1:
        return
    if instruction.op in ("init", "inval", "test_wait") or (
        instruction.op == "tma_load" and not instruction.event.amount
    ):
        return
    for bar in instruction.bars:
        barrier = state.bars[bar]
        if barrier is not None:
            phase = barrier.phase - (instruction.op == "wait")
            if instruction.op == "wait" and phase <= state.seen[machine.waiters[agent, bar]]:
                idle.add(instruction.node)
            booked.setdefault((instruction.node, bar), {}).setdefault(phase, (state, choice))
