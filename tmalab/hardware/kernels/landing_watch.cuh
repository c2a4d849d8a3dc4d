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
// By a whole warp, each lane its own word. A lane that has seen its word change goes on looking until all have.
__device__ __forceinline__ Landed watch_word(const u32* word, u32 old_word, u64 most_cycles) {
  constexpr u32 LOOKS = 8, LAG = 4;
  u32 words[LOOKS];
  u32 times[LOOKS];
  const u64 begin = clock64_now();
  u32 before = 0, first = 0;
#pragma unroll
  for (u32 look = 0; look < LOOKS; ++look) {
    words[look] = old_word;
    times[look] = 0;
  }
  do {
#pragma unroll
    for (u32 look = 0; look < LOOKS; ++look) {
      times[look] = static_cast<u32>(clock64_now() - begin);
      words[look] = ld_volatile_shared_cta_u32(word);
      const u32 older = (look + LOOKS - LAG) % LOOKS;  // the load of four looks ago is back by now
      const bool changed = words[older] != old_word;
      if (first == 0 && changed) first = times[older];
      if (first == 0) before = times[older];
    }
  } while (!__all_sync(0xFFFFFFFF, first != 0) && clock64_now() - begin < most_cycles);
  return {before ? begin + before : 0, first ? begin + first : 0};
}
// [watch-end]
