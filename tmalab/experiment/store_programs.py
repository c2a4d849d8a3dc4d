"""What the reuse and ordering experiments do, as event lists that `BarrierProgram` judges, and each store's fate.

    st_shared ─ fence ─ cta_sync ─ store ─ [commit] ─ store ─ [commit] ─ wait_group N ─ cta_sync ─ st_shared
    all write                      one thread                                            all overwrite

>>> fates(3, 0b101, "read", 1)
('covered', 'pending', 'pending')
>>> fates(2, 0b01, "group", 0)
('covered', 'open')

The commit mask's bit i: a `commit_group` follows store i. A wait is `none`, `read` or `group` with its N, as in the
cases of `store_cases`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tmalab.model.bulk_group import BulkGroups

FATES = ("covered", "pending", "open", "no wait")


def groups_of(stores: int, commits: int) -> BulkGroups:
    """The bulk groups of a thread that issues stores 0, 1 … and commits where the mask says."""
    groups = BulkGroups()
    for store in range(stores):
        groups = groups.store(store)
        if commits >> store & 1:
            groups = groups.commit()
    return groups


def fates(stores: int, commits: int, wait: str, n: int) -> tuple[str, ...]:
    """Of each store, one of FATES: the wait covers it, or leaves its group pending, or it is in no group."""
    if wait == "none":
        return ("no wait",) * stores
    groups = groups_of(stores, commits)
    covered = groups.covered(n)
    return tuple(
        "covered" if store in covered else "open" if groups.needed_n(store) is None else "pending"
        for store in range(stores)
    )


def reuse_events(stores: int, commits: int, wait: str, n: int) -> list[dict[str, Any]]:
    """The event list of one combination: written, stored, waited for (or not), overwritten at once."""
    buffers = [f"tile{store}" for store in range(stores)]
    written = [{"t": "all", "op": "st_shared", "buf": buffer} for buffer in buffers]
    events: list[dict[str, Any]] = [*written, {"t": "all", "op": "fence_proxy_async"}, {"t": "all", "op": "cta_sync"}]
    for store, buffer in enumerate(buffers):
        events.append({"t": "issuer", "op": "tma_store", "buf": buffer})
        if commits >> store & 1:
            events.append({"t": "issuer", "op": "commit_group"})
    if wait != "none":
        events.append({"t": "issuer", "op": "wait_group", "n": n, "read": wait == "read"})
    return [*events, {"t": "all", "op": "cta_sync"}, *(dict(one) for one in written)]


def order_events(order: Sequence[str]) -> list[dict[str, Any]]:
    """The event list of an `ordering/store` case: two writers, the steps that `order` names, one of them stores."""
    writers = ("issuer", "other")
    events: list[dict[str, Any]] = []
    for writer in writers:
        events.append({"t": writer, "op": "st_shared", "buf": "tile"})
        if "fence_by_all" in order:
            events.append({"t": writer, "op": "fence_proxy_async"})
    if "cta_barrier" in order:
        events.append({"t": "all", "op": "cta_sync"})
    late = writers if "fence_after_by_all" in order else ("issuer",) if "fence_after_by_issuer" in order else ()
    events += [{"t": writer, "op": "fence_proxy_async"} for writer in late]
    ops: tuple[dict[str, Any], ...] = (
        {"op": "tma_store", "buf": "tile"},
        {"op": "commit_group"},
        {"op": "wait_group", "n": 0},
    )
    return [*events, *({"t": "issuer", **op} for op in ops)]
