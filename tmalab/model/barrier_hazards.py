"""What can be read, overwritten, announced or looked up too early: accesses that the order of events leaves open.

    load ──lands──▶ wait ──▶ read ──▶ arrive ──▶ wait ──▶ next load          write ──▶ fence ──▶ sync ──▶ store
             each arrow is an order that every run keeps; where one is missing the two accesses race

>>> from tmalab.model.barrier_code import link
>>> from tmalab.model.barrier_events import read_events
>>> from tmalab.model.barrier_machine import Machine
>>> from tmalab.model.barrier_order import run_in_order
>>> said = [{"t": "t0", "op": "st_shared", "buf": "d"}, {"t": "t0", "op": "tma_store", "buf": "d"}]
>>> found, *_ = hazards(run_in_order(Machine(link(read_events(said)))))
>>> found.verdict, found.rule
('race', 'fence_proxy_async_before_tma_read')

The order is the PTX memory model's causality order with its proxies: an ordinary write and a bulk copy see each other
only across a `fence.proxy.async`, a descriptor that was written and a copy only across a `fence.proxy.tensormap`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tmalab.model.barrier_code import Instruction
from tmalab.model.barrier_descriptors import descriptor_hazards, flag_hazards, unread_stores
from tmalab.model.barrier_events import EVERY_THREAD, place_of
from tmalab.model.barrier_init import init_hazards
from tmalab.model.barrier_order import Order
from tmalab.model.barrier_outcome import Finding

_WRITES = ("st_shared", "tma_load")
_READS = ("ld_shared", "tma_store")
# An access that nothing orders meets many others; the latest of them say what is missing.
_MOST_PARTNERS = 4


class Access(NamedTuple):
    """One access to a buffer: it begins at `start` and is over at `end`, which an ordinary one is at once."""

    instruction: Instruction
    agent: int
    start: int
    end: int
    flight: int = -1

    @property
    def op(self) -> str:
        """Its operation."""
        return self.instruction.op

    @property
    def place(self) -> str:
        """Its event, for a message."""
        return place_of(self.instruction.event)


def hazards(order: Order) -> list[Finding]:
    """The races and notes of a run, at most one of each rule for an event."""
    found: dict[tuple[str, str, int | None], Finding] = {}
    groups = (_buffer_hazards, _unfenced_reads, descriptor_hazards, flag_hazards, init_hazards, unread_stores)
    for finding in (finding for group in groups for finding in group(order)):
        found.setdefault((finding.verdict, finding.rule, finding.event), finding)
    return list(found.values())


def accesses(order: Order) -> Iterator[tuple[str, Access]]:
    """Each access to each buffer, in the order of the run."""
    for node, (instruction, agent) in order.where.items():
        if instruction.op == "tma_load":
            for number in instruction.flights:
                flight = order.code.flights[number]
                for buf in flight.bufs if flight.tx_bytes else ():  # no bytes touch nothing
                    yield buf, Access(instruction, agent, node, flight.node, number)
        elif instruction.op in (*_WRITES, *_READS):
            for buf in instruction.bufs:
                yield buf, Access(instruction, agent, node, node + (instruction.op == "tma_store"))


def _buffer_hazards(order: Order) -> Iterator[Finding]:
    writes: dict[str, int] = {}
    reads: dict[str, int] = {}
    known: dict[str, dict[int, Access]] = {}
    ordinary: dict[str, dict[int, Access]] = {}
    fences = [(node, agent) for node, (i, agent) in order.where.items() if i.op == "fence_proxy_async"]
    for buf, then in accesses(order):
        ends = known.setdefault(buf, {})
        earlier = writes.get(buf, 0) | (reads.get(buf, 0) if then.op in _WRITES else 0)
        # What began before in this run and is not over in every run before this begins can meet it.
        rest = earlier & ~order.past[then.start]
        for _ in range(_MOST_PARTNERS):
            if rest:
                end = rest.bit_length() - 1
                rest ^= 1 << end
                yield from _open(order, buf, ends[end], then)
        if then.op in ("tma_load", "tma_store"):
            yield from _proxies(order, ordinary.get(buf, {}), then, fences)
        elif then.op == "st_shared":
            ordinary.setdefault(buf, {})[then.start] = then
        ends[then.end] = then
        into = writes if then.op in _WRITES else reads
        into[buf] = into.get(buf, 0) | 1 << then.end


# --- two accesses that nothing orders ---------------------------------------------------------------------------------


def _open(order: Order, buf: str, first: Access, then: Access) -> Iterator[Finding]:
    """The race of two accesses, the first of which began before in this run."""
    ops = (first.op, then.op)
    if "tma_load" not in ops and "tma_store" not in ops:
        every = all(access.instruction.event.agent == EVERY_THREAD for access in (first, then))
        if ops != ("st_shared", "st_shared") and first.agent != then.agent and not every:
            yield _race("cta_sync_between_threads", f"{then.place} and {first.place} are ordered by nothing",
                        "insert cta_sync between them", then)  # fmt: skip
    elif first.op == "tma_store":
        yield _reused(order, buf, first, then)
    elif first.op == "st_shared" and then.op == "tma_store":
        yield _unfenced_or_unsynced(order, first, then)
    elif "tma_load" in ops and "ld_shared" in ops:
        yield _load_and_read(order, buf, *((first, then) if first.op == "tma_load" else (then, first)))
    elif ops == ("tma_load", "tma_load") and _bar(order, first) == _bar(order, then):
        return  # two parts of one stage, which complete on one barrier
    elif first.op == "tma_load":
        what = "reads" if then.op == "tma_store" else "overwrites"
        message = f"{then.place} {what} {buf} while the bytes of {first.place} may still land in it"
        yield _race("wait_before_read", message, f"wait for {_bar(order, first)} first", then)
    else:
        message = f"{then.place} overwrites {buf} while {first.place} may still write it"
        yield _race(
            "stage_freed_before_refill", message, "let the writer arrive, and wait for it before the load", then
        )


def _bar(order: Order, load: Access) -> str:
    return order.code.bars[order.code.flights[load.flight].bar]


def _load_and_read(order: Order, buf: str, load: Access, read: Access) -> Finding:
    """A read that meets a load: either it does not wait for the bytes, or the load does not wait for the reader."""
    ctas = order.code.ctas
    if order.code.cluster and ctas[load.agent] != ctas[read.agent] and None not in (ctas[load.agent], ctas[read.agent]):
        message = f"{load.place} fills {buf} in another CTA's shared memory while that CTA may still be at {read.place}"
        fix = "count an arrival of every destination CTA on the barrier that frees the buffer, and wait for it"
        return _race("multicast_waits_for_all_destination_ctas", message, fix, load)
    loads = [access for name, access in accesses(order) if name == buf and access.op == "tma_load"]
    reads = [access for name, access in accesses(order) if name == buf and access[:2] and access.op == "ld_shared"]
    reads = [access for access in reads if access.agent == read.agent]
    turn = [access.start for access in loads].index(load.start)
    if turn <= [access.start for access in reads].index(read.start):
        message = f"{read.place} reads {buf} before the bytes of {load.place} must be there"
        fix = f"wait for the phase of {_bar(order, load)} that the load completes, in this agent, before reading"
        return _race("wait_before_read", message, fix, read)
    message = f"{load.place} refills {buf} while {read.place} may still read what was in it"
    fix = "let every reader arrive on a barrier after its last read, and wait for that phase before the load"
    return _race("stage_freed_before_refill", message, fix, load)


def _reused(order: Order, buf: str, store: Access, then: Access) -> Finding:
    """A buffer that is written again while a store may still read it."""
    agent = order.code.agents[store.agent]
    own = [(wait, groups) for wait, of, groups in order.group_waits if of == store.agent]
    waits = [(wait, groups) for wait, groups in own if order.before(wait.node, then.start)]
    message = f"{then.place} overwrites {buf} while {store.place} may still read it"
    if waits:
        wait, groups = waits[-1]
        needed = groups.needed_n(store.start)
        if needed is None:
            why = f"no commit_group follows the store before {place_of(wait.event)}"
            fix = "insert commit_group after the store"
            return _race("bulk_group_must_cover_buffer", f"{message}: {why}", fix, then)
        pending = min(wait.event.amount, len(groups.committed))
        count = f"{pending} group{'s'[: pending != 1]}"
        why = f"wait_group {wait.event.amount} leaves {count} pending, and the store is in one"
        numbers = {"pending_groups": pending, "required_n": needed}
        fix = f"wait_group.read {needed} before it"
        return _race("bulk_group_must_cover_buffer", f"{message}: {why}", fix, then, numbers)
    others = [of for _, of, groups in order.group_waits if of != store.agent and not groups.committed]
    if others:
        message += (
            f": {order.code.agents[others[0]]} waits for groups and has committed none; "
            "a group is known to its own thread alone"
        )
        return _race("bulk_group_must_cover_buffer", message, f"let {agent}, which stores, also wait", then)
    fix = f"let {agent} commit_group and wait_group.read 0, and tell the others by a barrier"
    return _race("bulk_group_must_cover_buffer", f"{message}: nothing waits for it", fix, then)


def _unfenced_or_unsynced(order: Order, write: Access, store: Access) -> Finding:
    """Nothing orders a write before the store: the fence is missing or late, or only the sync is."""
    for instruction, agent in order.where.values():
        own = agent == write.agent and instruction.op == "fence_proxy_async"
        earlier = instruction.event.number < store.instruction.event.number
        if own and earlier and order.before(write.start, instruction.node):
            message = f"{store.place} may read before {write.place} is done: no barrier follows the fence"
            return _race("cta_sync_before_tma_read", message, "insert cta_sync between the fence and the store", store)
    return _unfenced(order, write, store)


# --- two accesses in order, through different proxies -----------------------------------------------------------------


def _proxies(
    order: Order, written: dict[int, Access], then: Access, fences: list[tuple[int, int]]
) -> Iterator[Finding]:
    """Ordinary writes, then a bulk copy of the same bytes: between them a proxy fence must stand.

    `written` are the ordinary writes by node, `fences` the proxy fences as (node, agent).
    """
    past = order.past[then.start]
    fenced: dict[int, int] = {}
    for fence, agent in fences:
        if past >> fence & 1:
            fenced[agent] = fenced.get(agent, 0) | order.past[fence]
    covered = 0
    for by_agent in fenced.values():
        covered |= by_agent
    for node, write in reversed(written.items()):
        if not past >> node & 1 or fenced.get(write.agent, 0) >> node & 1:
            continue
        if not covered >> node & 1:
            yield _unfenced(order, write, then)
            return
        if then.op == "tma_store":
            other = next(order.code.agents[agent] for agent, by in fenced.items() if by >> node & 1)
            message = (
                f"contested: {then.place} is fenced by {other}, not by the writer of {write.place}. PTX asks for a "
                "fence on the way from the write to the copy, which this is; the libraries fence in every "
                "writer, before the barrier"
            )
            fix = "insert fence_proxy_async in every writer, before the barrier, to be on the safe side"
            yield Finding("note", "fence_proxy_async_before_tma_read", message, fix, then.instruction.event.number)


def _unfenced_reads(order: Order) -> Iterator[Finding]:
    """The first load into bytes that were read in the ordinary proxy, ordered after the read, with no proxy fence."""
    reads: dict[str, list[Access]] = {}
    fences = [node for node, (i, _) in order.where.items() if i.op == "fence_proxy_async"]
    for buf, then in accesses(order):
        if then.op == "ld_shared":
            reads.setdefault(buf, []).append(then)
        elif then.op == "tma_load" and buf in reads:
            past, fenced = order.past[then.start], 0
            for fence in fences:
                fenced |= order.past[fence] if past >> fence & 1 else 0
            bare = next((read for read in reads[buf] if (past & ~fenced) >> read.start & 1), None)
            if bare is not None:
                message = (
                    f"{then.place} overwrites what {bare.place} read through the ordinary proxy, with no proxy fence "
                    "between the two. Most pipelines leave it out; PTX's memory model asks for one, and some libraries "
                    "put it before the reader's release"
                )
                fix = "insert fence_proxy_async in the reader, before its release, to be on the safe side"
                yield Finding("note", "fence_proxy_async_before_tma_write", message, fix, then.instruction.event.number)
                return


def _unfenced(order: Order, write: Access, then: Access) -> Finding:
    syncs = [node for node, (instruction, _) in order.where.items() if instruction.op == "cta_sync"]
    synced = any(order.before(node, then.start) for node in syncs)
    where = "cta_sync" if synced else then.op
    rule = "fence_proxy_async_before_tma_read" if then.op == "tma_store" else "fence_proxy_async_before_tma_write"
    wrote = f"what {write.place} wrote through the ordinary proxy"
    early = f"read {wrote} before it" if then.op == "tma_store" else f"write before {wrote}"
    message = f"{then.place} may {early} is visible to the engine: a barrier orders threads, not proxies"
    return _race(rule, message, f"insert fence_proxy_async before {where}, in every writer", then)


def _race(rule: str, message: str, fix: str, at: Access, numbers: dict[str, int] | None = None) -> Finding:
    return Finding("race", rule, message, fix, at.instruction.event.number, numbers or {})
