"""Is the descriptor the one that was written, and the data there when a flag tells of it? What lies in global memory.

    write descriptor ──▶ fence.proxy.tensormap ──▶ copy ──is done──▶ next write        store ──▶ wait_group ──▶ flag

>>> from tmalab.model.barrier_code import link
>>> from tmalab.model.barrier_events import read_events
>>> from tmalab.model.barrier_machine import Machine
>>> from tmalab.model.barrier_order import run_in_order
>>> said = [{"t": "t0", "op": "tma_store", "buf": "d"}, {"t": "t0", "op": "st_global_flag"}]
>>> [found.rule for found in flag_hazards(run_in_order(Machine(link(read_events(said)))))]
['global_data_before_flag']

Source: PTX ISA, *fence.proxy.tensormap*, *tensormap.replace*, *cp.async.bulk.wait_group*.
"""

from __future__ import annotations

from collections.abc import Iterator

from tmalab.model.barrier_code import Instruction
from tmalab.model.barrier_events import place_of
from tmalab.model.barrier_order import Order
from tmalab.model.barrier_outcome import Finding


def descriptor_hazards(order: Order) -> Iterator[Finding]:
    """Descriptors that are written under a copy, or used before the write is acquired."""
    written: dict[str, list[int]] = {}
    used: dict[str, list[tuple[int, Instruction]]] = {}
    fences = [(node, i.event.desc) for node, (i, _) in order.where.items() if i.op == "fence_tensormap_acquire"]
    for node, (instruction, _) in order.where.items():
        desc, event = instruction.event.desc, instruction.event
        if desc is None or instruction.op == "fence_tensormap_acquire":
            continue
        if instruction.op in ("memcpy_desc", "tensormap_replace"):
            for end, use in used.get(desc, ()):
                if not order.before(end, node):
                    message = f"{place_of(event)} writes the descriptor while {place_of(use.event)} may still use it"
                    fix = "wait for the copies that use it first, or alternate between two descriptors"
                    yield Finding("race", "descriptor_not_modified_in_flight", message, fix, event.number)
            written.setdefault(desc, []).append(node)
            continue
        acquires = [fence for fence, of in fences if of in (None, desc) and order.before(fence, node)]
        for write in written.get(desc, ()):
            if not any(order.before(write, fence) for fence in acquires):
                source = place_of(order.where[write][0].event)
                message = f"{place_of(event)} may see the descriptor as it was before {source}"
                fix = f"insert fence_tensormap_acquire of {desc} after the write and before the copy"
                yield Finding("race", "fence_proxy_tensormap_after_global_write", message, fix, event.number)
                break
        else:
            if desc in written:
                message = f"{desc} is acquired between its last write and {place_of(event)}, as it must be"
                yield Finding("note", "fence_proxy_tensormap_after_global_write", message, "", event.number)
        ends = [node + 1] if instruction.op == "tma_store" else []
        ends += [order.code.flights[number].node for number in instruction.flights if event.amount]
        used.setdefault(desc, []).extend((end, instruction) for end in ends)


def flag_hazards(order: Order) -> Iterator[Finding]:
    """Flags that tell of stores whose data may not be in global memory yet."""
    stores = [(node, i, agent) for node, (i, agent) in order.where.items() if i.op == "tma_store"]
    for node, (instruction, agent) in order.where.items():
        if instruction.op != "st_global_flag":
            continue
        own = any(of == agent for _, _, of in stores)
        for store, stored, _ in stores:
            if (own and not order.before(store, node)) or order.before(store + 2, node) or order.before(node, store):
                continue
            flag, what = place_of(instruction.event), place_of(stored.event)
            if order.before(store + 1, node):
                message = f"{flag} tells of {what}, of which only the source was waited for: .read frees shared memory"
                rule, fix = "read_wait_only_frees_smem", "wait_group n=0 without read"
            else:
                message = f"{flag} tells of {what}, which may not be in global memory yet: nothing waits for its group"
                rule, fix = "global_data_before_flag", "commit_group and wait_group n=0 without read before the flag"
            yield Finding("race", rule, message, fix, instruction.event.number)


def unread_stores(order: Order) -> Iterator[Finding]:
    """A note of the first store whose source nobody waits for: the block may not end before it was read."""
    covered = {store for i, _, groups in order.group_waits for store in groups.covered(i.event.amount)}
    stores = [(node, i) for node, (i, _) in order.where.items() if i.op == "tma_store" and node not in covered]
    if stores:
        event = stores[0][1].event
        message = f"nothing waits for {place_of(event)}: the block must not end before its source was read"
        fix = "commit_group and wait_group.read 0 before the block ends"
        yield Finding("note", "store_read_before_exit", message, fix, event.number)
