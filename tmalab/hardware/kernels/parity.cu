// One barrier over seven tiles: what each parity's wait returns, and which tile the consumer then reads.
//
// Tile i of the tensor holds i + 1 in every word, the buffer 0 before the first load: what the consumer reads tells
// whose bytes they are.
//
//   LOCKSTEP  both warps meet before and after every tile, so that each answer has its moment: before the barrier is
//             armed, in flight, after the consumer's wait, after the load has completed
//   FREE      as a pipeline runs: the consumer tells the producer through a second barrier that the buffer is free
//
// Launch: 1 block of 64 threads. The host side is tmalab/hardware/parity_probe.py.
#include "counted_wait.cuh"
#include "ptx_barrier.cuh"
#include "ptx_tensor.cuh"

enum Rule : u32 { RIGHT, ALWAYS_0, ALWAYS_1, LOOP_INDEX, INVERTED };  // how the consumer chooses its parity
constexpr u32 TILES = 7, TILE_BYTES = 2048, TILE_ROWS = 16, ANSWERS = 12;
constexpr u64 MOST_CYCLES = 60'000;  // then the wait has hung

struct Request {
  u32 rule, is_free, sleeps;
};

enum Answer : u32 {
  UNARMED_0, UNARMED_1, FLIGHT_0, FLIGHT_1, PARITY, COMPLETED, TRIES, WAITED_CYCLES, LOWEST, HIGHEST, AFTER_0, AFTER_1,
};

struct Shared {
  alignas(128) u32 tile[TILE_BYTES / 4];
  u64 full_barrier, empty_barrier;
  u32 answers[TILES][ANSWERS];
};

__device__ u32 chosen_parity(u32 rule, u32 tile) {
  switch (rule) {
    case RIGHT: return tile & 1;
    case ALWAYS_0: return 0;
    case ALWAYS_1: return 1;
    case LOOP_INDEX: return tile;  // the operand is 0 or 1 by the manual
    default: return tile & 1 ^ 1;
  }
}

__device__ void issue(Shared& shared, const CUtensorMap* map, u32 tile) {
  mbarrier_arrive_expect_tx(&shared.full_barrier, TILE_BYTES);
  cp_async_bulk_tensor_2d_shared_cluster_global_tile(shared.tile, map, 0, tile * TILE_ROWS, &shared.full_barrier);
}

// The consumer's whole warp: wait as the rule says, then read the tile.
__device__ void consume(Shared& shared, const Request& request, u32 tile, u32 lane) {
  u32* answers = shared.answers[tile];
  const u32 parity = chosen_parity(request.rule, tile);
  const u64 begin = clock64_now();
  const Waited waited = request.sleeps ? try_for_phase(&shared.full_barrier, parity, MOST_CYCLES)
                                       : spin_for_phase(&shared.full_barrier, parity, MOST_CYCLES);
  const u64 end = clock64_now();
  if (lane == 0) {
    answers[WAITED_CYCLES] = end - begin;
    answers[PARITY] = parity;
    answers[COMPLETED] = waited.completed;
    answers[TRIES] = waited.tries;
  }
  __syncwarp();
  u32 lowest = 0xFFFFFFFF, highest = 0;
  for (u32 at = lane; at < TILE_BYTES / 4; at += 32) {
    const u32 word = ld_volatile_shared_cta_u32(shared.tile + at);
    lowest = min(lowest, word);
    highest = max(highest, word);
  }
  lowest = __reduce_min_sync(0xFFFFFFFF, lowest);
  highest = __reduce_max_sync(0xFFFFFFFF, highest);
  if (lane == 0) {
    answers[LOWEST] = lowest;
    answers[HIGHEST] = highest;
  }
}

__device__ void test_both(Shared& shared, u32 tile, Answer first) {
  shared.answers[tile][first] = mbarrier_test_wait_parity(&shared.full_barrier, 0);
  shared.answers[tile][first + 1] = mbarrier_test_wait_parity(&shared.full_barrier, 1);
}

// [lockstep]
__device__ void in_lockstep(Shared& shared, const CUtensorMap* map, const Request& request) {
  const u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (u32 tile = 0; tile < TILES; ++tile) {
    if (warp == 1 && lane == 0) test_both(shared, tile, UNARMED_0);
    __syncthreads();
    if (threadIdx.x == 0) issue(shared, map, tile);
    __syncthreads();
    if (warp == 1) {
      if (lane == 0) test_both(shared, tile, FLIGHT_0);
      consume(shared, request, tile, lane);
    }
    if (threadIdx.x == 0) spin_for_phase(&shared.full_barrier, tile & 1, MOST_CYCLES);
    __syncthreads();
    if (warp == 1 && lane == 0) test_both(shared, tile, AFTER_0);
    __syncthreads();
  }
}
// [lockstep-end]

// [free]
__device__ void run_free(Shared& shared, const CUtensorMap* map, const Request& request) {
  const u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    for (u32 tile = 0; tile < TILES; ++tile) {
      // the first pass waits for the phase before the first, which has completed
      if (!spin_for_phase(&shared.empty_barrier, tile & 1 ^ 1, 2 * MOST_CYCLES).completed) break;
      issue(shared, map, tile);
    }
  } else if (warp == 1) {
    for (u32 tile = 0; tile < TILES; ++tile) {
      consume(shared, request, tile, lane);
      if (lane == 0) mbarrier_arrive(&shared.empty_barrier);
      __syncwarp();
    }
  }
}
// [free-end]

extern "C" __global__ void __launch_bounds__(64)
    parity(const __grid_constant__ CUtensorMap map, const __grid_constant__ Request request, u32* out) {
  __shared__ Shared shared;
  for (u32 at = threadIdx.x; at < TILE_BYTES / 4; at += blockDim.x) shared.tile[at] = 0;
  for (u32 at = threadIdx.x; at < TILES * ANSWERS; at += blockDim.x) (&shared.answers[0][0])[at] = 0;
  if (threadIdx.x == 0) {
    mbarrier_init(&shared.full_barrier, 1);
    mbarrier_init(&shared.empty_barrier, 1);
    fence_mbarrier_init();
  }
  fence_proxy_async_shared_cta();
  __syncthreads();
  if (request.is_free) {
    run_free(shared, &map, request);
  } else {
    in_lockstep(shared, &map, request);
  }
  __syncthreads();
  for (u32 at = threadIdx.x; at < TILES * ANSWERS; at += blockDim.x) out[at] = (&shared.answers[0][0])[at];
  const u64 settled = clock64_now() + 20'000;  // what is still in flight writes into this block's memory
  while (clock64_now() < settled) {
  }
}
