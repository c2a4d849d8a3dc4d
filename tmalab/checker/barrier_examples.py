"""For each rule of a barrier program the smallest program that breaks it, or that it is said of.

    t0: st_shared d │ t0: tma_store d        ──check──▶  fence_proxy_async_before_tma_read

>>> from tmalab.checker.check import check_text
>>> import json
>>> check_text(json.dumps(BARRIER_EXAMPLES["fresh_barrier_parity"])).verdict
'completes'
"""

from __future__ import annotations

from typing import Any

_NUMBERS = ("bytes", "count", "parity", "n", "address")
_FIELDS = {
    "init": ("bar", "count"), "arrive": ("bar",), "wait": ("bar", "parity"), "wait_group": ("n", "read"),
    "arrive_expect_tx": ("bar", "bytes"), "expect_tx": ("bar", "bytes"), "tma_load": ("bar", "bytes", "buf"),
    "tma_store": ("buf",), "st_shared": ("buf",), "ld_shared": ("buf",), "st_global_flag": ("flag",),
    "tensormap_replace": ("desc",),
}  # fmt: skip


def _program(text: str) -> dict[str, Any]:
    """A program from short lines: agent, operation, and its fields in order; others as name=value."""
    events = []
    for line in text.split(";"):
        agent, op, *rest = line.split()
        event: dict[str, Any] = {"t": agent, "op": op}
        names = iter(_FIELDS.get(op, ()))
        for word in rest:
            name, _, value = word.rpartition("=")
            name = name or next(names)
            event[name] = 1 if name == "read" else int(value) if name in _NUMBERS else value
            if name == "multicast":
                event[name] = [int(cta) for cta in value.split(",")]
        events.append(event)
    return {"events": events}


_STORE = "t0 tma_store d; t0 commit_group; "
_LOAD = "p arrive_expect_tx full 4096; p tma_load full 4096 s; "
_FULL = "init init full 1; "
_BOTH = "init init cta0.full 1; init init cta1.full 1; c0 arrive_expect_tx cta0.full 64; "
_SEND = "c0 tma_load full 64 multicast=0,1; c0 wait cta0.full 0; "

BARRIER_EXAMPLES: dict[str, dict[str, Any]] = {
    "parity_counts_barrier_phases": _program(_FULL + _LOAD + "p wait full 1"),
    "fresh_barrier_parity": _program("init init empty 1; p wait empty 1"),
    "every_counted_arriver_must_arrive": _program("init init empty 2; c arrive empty; p wait empty 0"),
    "roles_must_agree_on_trip_count": _program(
        _FULL + "init init empty 1; p wait empty 1; " + _LOAD + "p wait empty 0"
    ),
    "arrivals_within_count": _program(_FULL + "p arrive_expect_tx full 4096; p arrive_expect_tx full 4096"),
    "arrival_belongs_to_one_phase": _program("init init empty 1; c arrive empty; d arrive empty; p wait empty 0"),
    "bytes_belong_to_one_phase": _program(
        _FULL + "p arrive_expect_tx full 2048; p tma_load full 2048; p expect_tx full 2048; p tma_load full 2048; "
        "c wait full 0"
    ),
    "mbarrier_must_be_initialised": _program("p arrive_expect_tx full 4096; p tma_load full 4096"),
    "mbarrier_init_visibility": _program("t0 init full 1; t0 arrive_expect_tx full 64; t0 tma_load full 64"),
    "mbarrier_init_cluster_visibility": _program(
        "t0 init full 1; t0 fence_mbarrier_init; all cta_sync; c0 tma_load cta1.full 64"
    ),
    "mbarrier_initialised_once": _program("w0 init full 1; w1 init full 1"),
    "mbarrier_count_range": _program("init init full 0"),
    "mbarrier_address_align_8": _program("init init full 1 address=4"),
    "tx_count_range": _program(_FULL + "p arrive_expect_tx full 1048576"),
    "wait_before_read": _program(_FULL + _LOAD + "c ld_shared s"),
    "stage_freed_before_refill": _program(
        _FULL + _LOAD + "c wait full 0; c ld_shared s; p wait full 0; " + _LOAD.removesuffix("; ")
    ),
    "cluster_wide_arrival_count": {
        "mode": "cluster_barrier", "cluster": 2, "init_count": 2, "arrivals_per_cta": "one to each cta",
    },
    "multicast_signals_every_destination_barrier": _program(_BOTH + _SEND + "c1 wait cta1.full 0"),
    "multicast_waits_for_all_destination_ctas": _program(
        "init init b 1; c1 ld_shared s; c0 tma_load b 64 s multicast=1"
    ),
    "fence_proxy_async_before_tma_read": _program("all st_shared d; all cta_sync; t0 tma_store d"),
    "fence_proxy_async_before_tma_write": _program(_FULL + "p st_shared s; p tma_load full 64 s"),
    "cta_sync_before_tma_read": _program("w st_shared d; w fence_proxy_async; t0 tma_store d"),
    "cta_sync_between_threads": _program("w0 st_shared d; w1 ld_shared d"),
    "bulk_group_must_cover_buffer": _program(_STORE + "t0 wait_group 1; t0 st_shared d"),
    "read_wait_only_frees_smem": _program(_STORE + "t0 wait_group 0 1; t0 st_global_flag ready"),
    "global_data_before_flag": _program(_STORE + "t0 st_global_flag ready"),
    "store_read_before_exit": _program("t0 tma_store d; t0 commit_group"),
    "descriptor_not_modified_in_flight": _program(_FULL + "p tma_load full 64 desc=A; p tensormap_replace A"),
    "exit_before_peer_is_done": _program(
        _BOTH + "c1 arrive_expect_tx cta1.full 64; " + _SEND + "c0 exit; c1 exit"
    ),
    "every_thread_meets_the_sync": _program("a cta_sync; a cluster_sync; b cluster_sync; b cta_sync"),
    "oob_box_still_counts_full_bytes": {
        "k_tiles": 10, "issued_k_tiles": [10], **_program(_FULL + _LOAD + "c wait full 0"),
    },
    "dsl_copy_elects_internally": {"issue_site": "inside if tidx == 0", **_program(_FULL + _LOAD + "c wait full 0")},
}  # fmt: skip
