// One barrier over seven tiles: what each parity's wait returns, and which tile the consumer then reads.
//
// Tile i of the tensor holds i + 1 in every word, the buffer 0 before the first load: what the consumer reads tells
// whose bytes they are.
//
//   EARLY  all meet before and after every tile; the consumer waits at once, while the load is in flight
//   LATE   the same, but the consumer waits when the load has completed
//   FREE   as a pipeline runs: the consumer tells the producer through a second barrier that the buffer is free
//
// Warp 0 issues, warp 1 consumes, warp 2 asks for both parities. All of it runs twice; the first time only brings the
// instructions into the cache, EARLY and LATE with another tensor: their tiles come from memory, and take their time.
//
// Launch: 1 block of 96 threads. The host side is tmalab/hardware/parity_probe.py.
#include "counted_wait.cuh"
#include "ptx_barrier.cuh"
#include "ptx_tensor.cuh"

enum Rule : u32 { RIGHT, ALWAYS_0, ALWAYS_1, LOOP_INDEX, INVERTED };  // how the consumer chooses its parity
enum Pace : u32 { EARLY, LATE, FREE };
constexpr u32 TILES = 7, TILE_BYTES = 2048, TILE_ROWS = 16, ANSWERS = 12;
constexpr u64 ISSUED_CYCLES = 60;  // after these the load is under way
constexpr u64 MOST_CYCLES = 60'000;  // then the wait has hung

struct Request {
  u32 rule, pace;
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
  const Waited waited = try_for_phase(&shared.full_barrier, parity, MOST_CYCLES);
  u32 lowest = 0xFFFFFFFF, highest = 0;
  constexpr u32 WORDS = TILE_BYTES / 4 / 32;
  u32 words[WORDS];
#pragma unroll
  for (u32 at = 0; at < WORDS; ++at) words[at] = ld_volatile_shared_cta_u32(shared.tile + at * 32 + lane);
#pragma unroll
  for (u32 at = 0; at < WORDS; ++at) {
    lowest = min(lowest, words[at]);
    highest = max(highest, words[at]);
  }
  lowest = __reduce_min_sync(0xFFFFFFFF, lowest);
  highest = __reduce_max_sync(0xFFFFFFFF, highest);
  if (lane == 0) {
    answers[WAITED_CYCLES] = waited.completed ? waited.end_cycles - begin : MOST_CYCLES;
    answers[PARITY] = parity;
    answers[COMPLETED] = waited.completed;
    answers[TRIES] = waited.tries;
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
    if (threadIdx.x == 64) test_both(shared, tile, UNARMED_0);
    __syncthreads();
    if (threadIdx.x == 0) issue(shared, map, tile);
    if (warp == 1 && request.pace == EARLY) consume(shared, request, tile, lane);  // a barrier more, and it had landed
    if (threadIdx.x == 64) {
      const u64 issued = clock64_now() + ISSUED_CYCLES;
      while (clock64_now() < issued) {
      }
      test_both(shared, tile, FLIGHT_0);
    }
    __syncwarp();
    if (warp == 0) try_for_phase(&shared.full_barrier, tile & 1, MOST_CYCLES);
    __syncthreads();
    if (threadIdx.x == 64) test_both(shared, tile, AFTER_0);
    if (warp == 1 && request.pace == LATE) consume(shared, request, tile, lane);
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
      if (!try_for_phase(&shared.empty_barrier, tile & 1 ^ 1, 2 * MOST_CYCLES).completed) break;
      issue(shared, map, tile);
    }
  }
  __syncwarp();  // or the other lanes, which go on to spin, would take the issuing lane's turns
  if (warp == 1) {
    for (u32 tile = 0; tile < TILES; ++tile) {
      consume(shared, request, tile, lane);
      if (lane == 0) mbarrier_arrive(&shared.empty_barrier);
      __syncwarp();
    }
  }
}
// [free-end]

extern "C" __global__ void __launch_bounds__(96)
    parity(const __grid_constant__ CUtensorMap map, const __grid_constant__ CUtensorMap rehearsal_map,
           const __grid_constant__ Request request, u32* out) {
  __shared__ Shared shared;
#pragma unroll 1
  for (u32 pass = 0; pass < 2; ++pass) {
    // A free consumer that takes what is not there lets the producer arrive again: before a load from memory has come
    // that would be one arrival too many, and a fault. Its tiles are rehearsed themselves, and come from the L2.
    const CUtensorMap* used = pass == 0 && request.pace != FREE ? &rehearsal_map : &map;
    for (u32 at = threadIdx.x; at < TILE_BYTES / 4; at += blockDim.x) shared.tile[at] = 0;
    for (u32 at = threadIdx.x; at < TILES * ANSWERS; at += blockDim.x) (&shared.answers[0][0])[at] = 0;
    if (threadIdx.x == 0) {
      if (pass != 0) mbarrier_inval(&shared.full_barrier);
      if (pass != 0) mbarrier_inval(&shared.empty_barrier);
      mbarrier_init(&shared.full_barrier, 1);
      mbarrier_init(&shared.empty_barrier, 1);
      fence_mbarrier_init();
    }
    fence_proxy_async_shared_cta();
    __syncthreads();
    if (request.pace == FREE) {
      run_free(shared, used, request);
    } else {
      in_lockstep(shared, used, request);
    }
    const u64 settled = clock64_now() + 20'000;  // what is still in flight writes into this block's memory
    while (clock64_now() < settled) {
    }
    __syncthreads();
  }
  for (u32 at = threadIdx.x; at < TILES * ANSWERS; at += blockDim.x) out[at] = (&shared.answers[0][0])[at];
}
