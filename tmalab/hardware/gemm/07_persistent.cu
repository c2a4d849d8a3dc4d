// Rung 7: persistent. A block a multiprocessor takes tile after tile: while the consumers store one, the producer
// already fills the stages for the next. And the order is chosen, so that what neighbours read is in the L2 cache.
//
//   block b   tiles b, b + blocks, b + 2 blocks …      of an order that goes down GROUP rows of tiles, then right
//
// Launch: a block a multiprocessor, 384 threads, as rung 6.
#include "gemm_tile.cuh"
#include "ptx_tensor.cuh"

constexpr u32 BM = 128, BN = 256, BK = 64, STAGES = 4, THREADS = 384;
constexpr u32 GROUP = 16;

struct Shared {
  alignas(1024) bf16 a[STAGES][BM * BK];
  alignas(1024) bf16 b[STAGES][BN * BK];
  u64 full_barrier[STAGES], empty_barrier[STAGES];
};

// [produce]
__device__ __forceinline__ void produce(Shared& shared, const CUtensorMap& map_a, const CUtensorMap& map_b,
                                        const Problem& problem) {
  u32 step = 0;  // of the block's whole life: stages and parities go on from tile to tile
  for (u32 at = blockIdx.x; at < problem.tiles_m * problem.tiles_n; at += gridDim.x) {
    const Tile tile = tile_at<GROUP>(at, problem.tiles_m, problem.tiles_n);
    for (u32 k = 0; k < problem.k; k += BK, ++step) {
      const u32 stage = step % STAGES;
      u64* full = &shared.full_barrier[stage];
      if (!traced_wait(problem, 0, step, &shared.empty_barrier[stage], step / STAGES % 2 ^ 1, EMPTY)) return;
      mbarrier_arrive_expect_tx(full, (BM + BN) * BK * sizeof(bf16));
      cp_async_bulk_tensor_2d_shared_cluster_global_tile(shared.a[stage], &map_a, k, tile.row * BM, full);
      cp_async_bulk_tensor_2d_shared_cluster_global_tile(shared.b[stage], &map_b, k, tile.column * BN, full);
    }
  }
}
// [produce-end]

// [consume]
__device__ __forceinline__ void consume(Shared& shared, const Problem& problem, u32 consumer) {
  u32 step = 0, tiles = 0;
  bool came = true;
  for (u32 at = blockIdx.x; at < problem.tiles_m * problem.tiles_n; at += gridDim.x, ++tiles) {
    const Tile tile = tile_at<GROUP>(at, problem.tiles_m, problem.tiles_n);
    float d[BN / 2];
    for (u32 k = 0; k < problem.k; k += BK, ++step) {
      const u32 stage = step % STAGES;
      came = traced_wait(problem, 1 + consumer, step, &shared.full_barrier[stage], step / STAGES % 2, FULL) && came;
      wgmma_fence();
      multiply<BN>(d, shared.a[stage] + consumer * 64 * BK, shared.b[stage], k == 0);
      wgmma_commit_group();
      wgmma_wait_group<1>();
      if (came && threadIdx.x % 32 == 0 && k > 0) mbarrier_arrive(&shared.empty_barrier[(step - 1) % STAGES]);
    }
    wgmma_wait_group<0>();
    if (came && threadIdx.x % 32 == 0) mbarrier_arrive(&shared.empty_barrier[(step - 1) % STAGES]);
    keep_accumulators(d);
    const u32 begin = stamp_begin();
    store<BN>(problem, d, tile.row * BM + consumer * 64, tile.column * BN);
    stamp_epilogue(problem, consumer, tiles, begin);
  }
}
// [consume-end]

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    gemm(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
         const __grid_constant__ CUtensorMap, const __grid_constant__ Problem problem) {
  extern __shared__ __align__(1024) unsigned char raw[];
  Shared& shared = *reinterpret_cast<Shared*>(raw);
  stamp_clocks(problem, 0);
  if (threadIdx.x == 0) {
    for (u32 stage = 0; stage < STAGES; ++stage) {
      mbarrier_init(&shared.full_barrier[stage], 1);
      mbarrier_init(&shared.empty_barrier[stage], 8);
    }
    fence_mbarrier_init();
  }
  __syncthreads();
  const u32 warpgroup = threadIdx.x / 128;
  if (warpgroup == 0) {
    setmaxnreg_dec<40>();
    if (threadIdx.x == 0) produce(shared, map_a, map_b, problem);
  } else {
    setmaxnreg_inc<232>();
    consume(shared, problem, warpgroup - 1);
  }
  stamp_clocks(problem, 1);
}
