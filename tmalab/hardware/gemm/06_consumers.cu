// Rung 6: two consumers. The tile is twice as wide, so that a byte of shared memory feeds more products, and two
// warpgroups share it. Their accumulators need registers that the producer has no use for: setmaxnreg moves them.
//
//   registers a thread   at launch 168, 168, 168  ─▶  producer 40, consumers 232 each
//
// Launch: a block a tile of C, 384 threads: warpgroup 0 produces with one thread, 1 and 2 each consume 64 rows.
#include "gemm_tile.cuh"
#include "ptx_tensor.cuh"

constexpr u32 BM = 128, BN = 256, BK = 64, STAGES = 4, THREADS = 384;

struct Shared {
  alignas(1024) bf16 a[STAGES][BM * BK];
  alignas(1024) bf16 b[STAGES][BN * BK];
  u64 full_barrier[STAGES], empty_barrier[STAGES];
};

__device__ __forceinline__ void produce(Shared& shared, const CUtensorMap& map_a, const CUtensorMap& map_b,
                                        const Problem& problem, const Tile& tile, u32 steps) {
  for (u32 step = 0; step < steps; ++step) {
    const u32 stage = step % STAGES;
    const int k = step * BK;
    u64* full = &shared.full_barrier[stage];
    if (!traced_wait(problem, 0, step, &shared.empty_barrier[stage], step / STAGES % 2 ^ 1, EMPTY)) return;
    mbarrier_arrive_expect_tx(full, (BM + BN) * BK * sizeof(bf16));
    cp_async_bulk_tensor_2d_shared_cluster_global_tile(shared.a[stage], &map_a, k, tile.row * BM, full);
    cp_async_bulk_tensor_2d_shared_cluster_global_tile(shared.b[stage], &map_b, k, tile.column * BN, full);
  }
}

// [consume]
// `consumer` 0 or 1: the upper or the lower 64 rows of the tile.
__device__ __forceinline__ void consume(Shared& shared, const Problem& problem, const Tile& tile, u32 steps,
                                        u32 consumer) {
  float d[BN / 2];  // 128 registers; the first products do not read them
  bool came = true;
  for (u32 step = 0; step < steps; ++step) {
    const u32 stage = step % STAGES;
    came = traced_wait(problem, 1 + consumer, step, &shared.full_barrier[stage], step / STAGES % 2, FULL) && came;
    wgmma_fence();
    multiply<BN>(d, shared.a[stage] + consumer * 64 * BK, shared.b[stage], step == 0);
    wgmma_commit_group();
    wgmma_wait_group<1>();
    if (came && threadIdx.x % 32 == 0 && step > 0) mbarrier_arrive(&shared.empty_barrier[(step - 1) % STAGES]);
  }
  wgmma_wait_group<0>();
  keep_accumulators(d);
  const u32 begin = stamp_begin();
  store<BN>(problem, d, tile.row * BM + consumer * 64, tile.column * BN);
  stamp_epilogue(problem, consumer, 0, begin);
}
// [consume-end]

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    gemm(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
         const __grid_constant__ CUtensorMap, const __grid_constant__ Problem problem) {
  extern __shared__ __align__(1024) unsigned char raw[];
  Shared& shared = *reinterpret_cast<Shared*>(raw);
  const Tile tile = {blockIdx.x / problem.tiles_n, blockIdx.x % problem.tiles_n};
  const u32 steps = ceil_div(problem.k, BK);
  stamp_clocks(problem, 0);
  if (threadIdx.x == 0) {
    for (u32 stage = 0; stage < STAGES; ++stage) {
      mbarrier_init(&shared.full_barrier[stage], 1);
      mbarrier_init(&shared.empty_barrier[stage], 8);  // the warps of both consumers
    }
    fence_mbarrier_init();
  }
  __syncthreads();
  // [registers]
  const u32 warpgroup = threadIdx.x / 128;
  if (warpgroup == 0) {
    setmaxnreg_dec<40>();
    if (threadIdx.x == 0) produce(shared, map_a, map_b, problem, tile, steps);
  } else {
    setmaxnreg_inc<232>();
    consume(shared, problem, tile, steps, warpgroup - 1);
  }
  // [registers-end]
  stamp_clocks(problem, 1);
}
