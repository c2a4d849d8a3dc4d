// Waits that count their tries: bounded as wait_for_phase is, by the multiprocessor's clock.
//
// Called by a whole warp: a try_wait of a single lane does not sleep (measured on an H200), and where one lane waits alone
// the others stand at the end of its branch.
#pragma once
#include "ptx.cuh"

struct Waited {
  bool completed;
  u32 tries;
  u64 end_cycles;
};

// Looks without sleeping, sixteen times between two branches, since a branch on the answer takes longer than a look: the
// end of the phase is seen within some forty cycles, and the function returns up to fifteen looks later. For watchers.
__device__ __forceinline__ Waited watch_phase(u64* barrier, u32 phase_parity, u64 most_cycles) {
  constexpr u32 LOOKS = 16;
  const u64 until = clock64_now() + most_cycles;
  u64 end = 0;
  u32 tries = 0;
  do {
#pragma unroll
    for (u32 look = 0; look < LOOKS; ++look) {
      const u32 done = mbarrier_test_wait_parity(barrier, phase_parity);
      const u64 now = clock64_now() + (done >> 1);  // after the answer has come
      if (end == 0) {
        ++tries;
        if (done) end = now;
      }
    }
  } while (end == 0 && clock64_now() < until);
  return {end != 0, tries, end};
}

// As kernels wait: a try may sleep until the phase completes, so one is often enough.
__device__ __forceinline__ Waited try_for_phase(u64* barrier, u32 phase_parity, u64 most_cycles) {
  const u64 until = clock64_now() + most_cycles;
  u32 tries = 1;
  while (!mbarrier_try_wait_parity(barrier, phase_parity)) {
    if (clock64_now() > until) return {false, tries, 0};
    ++tries;
  }
  return {true, tries, clock64_now()};
}
