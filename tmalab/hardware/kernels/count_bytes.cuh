// How many bytes a barrier is short of, or has had too many: found by experiment, with PTX's own operations only.
//
//   tx_count = armed - delivered     a phase completes when it is 0 (and no arrival is pending)
//
//   > 0   complete_tx one byte at a time until the phase completes: that many were missing
//   < 0   expect_tx one byte at a time until it completes: that many came too many
//
// The layout of the barrier's 64 bits is not documented, so they are not read.
#pragma once
#include "ptx.cuh"

constexpr s64 UNKNOWN = -(1ll << 40);

// Bytes delivered beyond those armed, negative if some are missing, UNKNOWN if `deadline_ns` passes first. The phase of
// `phase_parity` is incomplete and no arrival is pending. `most_missing`, `most_surplus` bound the search.
__device__ s64 surplus_of_open_phase(u64* barrier, u32 phase_parity, u32 most_missing, u32 most_surplus,
                                     u64 deadline_ns) {
  for (u32 missing = 1; missing <= most_missing; ++missing) {
    mbarrier_complete_tx(barrier, 1);
    if (mbarrier_test_wait_parity(barrier, phase_parity)) return -static_cast<s64>(missing);
    if (missing % 1024 == 0 && globaltimer() > deadline_ns) return UNKNOWN;
  }
  if (most_missing) mbarrier_expect_tx(barrier, most_missing);  // undo
  for (u32 surplus = 1; surplus <= most_surplus; ++surplus) {
    mbarrier_expect_tx(barrier, 1);  // measured on H200: an expect_tx that brings the count to 0 completes the phase
    if (mbarrier_test_wait_parity(barrier, phase_parity)) return surplus;
    if (surplus % 1024 == 0 && globaltimer() > deadline_ns) return UNKNOWN;
  }
  return UNKNOWN;
}

// The same after phase 0 completed: bytes that came after its end count against phase 1, which awaits one arrival.
__device__ s64 surplus_after_phase_0(u64* barrier, u32 most_surplus, u64 deadline_ns) {
  mbarrier_arrive(barrier);
  if (mbarrier_test_wait_parity(barrier, 1)) return 0;
  return surplus_of_open_phase(barrier, 1, 0, most_surplus, deadline_ns);
}
