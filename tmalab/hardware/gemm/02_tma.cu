// Rung 2: TMA with one stage. One thread asks for both tiles and everybody waits for them: no registers, no addresses.
//
//   load ─▶ wait ─▶ multiply ─▶ load ─▶ …      the tiles lie as in rung 1: rows of 128 bytes
//
// Launch: a block a tile of C, 256 threads.
#include "gemm_mma.cuh"
#include "ptx_tensor.cuh"

constexpr u32 BM = 128, BN = 128, BK = 64, THREADS = 256;

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
  const u32 warp = threadIdx.x / 32, warp_row = warp / 4 * WARP_M, warp_column = warp % 4 * WARP_N;
  stamp_clocks(problem, 0);

  // [barrier]
  if (threadIdx.x == 0) {
    mbarrier_init(&shared.full_barrier, 1);
    fence_mbarrier_init();
  }
  __syncthreads();
  // [barrier-end]

  // [loop]
  Accumulators d = {};
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
    multiply(d, shared.a + warp_row * BK, shared.b + warp_column * BK);
    __syncthreads();  // all have read both tiles: they may be filled again
  }
  // [loop-end]

  const u32 begin = stamp_begin();
  store(problem, d, tile.row * BM + warp_row, tile.column * BN + warp_column);
  stamp_epilogue(problem, 0, 0, begin);
  stamp_clocks(problem, 1);
}
