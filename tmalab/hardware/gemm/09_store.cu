// Rung 9: the way out. A warp writes its accumulators into shared memory, swizzled, and the engine takes them to C in
// the background: the consumers begin the next tile at once. What lies outside C the engine leaves out.
//
//   d ──stmatrix──▶ 16 rows of 128 bytes ──fence──▶ TMA store      two buffers a warp, 64 columns each
//
// Launch: a block a multiprocessor, in pairs, 384 threads, as rung 8.
#include "gemm_tile.cuh"
#include "ptx_cluster.cuh"
#include "ptx_multicast.cuh"
#include "ptx_shared.cuh"
#include "ptx_tensor.cuh"

constexpr u32 BM = 128, BN = 256, BK = 64, STAGES = 4, THREADS = 384;
constexpr u32 GROUP = 8, CLUSTER = 2;  // GROUP counts pairs of tiles
constexpr u32 OUT_ROWS = 16, OUT_COLUMNS = 64;  // of a store: a warp's rows, one swizzled row's columns

struct Shared {
  alignas(1024) bf16 a[STAGES][BM * BK];
  alignas(1024) bf16 b[STAGES][BN * BK];
  alignas(1024) bf16 out[8][2][OUT_ROWS * OUT_COLUMNS];  // of each consuming warp
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

// A stage is empty when both blocks have read it: the first two lanes of a warp tell one block each.
__device__ __forceinline__ void release(u64* empty) {
  const u32 lane = threadIdx.x % 32;
  if (lane < CLUSTER) mbarrier_arrive_shared_cluster(mapa_shared_cluster(empty, lane));
}

// [epilogue]
// One warp's 16 x 256 accumulators. The thread that commits a store is the one that can wait for it: lane 0.
__device__ __forceinline__ void store_tile(Shared& shared, const CUtensorMap& map_c, float (&d)[BN / 2], u32 first_row,
                                           u32 first_column) {
  const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32 - 4;
  const u32 row = lane % 16, right = lane / 16;  // whose 16 bytes this lane addresses: of two neighbouring chunks
#pragma unroll
  for (u32 part = 0; part < BN / OUT_COLUMNS; ++part) {
    bf16* out = shared.out[warp][part % 2];
    if (lane == 0) cp_async_bulk_wait_group_read<1>();  // the store before the last has read its buffer
    __syncwarp();
#pragma unroll
    for (u32 chunk = 0; chunk < OUT_COLUMNS / 8; chunk += 2) {
      const float* from = &d[4 * (part * OUT_COLUMNS / 8 + chunk)];
      const uint4 packed = {cvt_rn_bf16x2_f32(from[1], from[0]), cvt_rn_bf16x2_f32(from[3], from[2]),
                            cvt_rn_bf16x2_f32(from[5], from[4]), cvt_rn_bf16x2_f32(from[7], from[6])};
      stmatrix_x4(shared_address(out) + row * ROW_BYTES + ((chunk + right) ^ row % 8) * 16, packed);
    }
    fence_proxy_async_shared_cta();
    __syncwarp();
    if (lane == 0) {
      cp_async_bulk_tensor_2d_global_shared_cta_tile(&map_c, first_column + part * OUT_COLUMNS, first_row, out);
      cp_async_bulk_commit_group();
    }
  }
}
// [epilogue-end]

__device__ __forceinline__ void consume(Shared& shared, const CUtensorMap& map_c, const Problem& problem,
                                        u32 consumer) {
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
    const u32 first_row = tile.row * BM + consumer * 64 + threadIdx.x % 128 / 32 * OUT_ROWS;
    store_tile(shared, map_c, d, first_row, tile.column * BN);
    stamp_epilogue(problem, consumer, tiles, begin);
  }
  cp_async_bulk_wait_group<0>();
}

extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(THREADS, 1)
    gemm(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
         const __grid_constant__ CUtensorMap map_c, const __grid_constant__ Problem problem) {
  extern __shared__ __align__(1024) unsigned char raw[];
  Shared& shared = *reinterpret_cast<Shared*>(raw);
  stamp_clocks(problem, 0);
  if (threadIdx.x == 0) {
    for (u32 stage = 0; stage < STAGES; ++stage) {
      mbarrier_init(&shared.full_barrier[stage], 1);
      mbarrier_init(&shared.empty_barrier[stage], 8 * CLUSTER);
    }
    fence_mbarrier_init();
  }
  barrier_cluster_arrive();
  barrier_cluster_wait();  // the other block's barriers are ready too
  const u32 warpgroup = threadIdx.x / 128;
  if (warpgroup == 0) {
    setmaxnreg_dec<40>();
    if (threadIdx.x == 0) produce(shared, map_a, map_b, problem);
  } else {
    setmaxnreg_inc<232>();
    consume(shared, map_c, problem, warpgroup - 1);
  }
  stamp_clocks(problem, 1);
  barrier_cluster_arrive();
  barrier_cluster_wait();  // the other block may still write and arrive here
}
