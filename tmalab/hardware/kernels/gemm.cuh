// What every rung of the ladder of matrix products shares: what it is asked, waits with a bound, and stamps.
//
//   C[m][n] = sum over k of A[m][k] * B[n][k]      bf16, rows of lda, ldb, ldc elements; float32 sums
//
// The host side is tmalab/hardware/gemm_probe.py; tmalab/experiment/gemm_plan.py plans the launch.
#pragma once
#include "ptx_barrier.cuh"

using bf16 = u16;  // its bits

constexpr u64 WAIT_NS = 200'000'000;  // of one wait, and not of the kernel
constexpr u64 LOOK_NS = 100'000;      // a wait as long as this looks whether another has given up
constexpr u32 TRACED_STEPS = 160, TRACED_TILES = 8;

enum What : u32 { FULL = 1, EMPTY, STAGED };  // what a wait was for

// Zeros: all that was waited for came.
struct Report {
  u32 waiting_for, block, step, parity;
};

// Of block 0, as low halves of clock64: begin and end of each wait and of each tile's way out. Both clocks, twice.
struct Trace {
  u32 waits[3][TRACED_STEPS][2];  // role 0: who fills a stage; 1, 2: who reads it
  u32 epilogues[2][TRACED_TILES][2];
  u64 cycles[2], ns[2];
};

struct Problem {
  const bf16* a;
  const bf16* b;
  bf16* c;
  Report* report;
  Trace* trace;  // read where TMALAB_TRACE is defined
  u32 m, n, k, lda, ldb, ldc;
  u32 tiles_m, tiles_n;  // how many tiles cover C
  void* workspace;       // zeros at first, and zeros where a kernel leaves them; for rungs that ask for one
};

struct Tile {
  u32 row, column;  // counted in tiles
};

__host__ __device__ constexpr u32 ceil_div(u32 a, u32 b) { return (a + b - 1) / b; }

// [wait]
// A phase that has completed costs one try; only after a try that failed is the timer read. A thread that has waited
// too long says what for, and all others give up soon: false. From then on a thread fills and frees no stage, reads what
// is there, and the kernel ends. No reader leaves early: where one might, the compiler lets no product run beside the
// next (ptxas C7518).
__device__ __forceinline__ bool wait(const Problem& problem, u64* barrier, u32 parity, What what, u32 step) {
  u64 start_ns = 0;
  while (!mbarrier_try_wait_parity(barrier, parity)) {
    const u64 now_ns = globaltimer();
    if (start_ns == 0) start_ns = now_ns;
    if (now_ns - start_ns < LOOK_NS) continue;
    if (ld_volatile_global_u32(&problem.report->waiting_for)) return false;
    if (now_ns - start_ns < WAIT_NS) continue;
    if (atomicCAS(&problem.report->waiting_for, 0u, what) == 0u) {
      problem.report->block = blockIdx.x;
      problem.report->step = step;
      problem.report->parity = parity;
    }
    return false;
  }
  return true;
}
// [wait-end]

// --- stamps, in a build that is not timed ---------------------------------------------------------------------------

#ifdef TMALAB_TRACE
constexpr bool TRACED = true;
#else
constexpr bool TRACED = false;
#endif

// One thread of each role of block 0.
__device__ __forceinline__ bool stamps() { return TRACED && blockIdx.x == 0 && threadIdx.x % 128 == 0; }

__device__ __forceinline__ void stamp_pair(u32 (&pair)[2], u32 begin) {
  pair[0] = begin;
  pair[1] = static_cast<u32>(clock64_now());
}

__device__ __forceinline__ u32 stamp_begin() { return TRACED ? static_cast<u32>(clock64_now()) : 0; }

// The steps are counted over the block's whole life.
__device__ __forceinline__ void stamp_step(const Problem& problem, u32 role, u32 step, u32 begin) {
  if (stamps() && step < TRACED_STEPS) stamp_pair(problem.trace->waits[role][step], begin);
}

__device__ __forceinline__ void stamp_epilogue(const Problem& problem, u32 consumer, u32 tile, u32 begin) {
  if (stamps() && tile < TRACED_TILES) stamp_pair(problem.trace->epilogues[consumer][tile], begin);
}

__device__ __forceinline__ bool traced_wait(const Problem& problem, u32 role, u32 step, u64* barrier, u32 parity,
                                            What what) {
  const u32 begin = stamp_begin();
  const bool came = wait(problem, barrier, parity, what, step);
  stamp_step(problem, role, step, begin);
  return came;
}

// At a block's start (which = 0) and end (1): its clock beside the world's.
__device__ __forceinline__ void stamp_clocks(const Problem& problem, u32 which) {
  if (TRACED && blockIdx.x == 0 && threadIdx.x == 0) {
    problem.trace->cycles[which] = clock64_now();
    problem.trace->ns[which] = globaltimer();
  }
}

// --- the order of tiles ---------------------------------------------------------------------------------------------

// [order]
// The `at`-th tile: GROUP rows of tiles at a time, column by column, so that the blocks that run together read few rows
// of A and few of B, and find them in the L2 cache.
template <u32 GROUP>
__device__ __forceinline__ Tile tile_at(u32 at, u32 tiles_m, u32 tiles_n) {
  const u32 first_row = at / (GROUP * tiles_n) * GROUP, rest = at % (GROUP * tiles_n);
  const u32 rows = min(GROUP, tiles_m - first_row);  // the last group may have fewer
  return {first_row + rest % rows, rest / rows};
}
// [order-end]
