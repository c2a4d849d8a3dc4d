"""Is a barrier there when it is used, and still there? Its init, the fence and the sync after it, and the block's end.

    init ──▶ fence_mbarrier_init ──▶ cta_sync (a cluster: cluster_sync) ──▶ arm, load, wait … ──▶ cluster_sync ──▶ exit

>>> from tmalab.model.barrier_code import link
>>> from tmalab.model.barrier_events import read_events
>>> from tmalab.model.barrier_machine import Machine
>>> from tmalab.model.barrier_order import run_in_order
>>> said = [{"t": "t0", "op": "init", "bar": "b", "count": 1}, {"t": "t0", "op": "tma_load", "bar": "b", "bytes": 64}]
>>> [found] = init_hazards(run_in_order(Machine(link(read_events(said)))))
>>> found.verdict, found.rule
('race', 'mbarrier_init_visibility')

Source: PTX ISA, *fence.mbarrier_init*, *mbarrier.init*, and the async proxy; *Cooperative Thread Arrays* for the exit.
"""

from __future__ import annotations

from collections.abc import Iterator

from tmalab.model.barrier_code import Instruction, cta_of_name
from tmalab.model.barrier_events import place_of
from tmalab.model.barrier_order import Order
from tmalab.model.barrier_outcome import Finding


def init_hazards(order: Order) -> Iterator[Finding]:
    """The races of a run between barriers' beginnings and ends and their uses, and what is worth saying of them."""
    inits: dict[int, list[tuple[int, Instruction, int]]] = {}
    uses: dict[int, list[tuple[int, Instruction, int]]] = {}
    for node, (instruction, agent) in order.where.items():
        for bar in instruction.bars:
            into = inits if instruction.op == "init" else uses
            into.setdefault(bar, []).append((node, instruction, agent))
    between = [
        (node, i.op, agent) for node, (i, agent) in order.where.items()
        if i.op in ("fence_mbarrier_init", "fence_proxy_async", "cluster_sync")
    ]  # fmt: skip
    for bar, made in inits.items():
        yield from _twice(order, bar, made, uses.get(bar, []))
        node, init, agent = made[-1]
        if agent >= 0:  # by agent `init` it is published already
            for use in uses.get(bar, []):
                if len(made) == 1 or order.before(node, use[0]):
                    yield from _use(order, bar, (node, init, agent), use, between)
    yield from _exits(order)


def _twice(
    order: Order, bar: int, made: list[tuple[int, Instruction, int]], used: list[tuple[int, Instruction, int]]
) -> Iterator[Finding]:
    """A second init while the barrier may be in use resets it under those who use it; after its use, inval is due."""
    for at, (node, init, _) in enumerate(made[1:], 1):
        earlier = [entry for entry in (*made[:at], *used) if not order.before(entry[0], node) and entry[0] != node]
        earlier = [entry for entry in earlier if not order.before(node, entry[0])]
        if earlier:
            message = (
                f"{place_of(init.event)} initialises {order.code.bars[bar]} a second time, "
                f"and {place_of(earlier[0][1].event)} may come before or after it"
            )
            fix = "let one thread of the block initialise it, once, before a sync"
            yield Finding("race", "mbarrier_initialised_once", message, fix, init.event.number)
        elif not any(
            i.op == "inval" and order.before(made[at - 1][0], use) and order.before(use, node) for use, i, _ in used
        ):
            message = (
                f"{place_of(init.event)} initialises {order.code.bars[bar]} a second time, and no inval stands before "
                "it: PTX leaves undefined what becomes of it"
            )
            yield Finding("note", "mbarrier_initialised_once", message, "insert inval before it", init.event.number)


def _use(
    order: Order, bar: int, made: tuple[int, Instruction, int], use: tuple[int, Instruction, int],
    steps: list[tuple[int, str, int]],
) -> Iterator[Finding]:  # fmt: skip
    (init, made_by, agent), (node, instruction, user) = made, use
    name, event = order.code.bars[bar], instruction.event
    away, ctas = cta_of_name(name), order.code.ctas
    remote = away is not None and user >= 0 and ctas[user] not in (away, None)
    if not remote and not order.reached.get(node, order.past[node]) >> init & 1:
        message = f"{place_of(event)} may come before {place_of(made_by.event)}: nothing orders them"
        fix = "insert a sync between the init and the first use by another thread"
        yield Finding("race", "mbarrier_init_visibility", message, fix, event.number)
        return
    between = [(op, by) for at, op, by in steps if order.before(init, at) and order.before(at, node)]
    fenced = ("fence_mbarrier_init", agent) in between or any(op == "fence_proxy_async" for op, _ in between)
    if remote:
        synced = any(op == "cluster_sync" for op, _ in between)
        if not synced:
            message = f"{place_of(event)} uses a barrier of CTA {away}, which that CTA may not have initialised yet"
            fix = "init, fence_mbarrier_init, cluster_sync, then the first use by another CTA; cta_sync is one block's"
            yield Finding("race", "mbarrier_init_cluster_visibility", message, fix, event.number)
            return
        if fenced:
            message = f"{name} is initialised, fenced and met by cluster_sync before {place_of(event)}, as it must be"
            yield Finding("note", "mbarrier_init_cluster_visibility", message, "", event.number)
            return
    if instruction.op == "tma_load" and not fenced:
        message = f"{place_of(event)}: the engine may not see {name} as {place_of(made_by.event)} left it"
        fix = "insert fence_mbarrier_init after the init, in the same thread, and a sync before others use it"
        yield Finding("race", "mbarrier_init_visibility", message, fix, event.number)


def _exits(order: Order) -> Iterator[Finding]:
    """A block that ends while bytes or arrivals of others are on their way into its shared memory."""
    code = order.code
    ctas = sorted({cta for cta in code.ctas if cta is not None}) if code.cluster else [None]
    for cta in ctas:
        members = [agent for agent, of in enumerate(code.ctas) if cta is None or of in (cta, None)]
        gone = {agent: node for node, (i, agent) in order.where.items() if i.op == "exit" and agent in members}
        if not members or set(gone) != set(members):
            continue
        known = 0
        for node in gone.values():
            known |= order.past[node]
        at = min(order.where[node][0].event.number for node in gone.values())
        for node, instruction in _reaching(order, cta, members):
            if not known >> node & 1:
                whose = "its block" if cta is None else f"CTA {cta}"
                message = f"{whose} may end while {place_of(instruction.event)} still reaches its shared memory"
                fix = "wait for every copy, and meet in a cluster_sync, before the block ends"
                yield Finding("race", "exit_before_peer_is_done", message, fix, at)


def _reaching(order: Order, cta: int | None, members: list[int]) -> Iterator[tuple[int, Instruction]]:
    """The nodes at which an operation is done with the block's shared memory."""
    for node, (instruction, agent) in order.where.items():
        for number in instruction.flights:
            flight = order.code.flights[number]
            into = cta_of_name(order.code.bars[flight.bar])
            if flight.tx_bytes and (cta is None or into == cta or (into is None and agent in members)):
                yield flight.node, instruction
        if instruction.op == "tma_store" and agent in members:
            yield node + 1, instruction
        arrives = instruction.op in ("arrive", "arrive_expect_tx", "expect_tx", "arrive_drop")
        remote = cta is not None and agent >= 0 and agent not in members
        if arrives and remote and any(cta_of_name(order.code.bars[bar]) == cta for bar in instruction.bars):
            yield node, instruction
