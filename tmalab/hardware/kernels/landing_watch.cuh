// A word watched while a copy may write it: when it first differed from what lay there before.
//
// To read bytes that a copy in flight writes is a race by the book: that is the experiment. A look is stamped when its
// load is issued; four loads are under way at a time, so that looks follow each other faster than one load takes.
#pragma once
#include "ptx_barrier.cuh"

struct Landed {
  u64 before, first;  // the last look that saw the old word, the first that did not; 0: none
};

// [watch]
// By a whole warp, each lane its own word. A lane that has seen its word change goes on looking until all have; whether
// all have is asked every sixteen looks, because asking takes as long as several looks.
__device__ __forceinline__ Landed watch_word(const u32* word, u32 old_word, u64 most_cycles) {
  constexpr u32 LOOKS = 16, UNDER_WAY = 4;
  u32 words[UNDER_WAY];
  u64 times[UNDER_WAY];
  const u64 until = clock64_now() + most_cycles;
  u64 before = 0, first = 0;
#pragma unroll
  for (u32 slot = 0; slot < UNDER_WAY; ++slot) {
    words[slot] = old_word;
    times[slot] = 0;
  }
  do {
#pragma unroll
    for (u32 look = 0; look < LOOKS; ++look) {
      const u32 slot = look % UNDER_WAY;
      const bool changed = words[slot] != old_word;  // the load of four looks ago, back by now
      if (first == 0 && changed) first = times[slot];
      if (first == 0) before = times[slot];
      times[slot] = clock64_now();
      words[slot] = ld_volatile_shared_cta_u32(word);
    }
  } while (!__all_sync(0xFFFFFFFF, first != 0) && times[UNDER_WAY - 1] < until);
  return {before, first};
}
// [watch-end]

// [arrives]
constexpr u32 TX_BITS = 0x7FF;  // of a state's upper half: the byte count, negated, in steps of 2048 (measured, H200)

// Arrives again and again: every arrive returns the counts as they were before it. `note(at, state)` keeps one. When the
// bytes have come, one arrive brings all of the `states` arrivals that are left, and the phase completes.
template <typename Note>
__device__ __forceinline__ void watch_counts(u64* barrier, u32 states, Note note) {
  constexpr u32 AT_ONCE = 8;  // between two questions whether it is over, which take longer than an arrive
  bool was_armed = false, is_over = false;
  u32 used = 0;
  while (!is_over && used + AT_ONCE < states) {
#pragma unroll
    for (u32 at = 0; at < AT_ONCE; ++at) {
      const u32 state = mbarrier_arrive(barrier) >> 32;
      note(used + at, state);
      const bool is_armed = state & TX_BITS;
      is_over |= was_armed && !is_armed;
      was_armed |= is_armed;
    }
    used += AT_ONCE;
  }
  mbarrier_arrive_shared_cta(barrier, states - used);
}
// [arrives-end]
