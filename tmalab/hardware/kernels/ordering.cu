// Steps of the order taken away, thousands of times: is the barrier there when the engine looks, are the bytes?
//
//   INIT   write rubbish where the barrier goes, init, [fence], [CTA barrier], load: does the phase complete, rightly?
//   STORE  all threads write, [fence], [CTA barrier], [fence], one lane stores: do the new words reach global memory?
//   FETCH  all threads write global memory, [fence], [CTA barrier], one lane loads it: do the new words come?
//
// With `late_cycles` the last warp begins to write that much later than the others: nothing but the CTA barrier makes
// the issuing lane wait for it.
//
// Launch: any number of blocks of up to 512 threads. The host side is tmalab/hardware/ordering_probe.py.
#include "counted_wait.cuh"
#include "ptx_barrier.cuh"
#include "ptx_tensor.cuh"

enum Experiment : u32 { INIT, STORE, FETCH };
enum Publish : u32 { NEITHER, FENCE_MBARRIER_INIT, FENCE_PROXY_ASYNC };
enum Fence : u32 { BY_ALL = 1, AFTER_BARRIER_BY_ALL = 2, AFTER_BARRIER_BY_ISSUER = 4, CTA_BARRIER = 8 };
constexpr u32 TILE_BYTES = 4096, TILE_WORDS = TILE_BYTES / 4, ROWS = 32, SLOTS = 32;
constexpr u64 MOST_CYCLES = 200'000;

struct Request {
  u32 experiment, publish, order, rounds, late_cycles;  // `order`: bits of Fence
};

struct Counts {
  u32 runs, hung, wrong_runs, wrong_words;
};

struct Shared {
  alignas(1024) u32 tile[TILE_WORDS];
  alignas(16) u64 barriers[SLOTS];
  u32 wrong_words, hung;
};


// [init]
// Thread 32 issues and waits, thread 0 initialises; without the CTA barrier thread 0 does all of it.
__device__ void try_init(Shared& shared, const CUtensorMap* map, const Request& request, u32 round) {
  u64* barrier = &shared.barriers[round % SLOTS];
  if (threadIdx.x == 0) st_volatile_shared_cta(barrier, 0x5A5A5A5A5A5A5A5A);  // what lay there before
  for (u32 at = threadIdx.x; at < TILE_WORDS; at += blockDim.x) shared.tile[at] = 0;
  fence_proxy_async_shared_cta();
  __syncthreads();
  const bool has_barrier = request.order & CTA_BARRIER;
  if (threadIdx.x == 0) {
    mbarrier_init(barrier, 1);
    if (request.publish == FENCE_MBARRIER_INIT) fence_mbarrier_init();
    if (request.publish == FENCE_PROXY_ASYNC) fence_proxy_async_shared_cta();
  }
  if (has_barrier) __syncthreads();
  if (threadIdx.x == (has_barrier ? 32 : 0)) {
    cp_async_bulk_tensor_2d_shared_cluster_global_tile(shared.tile, map, 0, 0, barrier);
    mbarrier_arrive_expect_tx(barrier, TILE_BYTES);
    shared.hung = !try_for_phase(barrier, 0, MOST_CYCLES).completed;
    shared.wrong_words = shared.tile[TILE_WORDS - 1] != 1;  // completed before the last word came
  }
  __syncthreads();
  if (threadIdx.x == 0) mbarrier_inval(barrier);
}
// [init-end]

__device__ void be_late(u32 cycles) {
  if (threadIdx.x / 32 != blockDim.x / 32 - 1) return;
  const u64 until = clock64_now() + cycles;
  while (clock64_now() < until) {
  }
}

__device__ void count_wrong(Shared& shared, u32 wrong) {
  if (wrong) atomicAdd(&shared.wrong_words, wrong);
  __syncthreads();
}

// [store]
__device__ void try_store(Shared& shared, const CUtensorMap* map, const Request& request, u32 round, u32* memory) {
  const u32 value = round + 1;
  be_late(request.late_cycles);
  for (u32 at = threadIdx.x; at < TILE_WORDS; at += blockDim.x) shared.tile[TILE_WORDS - 1 - at] = value;
  if (request.order & BY_ALL) fence_proxy_async_shared_cta();
  if (request.order & CTA_BARRIER) __syncthreads();
  if (request.order & AFTER_BARRIER_BY_ALL) fence_proxy_async_shared_cta();
  if (threadIdx.x == 0) {
    if (request.order & AFTER_BARRIER_BY_ISSUER) fence_proxy_async_shared_cta();
    cp_async_bulk_tensor_2d_global_shared_cta_tile(map, 0, blockIdx.x * ROWS, shared.tile);
    cp_async_bulk_commit_group();
    cp_async_bulk_wait_group<0>();
  }
  __syncthreads();
  u32 wrong = 0;
  for (u32 at = threadIdx.x; at < TILE_WORDS; at += blockDim.x) {
    wrong += ld_volatile_global_u32(memory + blockIdx.x * TILE_WORDS + at) != value;
  }
  count_wrong(shared, wrong);
}
// [store-end]

// [fetch]
__device__ void try_fetch(Shared& shared, const CUtensorMap* map, const Request& request, u32 round, u32* memory) {
  u64* barrier = &shared.barriers[round % SLOTS];
  const u32 value = round + 2;
  if (threadIdx.x == 0) {
    mbarrier_init(barrier, 1);
    fence_mbarrier_init();
  }
  __syncthreads();
  be_late(request.late_cycles);
  for (u32 at = threadIdx.x; at < TILE_WORDS; at += blockDim.x) memory[blockIdx.x * TILE_WORDS + at] = value;
  if (request.order & BY_ALL) fence_proxy_async();
  if (request.order & CTA_BARRIER) __syncthreads();
  if (request.order & AFTER_BARRIER_BY_ALL) fence_proxy_async();
  if (threadIdx.x == 0) {
    if (request.order & AFTER_BARRIER_BY_ISSUER) fence_proxy_async();
    mbarrier_arrive_expect_tx(barrier, TILE_BYTES);
    cp_async_bulk_tensor_2d_shared_cluster_global_tile(shared.tile, map, 0, blockIdx.x * ROWS, barrier);
    shared.hung = !try_for_phase(barrier, 0, MOST_CYCLES).completed;
    mbarrier_inval(barrier);
  }
  __syncthreads();
  u32 wrong = 0;
  for (u32 at = threadIdx.x; at < TILE_WORDS; at += blockDim.x) wrong += shared.tile[at] != value;
  count_wrong(shared, wrong);
}
// [fetch-end]

extern "C" __global__ void __launch_bounds__(512)
    ordering(const __grid_constant__ CUtensorMap map, const __grid_constant__ Request request, u32* memory,
             Counts* counts) {
  __shared__ Shared shared;
  Counts own = {};
  for (u32 round = 0; round < request.rounds; ++round) {
    if (threadIdx.x == 0) shared.wrong_words = shared.hung = 0;
    __syncthreads();
    if (request.experiment == INIT) {
      try_init(shared, &map, request, round);
    } else if (request.experiment == STORE) {
      try_store(shared, &map, request, round, memory);
    } else {
      try_fetch(shared, &map, request, round, memory);
    }
    own.runs += 1;
    own.hung += shared.hung;
    own.wrong_runs += shared.wrong_words != 0;
    own.wrong_words += shared.wrong_words;
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    atomicAdd(&counts->runs, own.runs);
    atomicAdd(&counts->hung, own.hung);
    atomicAdd(&counts->wrong_runs, own.wrong_runs);
    atomicAdd(&counts->wrong_words, own.wrong_words);
  }
  const u64 settled = clock64_now() + 20'000;
  while (clock64_now() < settled) {
  }
}
