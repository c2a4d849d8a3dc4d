"""The rules that a barrier program can break, in words: what each asks for, and where it is from.

    rule id  ──▶  title, text, source        the model names the id, the page of all rules and --explain show the rest

>>> BARRIER_RULES["read_wait_only_frees_smem"][0]
'.read frees the source and promises nothing of the destination'
"""

from __future__ import annotations

BARRIER_RULES: dict[str, tuple[str, str, str]] = {
    "parity_counts_barrier_phases": (
        "A wait's parity counts the phases of its own barrier",
        "A barrier is asked for the parity of the phase before the one that is going on. Waited for with another "
        "count (of a loop, of a ring of several barriers), it answers for an old phase and returns before the bytes "
        "are there, or it is asked for one that nobody completes and never returns.",
        "PTX ISA, mbarrier.test_wait; measured on H200",
    ),
    "fresh_barrier_parity": (
        "A fresh barrier counts the phase before its first as complete",
        "A wait for parity 1 on a barrier that was just initialised returns at once. A producer uses this to find "
        "every stage of a ring empty.",
        "PTX ISA, mbarrier.test_wait; measured on H200",
    ),
    "every_counted_arriver_must_arrive": (
        "Every arrival that init counts has to come, in every phase",
        "A phase completes only when as many arrivals came as mbarrier.init counted. The count is that of the threads "
        "that do arrive: a branch that skips one, or a signal left to a thread that has another role, hangs the "
        "waiter.",
        "PTX ISA, mbarrier.init, mbarrier.arrive; measured on H200",
    ),
    "roles_must_agree_on_trip_count": (
        "Producers and consumers go through the same turns",
        "A stage that is filled for a tile that nobody consumes is never freed, and the next turn waits for it for "
        "ever.",
        "derived from PTX ISA, mbarrier",
    ),
    "arrivals_within_count": (
        "A phase takes no more arrivals than it counts",
        "An arrival where none is pending any more, while bytes of the phase are still to come, is undefined. An H200 "
        "ends the kernel with CUDA_ERROR_LAUNCH_FAILED. Wait for the phase before arming the barrier again.",
        "PTX ISA, mbarrier.arrive; measured on H200",
    ),
    "arrival_belongs_to_one_phase": (
        "Each arrival belongs to one phase, in every order",
        "Where more arrive than init counts, or one agent may run ahead of another, it is left to chance which phase "
        "an arrival counts in: a phase completes before everybody came.",
        "derived from PTX ISA, mbarrier",
    ),
    "bytes_belong_to_one_phase": (
        "Bytes are expected in the phase that they are for, in every order",
        "Bytes that are expected after the phase's last arrival race with the phase's end: if the first copy is fast "
        "they count in the next phase, and the wait returns without them.",
        "PTX ISA, mbarrier.expect_tx; measured on H200: 300 of 300 with a pause between, 0 of 300 without",
    ),
    "mbarrier_must_be_initialised": (
        "A barrier is initialised before it is used",
        "An operation on memory that no mbarrier.init wrote, or that mbarrier.inval gave back, is undefined. An H200 "
        "ends the kernel with CUDA_ERROR_LAUNCH_FAILED where the word is zero.",
        "PTX ISA, mbarrier.init; measured on H200",
    ),
    "mbarrier_init_visibility": (
        "An init is published before the engine or another thread uses the barrier",
        "The thread that initialises runs fence.mbarrier_init (or a proxy fence), and a sync of the block follows "
        "before others use it. What is left out was not seen to fail on an H200; PTX promises nothing without it.",
        "PTX ISA, fence.mbarrier_init",
    ),
    "mbarrier_init_cluster_visibility": (
        "Before another CTA uses a barrier the whole cluster meets",
        "init, fence.mbarrier_init.release.cluster, barrier.cluster.arrive and wait, then the first multicast or "
        "remote arrival. __syncthreads is one block's and tells nothing of the peer's.",
        "PTX ISA, fence.mbarrier_init, barrier.cluster",
    ),
    "mbarrier_initialised_once": (
        "One thread initialises a barrier, once",
        "A second init resets the counts under those who already use them. elect.sync elects one thread a warp, and "
        "not one a block.",
        "PTX ISA, mbarrier.init; measured on H200",
    ),
    "mbarrier_count_range": (
        "A barrier counts 1 to 1048575 arrivals",
        "The count is held in 20 bits, and a phase of no arrivals has no end.",
        "PTX ISA, mbarrier.init",
    ),
    "mbarrier_address_align_8": (
        "A barrier lies at a multiple of 8 bytes",
        "An mbarrier is an object of 64 bits. At another address an H200 ends the kernel with "
        "CUDA_ERROR_MISALIGNED_ADDRESS.",
        "PTX ISA, mbarrier, alignment; measured on H200",
    ),
    "tx_count_range": (
        "A barrier counts 1048575 bytes at most",
        "The tx-count lies between -(2^20-1) and 2^20-1. More bytes take several barriers or phases.",
        "PTX ISA, mbarrier, tx-count",
    ),
    "wait_before_read": (
        "Bytes are read after a wait for their phase",
        "A copy is on its way until its barrier's phase completes. Who reads, stores or overwrites the buffer waits "
        "for that phase, or meets in a sync with a thread that did.",
        "PTX ISA, cp.async.bulk.tensor, mbarrier completion",
    ),
    "stage_freed_before_refill": (
        "A stage is filled again after its last reader has arrived",
        "A load may land at once when it is issued. The producer waits for a barrier on which every reader arrives "
        "after its last read.",
        "PTX ISA, memory consistency model",
    ),
    "cluster_wide_arrival_count": (
        "A cluster's barrier counts the arrivals of every CTA",
        "Where each CTA arrives at each CTA's barrier, every barrier gets as many arrivals as the cluster has CTAs.",
        "PTX ISA, mbarrier.arrive, .shared::cluster",
    ),
    "multicast_signals_every_destination_barrier": (
        "A multicast completes bytes on the barrier of every CTA that it reaches",
        "The barrier at the same offset in each destination CTA is signalled: each of them arms its own, for all the "
        "bytes that reach it, whoever sends them.",
        "PTX ISA, cp.async.bulk.tensor, .multicast::cluster; measured on H200",
    ),
    "multicast_waits_for_all_destination_ctas": (
        "A multicast waits until every destination is free",
        "It overwrites the buffer in all of its CTAs. The barrier that frees the buffer counts an arrival of each.",
        "PTX ISA, cp.async.bulk.tensor, .multicast::cluster",
    ),
    "fence_proxy_async_before_tma_read": (
        "A proxy fence stands between ordinary writes and a copy that reads them",
        "Ordinary stores and the engine reach shared memory through different proxies. Each writer runs "
        "fence.proxy.async after its last write, then comes the barrier, then the store. Without the fence no failure "
        "was seen on an H200, and nothing promises that none comes.",
        "PTX ISA, Async Proxy and fence.proxy.async",
    ),
    "fence_proxy_async_before_tma_write": (
        "A proxy fence stands between ordinary writes and a load over them",
        "Without it the ordinary write may become visible after the bytes that the load brings.",
        "PTX ISA, Async Proxy and fence.proxy.async",
    ),
    "cta_sync_before_tma_read": (
        "All writers come to a barrier before one thread stores",
        "The fence of a writer orders its own writes. That they are done before another thread issues the store takes "
        "a barrier between the two.",
        "PTX ISA, Async Proxy and fence.proxy.async; measured on H200: wrong in 241 of 1024 runs without the barrier",
    ),
    "cta_sync_between_threads": (
        "What one thread writes another reads after a sync",
        "Ordinary accesses of two threads to one buffer are ordered by a barrier or not at all.",
        "PTX ISA, memory consistency model",
    ),
    "bulk_group_must_cover_buffer": (
        "A store's source is free when its own thread has waited for its group",
        "commit_group closes the group, and wait_group n waits for all but the newest n groups of the same thread. A "
        "store in no group, in one of those n, or of another thread is not waited for.",
        "PTX ISA, cp.async.bulk.wait_group; measured on H200: wrong in 1024 of 1024 runs",
    ),
    "read_wait_only_frees_smem": (
        ".read frees the source and promises nothing of the destination",
        "wait_group.read returns when the source was read. That the data is in global memory, for a flag or another "
        "block to build on, takes wait_group without .read.",
        "PTX ISA, cp.async.bulk.wait_group",
    ),
    "global_data_before_flag": (
        "A flag is set after a wait for the stores that it tells of",
        "A store goes on after it was issued. commit_group and wait_group 0 come before the flag is released.",
        "PTX ISA, cp.async.bulk.commit_group",
    ),
    "store_read_before_exit": (
        "A block ends after the sources of its stores were read",
        "The engine reads shared memory after the store was issued. A block that ends first gives that memory back. "
        "No failure was seen on an H200 in 4096 runs, and nothing promises that none comes.",
        "PTX ISA, cp.async.bulk.wait_group; CUDA programming guide",
    ),
    "descriptor_not_modified_in_flight": (
        "A descriptor stays as it is while a copy uses it",
        "A copy that is on its way may read the descriptor late. Wait for it before writing, or alternate between two.",
        "PTX ISA, tensormap.replace; measured on H200: wrong in 434 of 1024 runs",
    ),
    "exit_before_peer_is_done": (
        "A block stays until nothing reaches its shared memory any more",
        "Bytes that still land, sources that are still read and arrivals of other blocks need the shared memory of a "
        "living block. Wait for every copy, and let the cluster meet, before the end.",
        "PTX ISA, Distributed Shared Memory; CUDA programming guide",
    ),
    "every_thread_meets_the_sync": (
        "Every thread comes to every sync, in the same order",
        "A sync holds its threads until all have come. Threads that wait in different ones wait for ever.",
        "PTX ISA, bar.sync, barrier.cluster",
    ),
    "oob_box_still_counts_full_bytes": (
        "A box outside the tensor still counts in full",
        "What lies outside is filled and counted: a load wholly past the end fetches nothing, writes the fill and "
        "completes all its bytes. Nothing faults or hangs; shared memory is written all the same.",
        "CUDA driver API, cuTensorMapEncodeTiled, oobFill; measured on H200",
    ),
    "dsl_copy_elects_internally": (
        "A DSL's copy elects its thread itself",
        "CuTe DSL's copy of a TMA atom is called by a converged warp and elects one thread in it. Inside a branch of "
        "one thread the election has no warp to choose from.",
        "read in NVIDIA's CuTe DSL documentation; not measured",
    ),
}
