// Rung 8: a cluster of two. Two blocks whose tiles lie below each other need the same tile of B: each loads half of it,
// and the engine writes that half into both. Of B, half as many bytes leave the L2 cache.
//
//   block 0   own A, B's rows   0 - 127 ─▶ both        full[s]    own arrival; own A and both halves of B in bytes
//   block 1   own A, B's rows 128 - 255 ─▶ both        empty[s]   the consumers of both blocks: 16 warps
//
// Launch: a block a multiprocessor, in pairs, 384 threads.
#include "gemm_tile.cuh"
#include "ptx_cluster.cuh"
#include "ptx_multicast.cuh"
#include "ptx_tensor.cuh"

constexpr u32 BM = 128, BN = 256, BK = 64, STAGES = 4, THREADS = 384;
constexpr u32 GROUP = 8, CLUSTER = 2;  // GROUP counts pairs of tiles

struct Shared {
  alignas(1024) bf16 a[STAGES][BM * BK];
  alignas(1024) bf16 b[STAGES][BN * BK];
  u64 full_barrier[STAGES], empty_barrier[STAGES];
};

// Pairs of tiles, and this block's of the `at`-th pair; below an odd last row it lies outside C.
__device__ __forceinline__ u32 pairs(const Problem& problem) {
  return ceil_div(problem.tiles_m, CLUSTER) * problem.tiles_n;
}

__device__ __forceinline__ Tile own_tile(const Problem& problem, u32 at) {
  const Tile pair = tile_at<GROUP>(at, ceil_div(problem.tiles_m, CLUSTER), problem.tiles_n);
  return {pair.row * CLUSTER + cluster_ctarank(), pair.column};
}

// [produce]
__device__ __forceinline__ void produce(Shared& shared, const CUtensorMap& map_a, const CUtensorMap& map_b,
                                        const Problem& problem) {
  const u32 half = cluster_ctarank() * (BN / CLUSTER);  // the rows of B that this block loads, for both
  u32 step = 0;
  for (u32 at = blockIdx.x / CLUSTER; at < pairs(problem); at += gridDim.x / CLUSTER) {
    const Tile tile = own_tile(problem, at);
    for (u32 k = 0; k < problem.k; k += BK, ++step) {
      const u32 stage = step % STAGES;
      u64* full = &shared.full_barrier[stage];
      if (!traced_wait(problem, 0, step, &shared.empty_barrier[stage], step / STAGES % 2 ^ 1, EMPTY)) return;
      mbarrier_arrive_expect_tx(full, (BM + BN) * BK * sizeof(bf16));
      cp_async_bulk_tensor_2d_shared_cluster_global_tile(shared.a[stage], &map_a, k, tile.row * BM, full);
      cp_async_bulk_tensor_2d_shared_cluster_global_tile_multicast_cluster(
          shared.b[stage] + half * BK, &map_b, k, tile.column * BN + half, full, 0b11);
    }
  }
}
// [produce-end]

// [release]
// A stage is empty when both blocks have read it: the first two lanes of a warp tell one block each.
__device__ __forceinline__ void release(u64* empty) {
  const u32 lane = threadIdx.x % 32;
#ifdef TMALAB_FENCED  // what it costs to order more than a tile's reads: the case gemm/fenced
  if (lane < CLUSTER) mbarrier_arrive_release_cluster_shared_cluster(mapa_shared_cluster(empty, lane));
#else
  if (lane < CLUSTER) mbarrier_arrive_shared_cluster(mapa_shared_cluster(empty, lane));
#endif
}
// [release-end]

__device__ __forceinline__ void consume(Shared& shared, const Problem& problem, u32 consumer) {
  u32 step = 0, tiles = 0;
  bool came = true;
  for (u32 at = blockIdx.x / CLUSTER; at < pairs(problem); at += gridDim.x / CLUSTER, ++tiles) {
    const Tile tile = own_tile(problem, at);
    float d[BN / 2];
    for (u32 k = 0; k < problem.k; k += BK, ++step) {
      const u32 stage = step % STAGES;
      came = traced_wait(problem, 1 + consumer, step, &shared.full_barrier[stage], step / STAGES % 2, FULL) && came;
      wgmma_fence();
      multiply<BN>(d, shared.a[stage] + consumer * 64 * BK, shared.b[stage], k == 0);
      wgmma_commit_group();
      wgmma_wait_group<1>();
      if (came && k > 0) release(&shared.empty_barrier[(step - 1) % STAGES]);
    }
    wgmma_wait_group<0>();
    if (came) release(&shared.empty_barrier[(step - 1) % STAGES]);
    keep_accumulators(d);
    const u32 begin = stamp_begin();
    store<BN>(problem, d, tile.row * BM + consumer * 64, tile.column * BN);
    stamp_epilogue(problem, consumer, tiles, begin);
  }
}

extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(THREADS, 1)
    gemm(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
         const __grid_constant__ CUtensorMap, const __grid_constant__ Problem problem) {
  extern __shared__ __align__(1024) unsigned char raw[];
  Shared& shared = *reinterpret_cast<Shared*>(raw);
  stamp_clocks(problem, 0);
  // [cluster]
  if (threadIdx.x == 0) {
    for (u32 stage = 0; stage < STAGES; ++stage) {
      mbarrier_init(&shared.full_barrier[stage], 1);
      mbarrier_init(&shared.empty_barrier[stage], 8 * CLUSTER);
    }
    fence_mbarrier_init();
  }
  barrier_cluster_arrive();
  barrier_cluster_wait();  // the other block's barriers are ready too
  // [cluster-end]
  const u32 warpgroup = threadIdx.x / 128;
  if (warpgroup == 0) {
    setmaxnreg_dec<40>();
    if (threadIdx.x == 0) produce(shared, map_a, map_b, problem);
  } else {
    setmaxnreg_inc<232>();
    consume(shared, problem, warpgroup - 1);
  }
  stamp_clocks(problem, 1);
  barrier_cluster_arrive();
  barrier_cluster_wait();  // the other block may still write and arrive here
}
