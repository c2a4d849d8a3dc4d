"""One run of a barrier program told step by step, and what each phase of each barrier was given on the way.

    p   arrive_expect_tx full 4096    pending 1 → 0, 0 → 4096 bytes to come
    hw  complete_tx full 4096         4096 → 0 bytes to come: phase 0 is complete

>>> from tmalab.model.barrier_code import link
>>> from tmalab.model.barrier_events import read_events
>>> from tmalab.model.barrier_machine import Machine
>>> machine = Machine(link(read_events([{"t": "w", "op": "wait", "bar": "b", "parity": 1},
...                                     {"t": "init", "op": "init", "bar": "b", "count": 1}])))
>>> [step.text for step in replay(machine, machine.choices(machine.begun(print))).steps]
['count 1: phase 0 begins', 'returns: phase 0 goes on, and the one before it counts as complete']
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tmalab.model.barrier_code import SYNCS, Instruction
from tmalab.model.barrier_events import ENGINE
from tmalab.model.barrier_machine import Machine
from tmalab.model.barrier_outcome import Step
from tmalab.model.barrier_state import Choice, State, Trouble
from tmalab.model.mbarrier import BarrierCounts, MBarrier


class Given(NamedTuple):
    """What one phase of one barrier was given: arrivals, armed, landed and issued bytes, and who issued loads to it."""

    arrived: int = 0
    armed_bytes: int = 0
    landed_bytes: int = 0
    issued_bytes: int = 0
    issuers: tuple[int, ...] = ()


class Replay(NamedTuple):
    """The steps of a run, what each (barrier, phase) was given, and the last state."""

    steps: tuple[Step, ...]
    given: dict[tuple[int, int], Given]
    state: State | None

    def of(self, bar: int, phase: int) -> Given:
        """What that phase was given."""
        return self.given.get((bar, phase), Given())


def replay(machine: Machine, choices: Iterable[Choice]) -> Replay:
    """Run these steps again and tell them."""
    code = machine.code
    steps: list[Step] = []
    given: dict[tuple[int, int], Given] = {}
    state = machine.begun(_nobody)
    for instruction in code.first:
        for bar in instruction.bars or (-1,):
            made = state.bars[bar].counts if state is not None and bar >= 0 and state.bars[bar] is not None else None  # type: ignore[union-attr]
            name = code.bars[bar] if bar >= 0 else None
            text = (
                f"count {instruction.event.amount}: phase 0 begins"
                if instruction.op == "init"
                else _text(instruction, None, None)
            )
            steps.append(
                Step(instruction.event.agent, instruction.event.number, instruction.op, name, text, None, made)
            )
    for choice in choices:
        if state is None:
            break
        after = machine.after(state, choice, _nobody)
        if choice.flight >= 0:
            steps.append(_landing(machine, state, after, choice))
            _give(given, state, code.flights[choice.flight].bar, landed_bytes=choice.tx_bytes)
        for agent in choice.agents:
            instruction = code.code[agent][state.places[agent]]
            waits = instruction.gate >= 0 and state.gates[instruction.gate] > 1
            if waits:
                continue
            _count(given, state, instruction, agent)
            for bar in instruction.bars or (-1,):
                before = _counts(state, bar)
                then = _counts(after, bar)
                name = code.bars[bar] if bar >= 0 else None
                agent_name = instruction.event.agent if instruction.gate >= 0 else code.agents[agent]
                text = _text(instruction, before, then)
                steps.append(Step(agent_name, instruction.event.number, instruction.op, name, text, before, then))
        state = after
    return Replay(tuple(steps), given, state)


def _nobody(verdict: str, rule: str, trouble: Trouble) -> None:
    """What is wrong was told when the run was found."""


def _counts(state: State | None, bar: int) -> BarrierCounts | None:
    barrier: MBarrier | None = state.bars[bar] if state is not None and bar >= 0 else None
    return None if barrier is None else barrier.counts


def _give(given: dict[tuple[int, int], Given], state: State, bar: int, **more: int) -> None:
    barrier = state.bars[bar]
    if barrier is not None:
        found = given.get((bar, barrier.phase), Given())
        added = {name: getattr(found, name) + value for name, value in more.items()}
        given[bar, barrier.phase] = found._replace(**added)


def _count(given: dict[tuple[int, int], Given], state: State, instruction: Instruction, agent: int) -> None:
    op, amount = instruction.op, instruction.event.amount
    for bar in instruction.bars:
        if op in ("arrive", "arrive_drop"):
            _give(given, state, bar, arrived=amount)
        elif op == "arrive_expect_tx":
            _give(given, state, bar, arrived=1, armed_bytes=amount)
        elif op == "expect_tx":
            _give(given, state, bar, armed_bytes=amount)
        elif op == "complete_tx":
            _give(given, state, bar, landed_bytes=amount)
        elif op == "tma_load":
            _give(given, state, bar, issued_bytes=amount)
            barrier = state.bars[bar]
            if barrier is not None:
                found = given[bar, barrier.phase]
                given[bar, barrier.phase] = found._replace(issuers=(*found.issuers, agent))


def _landing(machine: Machine, state: State, after: State | None, choice: Choice) -> Step:
    flight = machine.code.flights[choice.flight]
    left = next(each.left for each in state.flights if each.flight == choice.flight)
    event = flight.pieces[left][1] if flight.pieces is not None else None
    before, then = _counts(state, flight.bar), _counts(after, flight.bar)
    moved = _moved(before, then)
    part = f"{choice.tx_bytes} bytes land" + (f": {moved}" if moved else "")
    return Step(ENGINE, event, "complete_tx", machine.code.bars[flight.bar], part, before, then)


def _text(instruction: Instruction, before: BarrierCounts | None, then: BarrierCounts | None) -> str:
    op, event = instruction.op, instruction.event
    if op == "wait":
        if before is None:
            return "returns"
        if before.phase == 0:
            return "returns: phase 0 goes on, and the one before it counts as complete"
        return f"returns: phase {before.phase - 1} is complete"
    if op == "test_wait":
        return "asks, and does not wait"
    if op == "init":
        return f"count {event.amount}: a phase of parity 0 begins"
    if op == "tma_load":
        into = f" into {event.buf}" if event.buf else ""
        return f"{event.amount} bytes are on their way{into}"
    if op in SYNCS:
        return "meets the others"
    if instruction.bars:
        return _moved(before, then)
    what = event.buf or event.desc or event.said.get("flag") or ""
    if op == "wait_group":
        what = f"{event.amount}{', sources only' if event.read else ''}"
    return f"{op} {what}".strip()


def _moved(before: BarrierCounts | None, then: BarrierCounts | None) -> str:
    if before is None or then is None:
        return ""
    if then.phase > before.phase:
        return f"phase {before.phase} is complete"
    return f"{then.pending_count} arrivals and {then.tx_count} bytes to come"
