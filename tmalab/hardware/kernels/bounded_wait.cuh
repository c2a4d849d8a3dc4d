// The only loop that waits: try_wait with a deadline read from %globaltimer, so that no kernel of this package hangs.
#pragma once
#include "ptx.cuh"

// True when the phase of `phase_parity` has completed; false when `timeout_ns` passed first. The timer is read only
// after a try that failed, so a phase that is already complete costs one instruction.
__device__ __forceinline__ bool wait_for_phase(u64* barrier, u32 phase_parity, u64 timeout_ns) {
  u64 deadline_ns = 0;
  while (!mbarrier_try_wait_parity(barrier, phase_parity)) {
    const u64 now_ns = globaltimer();
    if (deadline_ns == 0) deadline_ns = now_ns + timeout_ns;
    if (now_ns > deadline_ns) return false;
  }
  return true;
}
