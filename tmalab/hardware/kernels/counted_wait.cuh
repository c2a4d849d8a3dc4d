// Waits that count their tries: bounded as wait_for_phase is, by the multiprocessor's clock.
//
// Called by a whole warp: where one lane waits alone, the others stand at the end of its branch, and the compiler's YIELD
// makes each try take three times as long (150 to 200 cycles in place of 70, measured on an H200).
#pragma once
#include "ptx.cuh"

struct Waited {
  bool completed;
  u32 tries;
};

// Looks again and again without sleeping: the end of the phase is seen within one try, tens of cycles.
__device__ __forceinline__ Waited spin_for_phase(u64* barrier, u32 phase_parity, u64 most_cycles) {
  const u64 until = clock64_now() + most_cycles;
  u32 tries = 1;
  while (!mbarrier_test_wait_parity(barrier, phase_parity)) {
    if (clock64_now() > until) return {false, tries};
    ++tries;
  }
  return {true, tries};
}

// As kernels wait: a try may sleep until the phase completes, so few are needed.
__device__ __forceinline__ Waited try_for_phase(u64* barrier, u32 phase_parity, u64 most_cycles) {
  const u64 until = clock64_now() + most_cycles;
  u32 tries = 1;
  while (!mbarrier_try_wait_parity(barrier, phase_parity)) {
    if (clock64_now() > until) return {false, tries};
    ++tries;
  }
  return {true, tries};
}
