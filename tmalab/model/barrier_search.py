"""The interleavings of a barrier program: what is wrong in any of them, and how each can end.

    search    start ──▶ state ──▶ state ──▶ …     a state that was seen is not searched again; past `budget` it stops
    delayed   one run a step that the order leaves open, with that step put off as long as anything else can go on

Besides what the machine tells, one thing shows only over several interleavings: an arrival, an armed byte or a load
that is counted in one phase in one order and in another in the next (`booked`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tmalab.model.barrier_machine import Machine
from tmalab.model.barrier_state import Choice, State, Trouble

Path = tuple[Choice, ...]
Turn = Callable[[State, Choice], tuple[int, int]]
# How many runs that hang are kept to be explained, and how many steps are put off in turn.
_MOST_STUCK = 12
_MOST_DELAYS = 24


class Seen:
    """What was found. `told` are (verdict, rule, trouble, run up to and with that step); `stuck`, `ended` are runs.

    `booked` says for each (node, barrier) the phases that it was counted in; `idle` are waits that returned for a phase
    that their agent had waited for before. `stopped` says where the search was cut short, if it was.
    """

    def __init__(self) -> None:
        self.told: dict[tuple[str, int, int], tuple[str, str, Trouble, Path]] = {}
        self.stuck: list[Path] = []
        self.ended: list[Path] = []
        self.booked: dict[tuple[int, int], set[int]] = {}
        self.idle: set[int] = set()
        self.states = 0
        self.stopped: str | None = None

    def tell(self, verdict: str, rule: str, trouble: Trouble, path: Callable[[], Path]) -> None:
        """Keep the first of each rule, event and barrier."""
        where = trouble.instruction.event.number if trouble.instruction is not None else -1
        if (rule, where, trouble.bar) not in self.told:
            self.told[rule, where, trouble.bar] = (verdict, rule, trouble, path())

    def book(self, machine: Machine, state: State, choice: Choice) -> None:
        """Note in which phase a step counts."""
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
                    self.idle.add(instruction.node)
                self.booked.setdefault((instruction.node, bar), set()).add(phase)


def search(machine: Machine, budget: int) -> Seen:
    """Search every interleaving, `budget` states at most."""
    seen = Seen()
    came: dict[State, tuple[State, Choice] | None] = {}
    here: list[tuple[State, Choice]] = []

    def path(state: State) -> Path:
        choices: list[Choice] = []
        at = came[state]
        while at is not None:
            choices.append(at[1])
            at = came[at[0]]
        return tuple(reversed(choices))

    def tell(verdict: str, rule: str, trouble: Trouble) -> None:
        seen.tell(verdict, rule, trouble, lambda: (*path(here[0][0]), here[0][1]) if here else ())

    begun = machine.begun(tell)
    if begun is None:
        return seen
    came[begun] = None
    pending = [begun]
    while pending and len(came) <= budget:
        state = pending.pop()
        choices = machine.choices(state)
        if not choices:
            runs = seen.ended if machine.done(state) else seen.stuck
            if len(runs) < _MOST_STUCK:
                runs.append(path(state))
        for choice in choices:
            here[:] = [(state, choice)]
            seen.book(machine, state, choice)
            after = machine.after(state, choice, tell)
            if after is not None and after not in came:
                came[after] = (state, choice)
                pending.append(after)
    seen.states = len(came)
    if pending:
        furthest = max(sum(state.places) for state in came)
        whole = sum(map(len, machine.code.code))
        seen.stopped = (
            f"the search stopped after {len(came)} states, of which the furthest is {furthest} of {whole} steps"
        )
    return seen


def delayed(
    machine: Machine, nodes: Iterable[int], turn: Callable[[State, Choice], tuple[int, int]], seen: Seen
) -> None:
    """Add to `seen` one run for each of the nodes, in which it is put off while anything else can go on.

    The other steps go in the order of `turn`, as in the run whose order was read off.
    """
    for node in (-1, *list(nodes)[:_MOST_DELAYS]):
        _run_without(machine, node, turn, seen)


def _run_without(machine: Machine, node: int, turn: Turn, seen: Seen) -> None:
    made: list[Choice] = []

    def tell(verdict: str, rule: str, trouble: Trouble) -> None:
        seen.tell(verdict, rule, trouble, lambda: tuple(made))

    state = machine.begun(tell)
    while state is not None:
        choices = machine.choices(state, all_of_them=False)
        if not choices:
            runs = seen.ended if machine.done(state) else seen.stuck
            runs.append(tuple(made))
            return
        others = [choice for choice in choices if not _does(machine, state, choice, node)]
        choice = min((turn(state, choice), choice) for choice in others or choices)[1]
        seen.book(machine, state, choice)
        made.append(choice)
        state = machine.after(state, choice, tell)


def _does(machine: Machine, state: State, choice: Choice, node: int) -> bool:
    """Whether the step is that node's: of the agent that is at it, or of the engine that lands it."""
    if choice.flight >= 0:
        return machine.code.flights[choice.flight].node == node
    return any(machine.code.code[agent][state.places[agent]].node == node for agent in choice.agents)
