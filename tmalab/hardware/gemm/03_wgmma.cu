// Rung 3: 128B swizzle and wgmma. The tensor core reads both tiles from shared memory itself, without a bank conflict.
//
//   one warpgroup      two products of 64 x 128 x 16 at a time: A's upper and lower 64 rows, each times the whole of B
//   per step of K      four of each, in one group
//
// Launch: a block a tile of C, 128 threads.
#include "gemm_tile.cuh"
#include "ptx_tensor.cuh"

constexpr u32 BM = 128, BN = 128, BK = 64, THREADS = 128;

struct Shared {
  alignas(1024) bf16 a[BM * BK];
  alignas(1024) bf16 b[BN * BK];
  u64 full_barrier;
};

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    gemm(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
         const __grid_constant__ CUtensorMap, const __grid_constant__ Problem problem) {
  extern __shared__ __align__(1024) unsigned char raw[];
  Shared& shared = *reinterpret_cast<Shared*>(raw);
  const Tile tile = {blockIdx.x / problem.tiles_n, blockIdx.x % problem.tiles_n};
  stamp_clocks(problem, 0);
  if (threadIdx.x == 0) {
    mbarrier_init(&shared.full_barrier, 1);
    fence_mbarrier_init();
  }
  __syncthreads();

  float upper[BN / 2], lower[BN / 2];  // of C's 128 rows; the first products do not read them
  const u32 steps = ceil_div(problem.k, BK);
  bool came = true;
  for (u32 step = 0; step < steps; ++step) {
    if (threadIdx.x == 0 && came) {
      const int k = step * BK;
      mbarrier_arrive_expect_tx(&shared.full_barrier, (BM + BN) * BK * sizeof(bf16));
      cp_async_bulk_tensor_2d_shared_cluster_global_tile(shared.a, &map_a, k, tile.row * BM, &shared.full_barrier);
      cp_async_bulk_tensor_2d_shared_cluster_global_tile(shared.b, &map_b, k, tile.column * BN, &shared.full_barrier);
    }
    came = traced_wait(problem, 1, step, &shared.full_barrier, step % 2, FULL) && came;
    // [products]
    wgmma_fence();
    multiply<BN>(upper, shared.a, shared.b, step == 0);
    multiply<BN>(lower, shared.a + 64 * BK, shared.b, step == 0);
    wgmma_commit_group();
    wgmma_wait_group<0>();
    // [products-end]
    __syncthreads();  // every warp's products have read both tiles
  }
  keep_accumulators(upper);
  keep_accumulators(lower);

  const u32 begin = stamp_begin();
  store<BN>(problem, upper, tile.row * BM, tile.column * BN);
  store<BN>(problem, lower, tile.row * BM + 64, tile.column * BN);
  stamp_epilogue(problem, 0, 0, begin);
  stamp_clocks(problem, 1);
}
