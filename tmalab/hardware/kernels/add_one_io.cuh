// What the three add_one kernels share: the tile's shape, the report, and time stamps that only a timed build has.
//
// The compiler option -DTMALAB_STAMPS=1 turns the stamps on. Registers and instructions are counted without it, so that
// the clock reads are in no count.
#pragma once
#include "ptx.cuh"

constexpr int ROWS = 8;
constexpr int COLUMNS = 32;  // one column a thread, one warp
constexpr u64 WAIT_NS = 2'000'000;

struct Report {
  u64 waiting_for;  // 0: nothing, the kernel finished; 1: the phase that the load of `a` completes
  u64 stamps[4];    // clock64 before the load, tile in shared memory, one added, tile in global memory
};

#ifdef TMALAB_STAMPS
#define STAMP(stage) const u64 stamp_##stage = clock64_now()
// Plain stores return at once; the TMA store is waited for. The fence makes "out" end alike: written, not just issued.
#define STAMP_WRITTEN(stage) \
  __threadfence();           \
  STAMP(stage)
#define KEEP_STAMPS(report)             \
  if (threadIdx.x == 0) {               \
    (report)->stamps[0] = stamp_start;  \
    (report)->stamps[1] = stamp_loaded; \
    (report)->stamps[2] = stamp_added;  \
    (report)->stamps[3] = stamp_stored; \
  }
#else
#define STAMP(stage)
#define STAMP_WRITTEN(stage)
#define KEEP_STAMPS(report)
#endif
