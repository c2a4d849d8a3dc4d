"""Programs like those of the case file, with other numbers, orders and agents, and what PTX says of each.

Each is a name, the verdicts that are right, the rule that must be named (None: whichever), and the lines.
"""

VARIATIONS: list[tuple[str, set[str], str | None, str]] = []


def _add(name: str, verdicts: str, rule: str | None, text: str) -> None:
    VARIATIONS.append((name, set(verdicts.split("|")), rule, text))


# --- loads and bytes --------------------------------------------------------------------------------------------------
_add(
    "two loads, one barrier",
    "completes",
    None,
    """
    init init full 1; p arrive_expect_tx full 4096; p tma_load full 2048 a; p tma_load full 2048 b
    c wait full 0; c ld_shared a; c ld_shared b""",
)
_add(
    "two loads, armed after both",
    "completes",
    None,
    """
    init init full 1; p tma_load full 2048 a; p tma_load full 2048 b; p arrive_expect_tx full 4096
    c wait full 0; c ld_shared a; c ld_shared b""",
)
_add(
    "two loads, armed between",
    "completes",
    None,
    """
    init init full 1; p tma_load full 2048 a; p arrive_expect_tx full 4096; p tma_load full 2048 b
    c wait full 0; c ld_shared a; c ld_shared b""",
)
_add(
    "2048 + 2048, the arrival last",
    "completes",
    None,
    """
    init init full 1; p expect_tx full 2048; p tma_load full 2048 a; p expect_tx full 2048; p tma_load full 2048 b
    p arrive full; c wait full 0; c ld_shared b""",
)
_add(
    "2048 + 2048 with two arrivals",
    "completes",
    None,
    """
    init init full 2; p arrive_expect_tx full 2048; p tma_load full 2048 a; p arrive_expect_tx full 2048
    p tma_load full 2048 b; c wait full 0; c ld_shared a; c ld_shared b""",
)
_add(
    "2048, load, then 2048 more after the arrival",
    "race",
    None,
    """
    init init full 1; p arrive_expect_tx full 2048; p tma_load full 2048 a; p expect_tx full 2048
    p tma_load full 2048 b; c wait full 0; c ld_shared a; c ld_shared b""",
)
_add(
    "the same, and nobody reads",
    "race",
    "bytes_belong_to_one_phase",
    """
    init init full 1; p arrive_expect_tx full 2048; p tma_load full 2048; p expect_tx full 2048
    p tma_load full 2048; c wait full 0""",
)
_add(
    "armed twice with one arrival counted",
    "race|error",
    None,
    """
    init init full 1; p arrive_expect_tx full 2048; p tma_load full 2048 a; p arrive_expect_tx full 2048
    p tma_load full 2048 b; c wait full 0""",
)
_add(
    "armed for too much",
    "hang",
    "expect_tx_equals_delivered",
    """
    init init full 1; p arrive_expect_tx full 8192; p tma_load full 4096; c wait full 0""",
)
_add(
    "armed for too much, landing in listed pieces",
    "hang",
    "expect_tx_equals_delivered",
    """
    init init full 1; p arrive_expect_tx full 8192; p tma_load full 4096; hw complete_tx full 1024
    hw complete_tx full 3072; c wait full 0""",
)
_add(
    "half of the load lands",
    "hang",
    "expect_tx_equals_delivered",
    """
    init init full 1; p arrive_expect_tx full 4096; p tma_load full 4096; hw complete_tx full 2048; c wait full 0""",
)
_add(
    "armed for half a tile",
    "hang|race",
    "expect_tx_equals_delivered",
    """
    init init full 1; p arrive_expect_tx full 2048; p tma_load full 4096 a; c wait full 0; c ld_shared a""",
)
_add(
    "armed for one tile of two",
    "race|hang",
    "expect_tx_equals_delivered",
    """
    init init full 1; p arrive_expect_tx full 16384; p tma_load full 16384 a; p tma_load full 16384 b
    c wait full 0; c ld_shared a; c ld_shared b""",
)
_add(
    "armed for 15 bytes too few",
    "hang|race",
    "expect_tx_equals_delivered",
    """
    init init full 1; p arrive_expect_tx full 4081; p tma_load full 4096; c wait full 0""",
)
_add(
    "armed, and no load issued",
    "hang",
    "expect_tx_equals_delivered",
    """
    init init full 1; p arrive_expect_tx full 4096; c wait full 0""",
)
_add(
    "expected and nobody arrives",
    "hang",
    "every_counted_arriver_must_arrive",
    """
    init init full 1; p expect_tx full 4096; p tma_load full 4096; hw complete_tx full 4096; c wait full 0""",
)
_add(
    "loaded and never armed",
    "hang",
    "every_counted_arriver_must_arrive",
    """
    init init full 1; p tma_load full 4096; c wait full 0""",
)
_add(
    "init counts 32, one arrives",
    "hang",
    "every_counted_arriver_must_arrive",
    """
    init init full 32; p arrive_expect_tx full 4096; p tma_load full 4096; c wait full 0""",
)
_add(
    "init counts 2, two arrive, one arms for all",
    "completes",
    None,
    """
    init init full 2; p arrive_expect_tx full 4096; q arrive full; p tma_load full 4096 a; c wait full 0
    c ld_shared a""",
)
_add("arrive with a count", "completes", None, "init init b 32; w arrive b count=32; c wait b 0")
_add(
    "an arrival before the bytes are expected ends the phase",
    "race",
    "expect_tx_equals_delivered",
    """
    init init full 1; p tma_load full 64; p arrive full; p expect_tx full 64; c wait full 0""",
)
_add(
    "a box outside the tensor counts in full",
    "completes",
    None,
    """
    init init full 1; p arrive_expect_tx full 32768; p tma_load full 32768 a; hw complete_tx full 32768
    c wait full 0; c ld_shared a""",
)
_add(
    "read before the wait",
    "race",
    "wait_before_read",
    """
    init init full 1; p arrive_expect_tx full 4096; p tma_load full 4096 a; c ld_shared a; c wait full 0""",
)
_add(
    "the wait skipped by the issuer itself",
    "race",
    "wait_before_read",
    """
    init init full 1; p arrive_expect_tx full 4096; p tma_load full 4096 a; p ld_shared a""",
)
_add(
    "one thread waits, and the others sync after it",
    "completes",
    None,
    """
    init init full 1; t0 arrive_expect_tx full 4096; t0 tma_load full 4096 a; t0 wait full 0; all cta_sync
    all ld_shared a""",
)
_add(
    "one thread waits, and the others do not sync",
    "race",
    "wait_before_read",
    """
    init init full 1; t0 arrive_expect_tx full 4096; t0 tma_load full 4096 a; t0 wait full 0; all ld_shared a""",
)
_add(
    "every thread waits",
    "completes",
    None,
    """
    init init full 1; t0 arrive_expect_tx full 4096; t0 tma_load full 4096 a; all wait full 0; all ld_shared a""",
)
# --- phases and parity ------------------------------------------------------------------------------------------------
SEVEN = "init init b 1\n" + "\n".join(
    f"p arrive_expect_tx b 1024; p tma_load b 1024 t{k}; p wait b {k % 2}; p ld_shared t{k}" for k in range(7)
)
_add("seven tiles over one barrier", "completes", None, SEVEN)
_add(
    "seven tiles, the parity always 0",
    "race|hang",
    "parity_counts_barrier_phases",
    "\n".join(line.replace("wait b 1", "wait b 0") for line in SEVEN.splitlines()),
)
_add(
    "seven tiles, the parity k // 3 % 2 of a ring",
    "race",
    "parity_counts_barrier_phases",
    "init init b 1\n"
    + "\n".join(f"p arrive_expect_tx b 1024; p tma_load b 1024; p wait b {k // 3 % 2}" for k in range(7)),
)
_add(
    "the parity is the loop index, of which one bit counts",
    "completes",
    None,
    "init init b 1\n" + "\n".join(f"p arrive_expect_tx b 1024; p tma_load b 1024; p wait b {k}" for k in range(4)),
)
_add(
    "the parity starts at 1",
    "race",
    "parity_counts_barrier_phases",
    """
    init init b 1; p arrive_expect_tx b 1024; p tma_load b 1024; p wait b 1""",
)
_add(
    "eight fresh barriers waited with s & 1",
    "race",
    "parity_counts_barrier_phases",
    "".join(f"init init b{s} 1\n" for s in range(8))
    + "\n".join(f"p arrive_expect_tx b{s} 512; p tma_load b{s} 512; p wait b{s} {s & 1}" for s in range(8)),
)
_add(
    "a fresh barrier and parity 0, and nobody arrives",
    "hang",
    "every_counted_arriver_must_arrive",
    "init init b 1; w wait b 0",
)
_add(
    "a waiter that the next phase may overtake",
    "hang",
    None,
    """
    init init b 1; p arrive b; p wait b 0; c wait b 0; p arrive_expect_tx b 0""",
)
_add("a waiter that two phases may overtake", "hang", None, "init init b 1; p arrive b; p arrive b; c wait b 0")
_add(
    "waits for the phase before, then arms again",
    "completes",
    None,
    "init init b 1\n"
    + "\n".join(f"p wait b {(k + 1) % 2}; p arrive_expect_tx b 64; p tma_load b 64" for k in range(4)),
)
# --- rings ------------------------------------------------------------------------------------------------------------
RING = """init init full 1; init init empty 1
    p wait empty 1; p arrive_expect_tx full 4096; p tma_load full 4096 s
    c wait full 0; c ld_shared s; c arrive empty
    p wait empty 0; p arrive_expect_tx full 4096; p tma_load full 4096 s
    c wait full 1; c ld_shared s; c arrive empty"""
_add("a stage used twice", "completes", None, RING)
_add(
    "the consumer never frees the stage",
    "hang",
    "every_counted_arriver_must_arrive",
    RING.replace("; c arrive empty", ""),
)
_add("the producer does not wait for the stage", "race", None, RING.replace("p wait empty 0; ", ""))
_add(
    "the consumer frees the stage before it has read",
    "race",
    "stage_freed_before_refill",
    RING.replace("c ld_shared s; c arrive empty", "c arrive empty; c ld_shared s"),
)
_add("the producer's first wait has parity 0", "hang", None, RING.replace("p wait empty 1", "p wait empty 0"))
_add("the consumer's second wait has parity 0", "race", None, RING.replace("c wait full 1", "c wait full 0"))
_add(
    "empty counts two, one consumer",
    "hang",
    "every_counted_arriver_must_arrive",
    RING.replace("init init empty 1", "init init empty 2"),
)
_add(
    "two consumers, empty counts one",
    "race",
    None,
    RING
    + """
    d wait full 0; d ld_shared s; d arrive empty; d wait full 1; d ld_shared s; d arrive empty""",
)
_add(
    "two consumers, and empty counts two",
    "completes",
    None,
    RING.replace("init init empty 1", "init init empty 2")
    + """
    d wait full 0; d ld_shared s; d arrive empty; d wait full 1; d ld_shared s; d arrive empty""",
)
_add(
    "the consumer skips the second tile",
    "hang",
    "roles_must_agree_on_trip_count",
    "\n".join(RING.splitlines()[:4]) + "\np wait empty 1",
)
_add(
    "every thread consumes and arrives once",
    "completes",
    None,
    """
    init init full 1; init init empty 1
    p wait empty 1; p arrive_expect_tx full 64; p tma_load full 64 s; all wait full 0; all ld_shared s
    all arrive empty; p wait empty 0; p arrive_expect_tx full 64; p tma_load full 64 s; all wait full 1""",
)
# --- init and its fence -----------------------------------------------------------------------------------------------
INIT = """t0 init b 1; t0 fence_mbarrier_init; all cta_sync; t0 arrive_expect_tx b 64; t0 tma_load b 64 s
    w wait b 0; w ld_shared s"""
_add("a thread initialises, fences and syncs", "completes", None, INIT)
_add("a proxy fence publishes it too", "completes", None, INIT.replace("fence_mbarrier_init", "fence_proxy_async"))
_add("no fence after init", "race", "mbarrier_init_visibility", INIT.replace("t0 fence_mbarrier_init; ", ""))
_add("no sync after init", "race", "mbarrier_init_visibility", INIT.replace("all cta_sync; ", ""))
_add(
    "no sync, and one thread does it all",
    "completes",
    None,
    "t0 init b 1; t0 fence_mbarrier_init; t0 arrive_expect_tx b 64; t0 tma_load b 64 s; t0 wait b 0; t0 ld_shared s",
)
_add(
    "never initialised", "error", "mbarrier_must_be_initialised", "p arrive_expect_tx b 64; p tma_load b 64; c wait b 0"
)
_add("waits for a barrier that is not there", "error", "mbarrier_must_be_initialised", "init init a 1; c wait b 0")
_add(
    "the other barrier is initialised",
    "error",
    "mbarrier_must_be_initialised",
    "init init full0 1; p arrive_expect_tx full1 64; p tma_load full1 64; c wait full0 0",
)
_add(
    "used after inval",
    "error",
    "mbarrier_must_be_initialised",
    "init init b 1; p arrive b; p wait b 0; p inval b; p arrive b",
)
_add(
    "two warps initialise it",
    "race",
    None,
    """
    w0 init b 1; w1 init b 1; w0 fence_mbarrier_init; w1 fence_mbarrier_init; w0 arrive b; w0 wait b 0""",
)
_add("a count of zero", "error", "mbarrier_count_range", "init init b 0; p arrive b")
_add("a count of 2^20", "error", "mbarrier_count_range", "init init b 1048576; p arrive b")
_add("2^20 bytes armed", "error", "tx_count_range", "init init b 1; p arrive_expect_tx b 1048576; c wait b 0")
_add(
    "2^20-1 bytes armed",
    "hang",
    "expect_tx_equals_delivered",
    "init init b 1; p arrive_expect_tx b 1048575; c wait b 0",
)
# --- stores -----------------------------------------------------------------------------------------------------------
STORE = """all st_shared d; all fence_proxy_async; all cta_sync; t0 tma_store d; t0 commit_group
    t0 wait_group 0 read; all cta_sync; all st_shared d"""
_add("a store, waited for, then the buffer again", "completes", None, STORE)
_add("no proxy fence", "race", "fence_proxy_async_before_tma_read", STORE.replace("all fence_proxy_async; ", ""))
_add(
    "no barrier after the fence",
    "race",
    "cta_sync_before_tma_read",
    STORE.replace("all fence_proxy_async; all cta_sync", "all fence_proxy_async"),
)
_add("no wait", "race", "bulk_group_must_cover_buffer", STORE.replace("t0 wait_group 0 read; ", ""))
_add("no commit", "race", "bulk_group_must_cover_buffer", STORE.replace("t0 commit_group", ""))
_add("wait_group 1 of one group", "race", "bulk_group_must_cover_buffer", STORE.replace("wait_group 0", "wait_group 1"))
_add("no barrier after the wait", "race", "bulk_group_must_cover_buffer", STORE.replace("read; all cta_sync", "read"))
_add("another thread waits", "race", "bulk_group_must_cover_buffer", STORE.replace("t0 wait_group", "w wait_group"))
_add(
    "one thread writes, fences and stores",
    "completes",
    None,
    "t0 st_shared d; t0 fence_proxy_async; t0 tma_store d; t0 commit_group; t0 wait_group 0 read; t0 st_shared d",
)
_add(
    "one thread writes and stores without a fence",
    "race",
    "fence_proxy_async_before_tma_read",
    "t0 st_shared d; t0 tma_store d; t0 commit_group; t0 wait_group 0",
)
_add(
    "one of two writers does not fence",
    "race",
    "fence_proxy_async_before_tma_read",
    """
    w0 st_shared d; w0 fence_proxy_async; w1 st_shared d; w0 cta_sync; w1 cta_sync; w0 tma_store d""",
)
_add(
    "wait_group 1 with a newer group",
    "completes",
    None,
    """
    p st_shared a; p st_shared b; p fence_proxy_async; p tma_store a; p commit_group; p tma_store b; p commit_group
    p wait_group 1 read; p st_shared a""",
)
_add(
    "wait_group 1 and the newer buffer",
    "race",
    "bulk_group_must_cover_buffer",
    """
    p st_shared a; p st_shared b; p fence_proxy_async; p tma_store a; p commit_group; p tma_store b; p commit_group
    p wait_group 1 read; p st_shared b""",
)
_add(
    "one commit covers two stores",
    "completes",
    None,
    """
    p st_shared a; p st_shared b; p fence_proxy_async; p tma_store a; p tma_store b; p commit_group
    p wait_group 0 read; p st_shared a; p st_shared b""",
)
_add(
    "a store after the commit",
    "race",
    "bulk_group_must_cover_buffer",
    """
    p st_shared a; p st_shared b; p fence_proxy_async; p tma_store a; p commit_group; p tma_store b
    p wait_group 0 read; p st_shared b""",
)
_add(
    "a loaded tile is stored without a fence",
    "completes",
    None,
    """
    init init full 1; p arrive_expect_tx full 64; p tma_load full 64 s; p wait full 0; p tma_store s
    p commit_group; p wait_group 0""",
)
_add(
    "a loaded tile is stored before it is there",
    "race",
    "wait_before_read",
    """
    init init full 1; p arrive_expect_tx full 64; p tma_load full 64 s; p tma_store s; p commit_group""",
)
_add(
    "stored, waited for and loaded again",
    "completes",
    None,
    """
    init init full 1; p st_shared s; p fence_proxy_async; p tma_store s; p commit_group; p wait_group 0 read
    p arrive_expect_tx full 64; p tma_load full 64 s; p wait full 0; p ld_shared s""",
)
_add(
    "a flag after the full wait",
    "completes",
    None,
    "t0 tma_store d; t0 commit_group; t0 wait_group 0; t0 st_global_flag ready",
)
_add(
    "a flag after a read wait",
    "race",
    "read_wait_only_frees_smem",
    "t0 tma_store d; t0 commit_group; t0 wait_group 0 read; t0 st_global_flag ready",
)
_add("a flag and no wait", "race", None, "t0 tma_store d; t0 commit_group; t0 st_global_flag ready")
_add(
    "a flag after wait_group 1 of two",
    "race",
    None,
    """
    t0 tma_store a; t0 commit_group; t0 tma_store b; t0 commit_group; t0 wait_group 1; t0 st_global_flag ready""",
)
_add(
    "the flag of another thread after a sync",
    "completes",
    None,
    "t0 tma_store d; t0 commit_group; t0 wait_group 0; all cta_sync; w st_global_flag ready",
)
# --- descriptors ------------------------------------------------------------------------------------------------------
_add(
    "a descriptor copied by the host, no fence",
    "race",
    "fence_proxy_tensormap_after_global_write",
    """
    init init full 1; host memcpy_desc d; p arrive_expect_tx full 64; p tma_load full 64 desc=d; p wait full 0""",
)
_add(
    "the fence is of another descriptor",
    "race",
    "fence_proxy_tensormap_after_global_write",
    """
    init init full 1; host memcpy_desc d; p fence_tensormap_acquire desc=e; p tma_load full 64 desc=d""",
)
_add(
    "the fence comes after the copy",
    "race",
    "fence_proxy_tensormap_after_global_write",
    """
    init init full 1; host memcpy_desc d; p tma_load full 64 desc=d; p fence_tensormap_acquire desc=d""",
)
_add(
    "rewritten after the load was waited for",
    "completes",
    None,
    """
    init init full 1; p arrive_expect_tx full 64; p tma_load full 64 s desc=A; p wait full 0; p tensormap_replace A
    p fence_tensormap_acquire A; p arrive_expect_tx full 64; p tma_load full 64 s desc=A; p wait full 1""",
)
_add(
    "two descriptors in turn",
    "completes",
    None,
    """
    init init f0 1; init init f1 1; p arrive_expect_tx f0 64; p tma_load f0 64 s desc=A; p tensormap_replace B
    p fence_tensormap_acquire B; p arrive_expect_tx f1 64; p tma_load f1 64 r desc=B; p wait f0 0; p wait f1 0""",
)
_add(
    "rewritten by another thread without a sync",
    "race",
    None,
    """
    init init f 1; w tensormap_replace A; p fence_tensormap_acquire A; p arrive_expect_tx f 64; p tma_load f 64 desc=A
    p wait f 0""",
)
# --- clusters ---------------------------------------------------------------------------------------------------------
_add(
    "a multicast that both CTAs arm",
    "completes",
    None,
    """
    init init cta0.full 1; init init cta1.full 1
    c0 arrive_expect_tx cta0.full 4096; c1 arrive_expect_tx cta1.full 4096; c0 tma_load full 4096 s multicast=0,1
    c0 wait cta0.full 0; c0 ld_shared s; c1 wait cta1.full 0; c1 ld_shared s""",
)
_add(
    "a multicast that the peer does not arm",
    "hang",
    "multicast_signals_every_destination_barrier",
    """
    init init cta0.full 1; init init cta1.full 1
    c0 arrive_expect_tx cta0.full 4096; c0 tma_load full 4096 s multicast=0,1
    c0 wait cta0.full 0; c1 wait cta1.full 0""",
)
_add(
    "A of its own and B by multicast, armed for both",
    "completes",
    None,
    """
    init init cta1.full 1; c1 arrive_expect_tx cta1.full 8192; c1 tma_load cta1.full 4096; c0 tma_load cta1.full 4096
    c1 wait cta1.full 0""",
)
_add(
    "A of its own and B by multicast, armed for one",
    "race|hang",
    "multicast_signals_every_destination_barrier",
    """
    init init cta1.full 1; c1 arrive_expect_tx cta1.full 4096; c1 tma_load cta1.full 4096; c0 tma_load cta1.full 4096
    c1 wait cta1.full 0""",
)
_add(
    "each CTA of four arrives on each barrier",
    "completes",
    None,
    "".join(f"init init cta{k}.b 4\n" for k in range(4))
    + "".join(f"c{j} arrive cta{k}.b\n" for j in range(4) for k in range(4))
    + "".join(f"c{k} wait cta{k}.b 0\n" for k in range(4)),
)
_add(
    "each CTA arrives on its own barrier only",
    "hang",
    "every_counted_arriver_must_arrive",
    "".join(f"init init cta{k}.b 2\nc{k} arrive cta{k}.b\nc{k} wait cta{k}.b 0\n" for k in range(2)),
)
_add(
    "init by a thread of each CTA, then cta_sync alone",
    "race",
    "mbarrier_init_cluster_visibility",
    """
    t0 init full 1; t0 fence_mbarrier_init; all cta_sync; c0 tma_load cta1.full 4096 multicast""",
)
_add(
    "init and cluster_sync without the fence",
    "race",
    "mbarrier_init_visibility",
    """
    t0 init full 1; all cluster_sync; c0 tma_load cta1.full 4096 multicast""",
)
_add(
    "the multicast waits for both epilogues",
    "completes",
    None,
    """
    init init cta0.done 2; init init full 1; c1 ld_shared union; c0 arrive cta0.done; c1 arrive cta0.done
    c0 wait cta0.done 0; c0 tma_load full 64 union multicast""",
)
_add(
    "the multicast waits for its own epilogue",
    "race",
    "multicast_waits_for_all_destination_ctas",
    """
    init init cta0.done 1; init init full 1; c1 ld_shared union; c0 arrive cta0.done
    c0 wait cta0.done 0; c0 tma_load full 64 union multicast""",
)
_add(
    "a block ends before the peer's bytes are there",
    "race",
    "exit_before_peer_is_done",
    """
    init init cta0.full 1; init init cta1.full 1; c0 arrive_expect_tx cta0.full 64
    c0 tma_load full 64 s multicast=0,1; c0 wait cta0.full 0; c0 exit; c1 exit""",
)
_add(
    "the blocks meet before they end",
    "completes",
    None,
    """
    init init cta0.full 1; init init cta1.full 1; c0 arrive_expect_tx cta0.full 64; c1 arrive_expect_tx cta1.full 64
    c0 tma_load full 64 s multicast=0,1; c0 wait cta0.full 0; c1 wait cta1.full 0; all cluster_sync
    c0 exit; c1 exit""",
)
_add(
    "a remote arrival at a block that has ended",
    "race",
    "exit_before_peer_is_done",
    """
    init init cta1.b 1; c1 exit; c0 arrive cta1.b""",
)
_add(
    "a block ends with its store unread",
    "race",
    "exit_before_peer_is_done",
    "t0 st_shared d; t0 fence_proxy_async; t0 tma_store d; t0 commit_group; t0 exit",
)

# --- a barrier that each CTA has at the same offset -------------------------------------------------------------------
_add(
    "one name for each CTA's barrier, both arm",
    "completes",
    None,
    """
    init init full 1; c0 arrive_expect_tx full 64; c1 arrive_expect_tx full 64; c0 tma_load full 64 s multicast
    c0 wait full 0; c0 ld_shared s; c1 wait full 0; c1 ld_shared s""",
)
_add(
    "one name for each CTA's barrier, only the leader arms",
    "hang",
    "multicast_signals_every_destination_barrier",
    """
    init init full 1; c0 arrive_expect_tx full 64; c0 tma_load full 64 s multicast; c0 wait full 0; c1 wait full 0""",
)
_add(
    "two CTAs feed one barrier",
    "completes",
    None,
    """
    init init full 1; t0 arrive_expect_tx full 128; c0 tma_load full 64; c1 tma_load full 64; c wait full 0""",
)
_add(
    "each half of B is multicast by one CTA, each armed for both",
    "completes",
    None,
    """
    init init cta0.full 1; init init cta1.full 1; c0 arrive_expect_tx cta0.full 128; c1 arrive_expect_tx cta1.full 128
    c0 tma_load full 64 b.0 multicast=0,1; c1 tma_load full 64 b.1 multicast=0,1
    c0 wait cta0.full 0; c1 wait cta1.full 0; c0 ld_shared b.0; c0 ld_shared b.1; c1 ld_shared b.0""",
)
# --- waits of barriers that no load touches ---------------------------------------------------------------------------
_add(
    "wrong parity of an arrive-only barrier",
    "race|hang",
    "parity_counts_barrier_phases",
    "init init b 1; m arrive b; e wait b 1",
)
_add(
    "the same parity twice, and both phases complete",
    "race|hang",
    "parity_counts_barrier_phases",
    "init init b 1; m arrive b; w wait b 0; m wait b 0; m arrive b; w wait b 0",
)
_add("a phase waited for twice", "completes", None, "init init b 1; m arrive b; w wait b 0; w wait b 0")
_add("a barrier off 8 bytes", "error", "mbarrier_address_align_8", "init init b 1 address=12; p arrive b")
_add("a barrier at 8 bytes", "completes", None, "init init b 1 address=24; p arrive b; p wait b 0")

# --- each CTA initialises its own barrier -----------------------------------------------------------------------------
OWN = """c0 init cta0.full 1; c0 fence_mbarrier_init; c1 init cta1.full 1; c1 fence_mbarrier_init
    c0 cluster_sync; c1 cluster_sync; c0 arrive_expect_tx cta0.full 64; c1 arrive_expect_tx cta1.full 64
    c0 tma_load full 64 s multicast=0,1; c0 wait cta0.full 0; c1 wait cta1.full 0; c1 ld_shared s"""
_add("init, fence, cluster_sync, multicast", "completes", "mbarrier_init_cluster_visibility", OWN)
_add(
    "the same without cluster_sync",
    "race",
    "mbarrier_init_cluster_visibility",
    OWN.replace("c0 cluster_sync; c1 cluster_sync; ", ""),
)
_add(
    "the same with cta_sync in each CTA",
    "race",
    "mbarrier_init_cluster_visibility",
    OWN.replace("c0 cluster_sync; c1 cluster_sync", "c0 cta_sync; c1 cta_sync"),
)
_add(
    "a remote arrival before the cluster meets",
    "race",
    "mbarrier_init_cluster_visibility",
    "c1 init cta1.b 1; c1 fence_mbarrier_init; c0 arrive cta1.b; c1 wait cta1.b 0",
)
_add(
    "two parts of one stage under one name",
    "completes",
    None,
    """
    init init full 1; p arrive_expect_tx full 128; p tma_load full 64 s; p tma_load full 64 s; c wait full 0
    c ld_shared s""",
)
_add(
    "a multicast by a plain name, the barriers by their CTA",
    "completes",
    None,
    """
    init init cta0.full 1; init init cta1.full 1; c0 arrive_expect_tx full 64; c1 arrive_expect_tx full 64
    c0 tma_load full 64 s multicast; c0 wait full 0; c1 wait full 0; c1 ld_shared s""",
)
_add(
    "the same, and the peer does not arm",
    "hang",
    "multicast_signals_every_destination_barrier",
    """
    init init cta0.full 1; init init cta1.full 1; c0 arrive_expect_tx full 64
    c0 tma_load full 64 s multicast; c0 wait full 0; c1 wait full 0""",
)
_add(
    "half of one load lands, and another lands unlisted",
    "hang",
    "expect_tx_equals_delivered",
    """
    init init a 1; init init b 1; p arrive_expect_tx a 128; p tma_load a 128; p arrive_expect_tx b 64; p tma_load b 64
    hw complete_tx a 64; c wait b 0; c wait a 0""",
)
