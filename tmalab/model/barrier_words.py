"""Why a run hangs, or what it does too early, in words and with the numbers that decide it.

    pending 0, 2048 bytes to come   ──▶   armed for 4096 bytes, 2048 arrived; 2048 are missing

>>> amounts(4096, 2048)
'armed for 4096 bytes, 2048 arrived; 2048 are missing'
>>> amounts(2048, 4096)
'armed for 2048 bytes, 4096 arrived; 2048 are too many'
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tmalab.model.barrier_code import SYNCS, Instruction, cta_of_name
from tmalab.model.barrier_events import place_of
from tmalab.model.barrier_machine import Machine
from tmalab.model.barrier_outcome import Finding
from tmalab.model.barrier_state import State, Trouble
from tmalab.model.barrier_trace import Replay
from tmalab.model.mbarrier import MOST, BarrierCounts, MBarrier

_PARITY = "wait for parity k % 2 in the barrier's k-th phase, counted from 0; of a ring of n barriers k is turn // n"


def amounts(armed: int, arrived: int) -> str:
    """*armed for 4096 bytes, 2048 arrived; 2048 are missing*."""
    if armed == arrived:
        return f"armed for {armed} bytes, all arrived"
    what, count = ("missing", armed - arrived) if arrived < armed else ("too many", arrived - armed)
    return f"armed for {armed} bytes, {arrived} arrived; {count} {'is' if count == 1 else 'are'} {what}"


def counts_of(machine: Machine, state: State | None) -> dict[str, BarrierCounts]:
    """Every barrier's counts in a state."""
    if state is None:
        return {}
    pairs = zip(machine.code.bars, state.bars, strict=True)
    return {name: barrier.counts for name, barrier in pairs if barrier is not None}


# --- a hang -----------------------------------------------------------------------------------------------------------


def blocked_in(machine: Machine, state: State) -> dict[int, Instruction]:
    """The instruction in which each agent that has not come to its end waits."""
    pairs = enumerate(zip(state.places, machine.code.code, strict=True))
    return {agent: made[place] for agent, (place, made) in pairs if place < len(made)}


def hang_findings(machine: Machine, replay: Replay) -> Iterator[Finding]:
    """Why the last state of a run is stuck: a finding for each wait that no other stuck agent could still help."""
    state = replay.state
    assert state is not None
    blocked = blocked_in(machine, state)
    waits = {agent: i for agent, i in blocked.items() if i.op == "wait"}
    roots = {agent: i for agent, i in waits.items() if not _can_be_helped(machine, state, blocked, agent, i)}
    counts = counts_of(machine, state)
    met = not roots and any(i.op in SYNCS for i in blocked.values())
    for agent, instruction in ({} if met else roots or waits).items():
        finding = _blocked(machine, replay, agent, instruction)._replace(counts=counts)
        if len(waits) > 1 and not roots:
            after = " and ".join(place_of(i.event) for other, i in waits.items() if other != agent)
            message = f"{finding.message}; what would help comes after {after}, which hangs too: they wait in a circle"
            fix = "arrive before waiting, or wait for parity 1 of a fresh barrier where nothing has to come first"
            finding = finding._replace(message=message, fix=fix)
            yield from _fresh(machine, state, instruction)
        yield finding
    for agent, instruction in blocked.items() if met else ():
        if instruction.op in SYNCS:
            others = [place_of(i.event) for other, i in blocked.items() if other != agent]
            message = f"{place_of(instruction.event)} waits for threads that are at {', '.join(others) or 'their end'}"
            fix = "let every thread come to every sync, in the same order; where only some shall meet, use an mbarrier"
            yield Finding("hang", "every_thread_meets_the_sync", message, fix, instruction.event.number, {}, counts)


def _fresh(machine: Machine, state: State, instruction: Instruction) -> Iterator[Finding]:
    """A wait for the first phase of a barrier that is as it was initialised, by one who should find it free."""
    [bar] = instruction.bars
    barrier = state.bars[bar]
    fresh = barrier is not None and barrier.phase == 0 and barrier.pending_count == barrier.expected_count
    if fresh and barrier is not None and not barrier.tx_count:
        message = (
            f"{place_of(instruction.event)} waits for the first phase of a fresh barrier; the phase before it, of "
            "parity 1, counts as complete: who shall find a stage empty waits for parity 1 first"
        )
        yield Finding("note", "fresh_barrier_parity", message, "", instruction.event.number)


def _can_be_helped(
    machine: Machine, state: State, blocked: dict[int, Instruction], agent: int, instruction: Instruction
) -> bool:
    """Whether another agent that is stuck would still do something to the barrier of this wait."""
    [bar] = instruction.bars
    for other in blocked:
        ahead = machine.code.code[other][state.places[other] :]
        if other != agent and any(bar in i.bars and i.op not in ("wait", "test_wait") for i in ahead):
            return True
    return False


def _blocked(machine: Machine, replay: Replay, agent: int, instruction: Instruction) -> Finding:
    [bar] = instruction.bars
    state, name, event = replay.state, machine.code.bars[bar], instruction.event
    assert state is not None
    barrier = state.bars[bar]
    assert barrier is not None
    given, phase = replay.of(bar, barrier.phase), barrier.phase
    seen = state.seen[machine.waiters[agent, bar]]
    cta = cta_of_name(name)
    numbers: dict[str, Any] = {"hanging": machine.code.agents[agent] if cta is None else f"cta{cta}"}
    untouched = barrier.pending_count == barrier.expected_count and barrier.tx_count == 0
    start = f"{place_of(event)} never returns: {name}"
    if untouched and phase and seen < phase - 1:
        message = (
            f"{start} is in its phase {phase}, of parity {phase & 1}, which nothing completes; the phase that has "
            f"completed is {phase - 1}, of parity {phase - 1 & 1}"
        )
        return Finding("hang", "parity_counts_barrier_phases", message, _PARITY, event.number, numbers)
    if barrier.pending_count:
        return _arrivals_missing(machine, replay, agent, instruction, barrier, start, numbers)
    numbers |= {"expected": given.armed_bytes, "delivered": given.landed_bytes, "pending": barrier.tx_count}
    rule = "expect_tx_equals_delivered"
    if barrier.tx_count < 0 and _from_another_cta(machine, given.issuers, cta):
        rule = "multicast_signals_every_destination_barrier"
    missing = (
        "the phase never completes" if barrier.tx_count > 0 else "the count passed zero, and the phase never completes"
    )
    message = f"{start} is {amounts(given.armed_bytes, given.landed_bytes)}, so {missing}"
    fix = f"arm for the {given.landed_bytes} bytes that arrive"
    if barrier.tx_count > 0:
        fix = (
            "issue the load that it is armed for"
            if not given.issued_bytes
            else f"{fix}, or issue the loads that bring the rest"
        )
    return Finding("hang", rule, message, fix, event.number, numbers)


def _arrivals_missing(
    machine: Machine, replay: Replay, agent: int, instruction: Instruction, barrier: MBarrier, start: str,
    numbers: dict[str, Any],
) -> Finding:  # fmt: skip
    [bar] = instruction.bars
    given, event, name = replay.of(bar, barrier.phase), instruction.event, machine.code.bars[bar]
    pending = barrier.pending_count
    numbers |= {"pending_arrivals": pending, "arrived": given.arrived, "expected_arrivals": barrier.expected_count}
    message = (
        f"{start} counts {barrier.expected_count} arrival{'s'[: barrier.expected_count != 1]} a phase, {given.arrived} "
        f"came; {pending} {'is' if pending == 1 else 'are'} pending"
    )
    if barrier.tx_count or given.armed_bytes or given.landed_bytes:
        numbers |= {"expected": given.armed_bytes, "delivered": given.landed_bytes, "pending": barrier.tx_count}
        message += f", and it is {amounts(given.armed_bytes, given.landed_bytes)}"
    if _from_another_cta(machine, given.issuers, cta_of_name(name)) and given.armed_bytes < given.issued_bytes:
        fix = "let every destination CTA arm its own barrier, by arrive_expect_tx, for all that is sent to it"
        return Finding("hang", "multicast_signals_every_destination_barrier", message, fix, event.number, numbers)
    alone = _filled_for_nobody(machine, replay, agent)
    if alone is not None:
        message += f"; the phase of {machine.code.bars[alone]} that was filled for it is waited for by nobody"
        fix = "let every role go through the same turns: whoever fills a stage and whoever empties it skip alike"
        return Finding("hang", "roles_must_agree_on_trip_count", message, fix, event.number, numbers)
    arrivals = barrier.expected_count - pending
    fix = f"let {pending} more arrive in each phase" + (f", or init it with count {arrivals}" if arrivals else "")
    return Finding("hang", "every_counted_arriver_must_arrive", message, fix, event.number, numbers)


def _from_another_cta(machine: Machine, issuers: tuple[int, ...], cta: int | None) -> bool:
    return cta is not None and any(machine.code.ctas[agent] not in (cta, None) for agent in issuers if agent >= 0)


def _filled_for_nobody(machine: Machine, replay: Replay, agent: int) -> int | None:
    """A barrier that this agent's loads complete more often than any other agent waits for it."""
    state = replay.state
    assert state is not None
    mine = {bar for i in machine.code.code[agent] if i.op == "tma_load" for bar in i.bars}
    for bar in sorted(mine):
        barrier = state.bars[bar]
        latest = [state.seen[slot] for (other, of), slot in machine.waiters.items() if of == bar and other != agent]
        if barrier is not None and barrier.phase - 1 > max(latest, default=-1):
            return bar
    return None


# --- what a step does too early ---------------------------------------------------------------------------------------


def told_finding(machine: Machine, verdict: str, rule: str, trouble: Trouble, replay: Replay) -> Finding:
    """What the machine told of a step, in words. `replay` is the run to the state before it."""
    instruction, name = trouble.instruction, machine.code.bars[trouble.bar]
    event = instruction.event.number if instruction is not None else _load_event(machine, trouble)
    place = place_of(machine.code.events[event]) if event is not None else "the engine"
    numbers = {key: value for key, value in trouble.numbers.items() if key in ("value", "limit")}
    counts = counts_of(machine, replay.state)
    if rule == "parity_counts_barrier_phases":
        phase = trouble.numbers["phase"]
        message = (
            f"{place} returns at once: {name} is in its phase {phase}, whose bytes are still in flight, and the phase "
            f"before it, of this parity, {'is complete' if phase else 'counts as complete on a fresh barrier'}"
        )
        numbers["first_bad_iteration"] = _turn(machine, trouble)
        return Finding(verdict, rule, message, _PARITY, event, numbers, counts)
    if rule == "expect_tx_equals_delivered":
        return _early(machine, verdict, trouble, replay, place)._replace(event=event, counts=counts)
    if rule == "arrivals_within_count":
        barrier = counts[name]
        message = (
            f"{place} arrives at {name} where none of its {barrier.expected_count} arrivals is pending: the phase "
            f"has not completed, {barrier.tx_count} bytes of it are still to come. On an H200 such an arrival ends the "
            "kernel with CUDA_ERROR_LAUNCH_FAILED"
        )
        fix = "wait for the phase before arming the barrier again, or count this arrival in its init"
    elif rule == "mbarrier_must_be_initialised" and verdict == "race":
        away = cta_of_name(name)
        remote = away is not None and trouble.agent >= 0 and machine.code.ctas[trouble.agent] not in (away, None)
        rule = "mbarrier_init_cluster_visibility" if remote else "mbarrier_init_visibility"
        message = f"{place} may come before {name} is initialised"
        fix = f"insert a {'cluster_' if remote else ''}sync between the init and the first use by another thread"
    elif rule == "mbarrier_must_be_initialised":
        never = trouble.bar not in machine.code.initialised
        message = f"{place} uses {name}, " + ("which is never initialised" if never else "which was made invalid")
        fix = f"init {name} with the count of its arrivals, and publish it, before the first use"
    elif rule == "mbarrier_address_align_8":
        message = f"{place}: {name} lies at {numbers['value']}, which is no multiple of 8"
        fix = "align the barriers: alignas(8) unsigned long long"
    elif rule == "tx_count_range":
        message, fix = (
            f"{place} would count {numbers['value']} bytes on {name}; it holds {MOST}",
            "split it over several phases",
        )
    else:
        message = f"{place}: {name} cannot count {numbers['value']} arrivals; it counts 1 to {numbers['limit']}"
        fix = "count the threads that arrive in one phase"
    return Finding(verdict, rule, message, fix, event, numbers, counts)


def _early(machine: Machine, verdict: str, trouble: Trouble, replay: Replay, place: str) -> Finding:
    """A wait that returned while bytes of loads of that phase were still to land."""
    name, phase = machine.code.bars[trouble.bar], trouble.numbers["phase"]
    given = replay.of(trouble.bar, phase)
    delivered = given.issued_bytes
    numbers = {"expected": given.armed_bytes, "delivered": delivered}
    rule = "expect_tx_equals_delivered"
    if _from_another_cta(machine, given.issuers, cta_of_name(name)):
        rule = "multicast_signals_every_destination_barrier"
    message = (
        f"{place} may return too early: phase {phase} of {name} is armed for {given.armed_bytes} bytes and "
        f"{delivered} are on their way to it, so it completes when the first {given.armed_bytes} are there, and the "
        "rest counts against the next phase"
    )
    fix = f"arm for all {delivered} bytes before the phase's last arrival"
    return Finding(verdict, rule, message, fix, None, numbers)


def _load_event(machine: Machine, trouble: Trouble) -> int | None:
    for number in trouble.numbers.get("flights", ()):
        flight = machine.code.flights[number]
        return flight.event.number if flight.event is not None else flight.pieces[0][1] if flight.pieces else None
    return None


def _turn(machine: Machine, trouble: Trouble) -> int:
    """Which of its agent's waits for this barrier it is, from 0."""
    waits = [i for i in machine.code.code[trouble.agent] if i.op == "wait" and trouble.bar in i.bars]
    return waits.index(trouble.instruction) if trouble.instruction in waits else 0


def loose_finding(machine: Machine, instruction: Instruction, bar: int, phases: list[int]) -> Finding:
    """An operation that is counted in one phase in one interleaving and in another in the next."""
    name, event = machine.code.bars[bar], instruction.event
    said = " or ".join(map(str, sorted(phases)))
    if instruction.op == "wait":
        rule, message, fix = (
            "parity_counts_barrier_phases",
            f"{place_of(event)} may return for phase {said} of {name}",
            _PARITY,
        )
    elif instruction.op in ("tma_load", "expect_tx", "arrive_expect_tx"):
        rule = "bytes_belong_to_one_phase"
        message = f"{place_of(event)} may count in phase {said} of {name}, as it falls out"
        fix = "expect all bytes of a phase before its last arrival, and wait for the phase before the next one's loads"
    else:
        rule = "arrival_belongs_to_one_phase"
        message = f"{place_of(event)} may count in phase {said} of {name}, as it falls out"
        fix = (
            "init it with every arrival of a phase, and let nobody arrive for the next one before this one is complete"
        )
    return Finding("race", rule, message, fix, event.number)
