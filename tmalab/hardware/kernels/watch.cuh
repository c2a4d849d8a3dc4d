// A kernel built on ptx.cuh, watched: its waits end at a deadline, and the block says what it was waiting for.
//
//   mbarrier_init, …arrive…, expect_tx      do as before, and note count, arrivals and armed bytes in global memory
//   wait_for_phase, …try_wait…, test_wait   do as before; at the deadline every waiting thread exits, and the first
//                                           writes which barriers are waited for and what each is short of
//
// Include it first: what stands below it is renamed by macros, the kernel's own text stays as it is. A block has one
// deadline, counted from the first look of one of its threads at a barrier that was not ready.
//
// What is missing is found by experiment (as in count_bytes.cuh), with PTX's own operations and after everyone left:
//   no arrival pending   complete_tx (expect_tx) until the phase completes: that many bytes were missing (too many)
//   arrivals pending     one more arrival returns a state whose pending count is how many; arrive for all, then as above
#pragma once
#include "bounded_wait.cuh"
#include "ptx_watch.cuh"

constexpr int WATCHED_BARRIERS = 16;  // a block; what comes after them is not noted
constexpr int WATCHED_NAME = 40;      // bytes of a barrier's text, the last one 0
constexpr u32 MOST_STEPS = 1 << 15;   // of a search for missing bytes, and of one for bytes too many
constexpr u64 LEAVING_NS = 20000;     // from the deadline until the count: time for every other thread to leave
constexpr s64 NOT_FOUND = -(1ll << 40);

struct WatchedBarrier {
  u32 address;       // shared; its lowest bit is set, so that 0 means free
  u32 count;         // 0 where no init was seen
  u32 phase_parity;  // of the phase that the two below belong to
  u32 arrivals;
  u32 armed_bytes;
  // of a wait that passed the deadline
  u32 waiting_line, waiting_thread, waiting_parity;
  u32 pending_arrivals;
  u32 unused;
  s64 surplus_bytes;  // delivered beyond those armed; negative if some are missing
  char name[WATCHED_NAME];
};

struct WatchedBlock {
  u64 start_ns;
  u32 stopped;  // 1 once a thread has passed the deadline
  u32 unused;
  WatchedBarrier barriers[WATCHED_BARRIERS];
};

__device__ WatchedBlock* tmalab_watch;  // one a block of the grid; the host sets both
__device__ u64 tmalab_deadline_ns;

__device__ __forceinline__ WatchedBlock* watched_block() {
  return tmalab_watch + blockIdx.x + static_cast<u64>(gridDim.x) * (blockIdx.y + gridDim.y * blockIdx.z);
}

// The notes on the barrier at `address`, new ones if there are none yet; null when all are taken.
__device__ WatchedBarrier* notes_on(u32 address) {
  WatchedBarrier* barriers = watched_block()->barriers;
  for (u32 place = 0; place < WATCHED_BARRIERS; ++place) {
    WatchedBarrier* notes = barriers + (address / 8 + place) % WATCHED_BARRIERS;  // an array of barriers: one look each
    const u32 held = atomicCAS(&notes->address, 0u, address | 1u);
    if (held == 0u || held == (address | 1u)) return notes;
  }
  return nullptr;
}

__device__ void note_init(u64* addr, u32 count) {
  if (WatchedBarrier* notes = notes_on(shared_address(addr))) {
    notes->count = count;
    notes->phase_parity = notes->arrivals = notes->armed_bytes = 0;
  }
}

// Before an arrival or an expect_tx: it counts for the phase that is open now.
__device__ void note_phase(u64* addr, u32 arrivals, u32 bytes) {
  WatchedBarrier* notes = notes_on(shared_address(addr));
  if (!notes) return;
  const u32 open_parity = mbarrier_test_wait_parity(addr, 1) ? 0 : 1;  // the phase before it has the other parity
  if (atomicExch(&notes->phase_parity, open_parity) != open_parity) notes->arrivals = notes->armed_bytes = 0;
  if (arrivals) atomicAdd(&notes->arrivals, arrivals);
  if (bytes) atomicAdd(&notes->armed_bytes, bytes);
}

// How many bytes the open phase has had beyond those armed, when no arrival is pending.
__device__ s64 find_surplus(u64* addr, u32 phase_parity, u32 armed_bytes) {
  const u32 step = armed_bytes % 16 ? 1 : 16;  // what the engine delivers comes in multiples of 16
  const u32 most = armed_bytes > step * MOST_STEPS ? armed_bytes : step * MOST_STEPS;
  u32 moved = 0;
  for (; moved < most; moved += step) {
    mbarrier_complete_tx(addr, step);
    if (mbarrier_test_wait_parity(addr, phase_parity)) return -static_cast<s64>(moved + step);
  }
  mbarrier_expect_tx(addr, moved);  // undo
  for (moved = 0; moved < step * MOST_STEPS; moved += step) {
    mbarrier_expect_tx(addr, step);
    if (mbarrier_test_wait_parity(addr, phase_parity)) return moved + step;
  }
  mbarrier_complete_tx(addr, moved);  // undo
  return NOT_FOUND;
}

// What the phase that `notes` tells of is short of, or has too much of.
__device__ void find_missing(WatchedBarrier* notes) {
  u64* addr = static_cast<u64*>(__cvta_shared_to_generic(notes->address & ~1u));
  const u32 phase_parity = notes->waiting_parity;
  const bool armed = notes->phase_parity == phase_parity;  // else nobody has armed or arrived since the last phase
  const u32 armed_bytes = armed ? notes->armed_bytes : 0;
  notes->surplus_bytes = find_surplus(addr, phase_parity, armed_bytes);
  if (notes->surplus_bytes != NOT_FOUND) return;
  if (armed && notes->arrivals >= notes->count) return;  // nothing pending: an arrival too many would be a fault
  notes->pending_arrivals = mbarrier_pending_count(mbarrier_arrive(addr));
  for (u32 more = 1; more < notes->pending_arrivals; ++more) mbarrier_arrive(addr);
  const bool all_there = mbarrier_test_wait_parity(addr, phase_parity);
  notes->surplus_bytes = all_there ? 0 : find_surplus(addr, phase_parity, armed_bytes);
}

// The deadline has passed. Each barrier that a thread waits for is noted, the first thread of the block finds out what
// they are short of, and no thread returns.
__device__ __noinline__ void stop_waiting(u64* addr, u32 phase_parity, const char* name, u32 line) {
  WatchedBlock* block = watched_block();
  WatchedBarrier* notes = notes_on(shared_address(addr));
  if (!notes) {  // one barrier too many: the last place is worth more so
    notes = block->barriers + WATCHED_BARRIERS - 1;
    notes->address = shared_address(addr) | 1u;
    notes->count = notes->arrivals = notes->armed_bytes = 0;
  }
  if (atomicCAS(&notes->waiting_line, 0u, line) == 0u) {
    notes->waiting_thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    notes->waiting_parity = phase_parity;
    for (int at = 0; at < WATCHED_NAME - 1 && name[at]; ++at) notes->name[at] = name[at];
    __threadfence();
  }
  if (atomicCAS(&block->stopped, 0u, 1u) == 0u) {
    const u64 leave_ns = globaltimer() + LEAVING_NS;
    while (globaltimer() < leave_ns) {
    }
    for (WatchedBarrier& waited : block->barriers) {
      if (waited.waiting_line) find_missing(&waited);
    }
    __threadfence();
  }
  exit_thread();
}

// Called after a look that found the phase incomplete.
__device__ __forceinline__ void still_waiting(u64* addr, u32 phase_parity, const char* name, u32 line) {
  WatchedBlock* block = watched_block();
  const u64 now_ns = globaltimer();
  const u64 start_ns = atomicCAS(&block->start_ns, 0ull, now_ns);
  if (start_ns != 0 && now_ns > start_ns + tmalab_deadline_ns) stop_waiting(addr, phase_parity, name, line);
}

__device__ __forceinline__ bool watched_test_wait(u64* addr, u32 phase_parity, const char* name, u32 line) {
  if (mbarrier_test_wait_parity(addr, phase_parity)) return true;
  still_waiting(addr, phase_parity, name, line);
  return false;
}

__device__ __forceinline__ bool watched_wait(u64* addr, u32 phase_parity, const char* name, u32 line) {
  while (!watched_test_wait(addr, phase_parity, name, line)) {
  }
  return true;
}

__device__ __forceinline__ void watched_init(u64* addr, u32 count) {
  note_init(addr, count);
  mbarrier_init(addr, count);
}

__device__ __forceinline__ u64 watched_arrive(u64* addr) {
  note_phase(addr, 1, 0);
  return mbarrier_arrive(addr);
}

__device__ __forceinline__ u64 watched_arrive_expect_tx(u64* addr, u32 tx_count) {
  note_phase(addr, 1, tx_count);
  return mbarrier_arrive_expect_tx(addr, tx_count);
}

__device__ __forceinline__ void watched_expect_tx(u64* addr, u32 tx_count) {
  note_phase(addr, 0, tx_count);
  mbarrier_expect_tx(addr, tx_count);
}

#define mbarrier_init(addr, count) watched_init(addr, count)
#define mbarrier_arrive(addr) watched_arrive(addr)
#define mbarrier_arrive_expect_tx(addr, tx_count) watched_arrive_expect_tx(addr, tx_count)
#define mbarrier_expect_tx(addr, tx_count) watched_expect_tx(addr, tx_count)
#define mbarrier_test_wait_parity(addr, phase_parity) watched_test_wait(addr, phase_parity, #addr, __LINE__)
#define mbarrier_try_wait_parity(addr, phase_parity) watched_test_wait(addr, phase_parity, #addr, __LINE__)
#define wait_for_phase(addr, phase_parity, timeout_ns) watched_wait(addr, phase_parity, #addr, __LINE__)
