// Rung 4: multi-stage. While the tensor core works on one stage, the next three are on their way.
//
//   stage    0  1  2  3  0  1 …      a stage is filled again one step later, when its products are known to be done
//
// Launch: a block a tile of C, 128 threads.
#include "gemm_tile.cuh"
#include "ptx_tensor.cuh"

constexpr u32 BM = 128, BN = 128, BK = 64, STAGES = 4, THREADS = 128;

struct Shared {
  alignas(1024) bf16 a[STAGES][BM * BK];
  alignas(1024) bf16 b[STAGES][BN * BK];
  u64 full_barrier[STAGES];
};

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    gemm(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
         const __grid_constant__ CUtensorMap, const __grid_constant__ Problem problem) {
  extern __shared__ __align__(1024) unsigned char raw[];
  Shared& shared = *reinterpret_cast<Shared*>(raw);
  const Tile tile = {blockIdx.x / problem.tiles_n, blockIdx.x % problem.tiles_n};
  stamp_clocks(problem, 0);
  if (threadIdx.x == 0) {
    for (u32 stage = 0; stage < STAGES; ++stage) mbarrier_init(&shared.full_barrier[stage], 1);
    fence_mbarrier_init();
  }
  __syncthreads();

  const u32 steps = ceil_div(problem.k, BK);
  // [load]
  auto load = [&](u32 step) {  // by one thread
    const u32 stage = step % STAGES;
    const int k = step * BK;
    u64* full = &shared.full_barrier[stage];
    mbarrier_arrive_expect_tx(full, (BM + BN) * BK * sizeof(bf16));
    cp_async_bulk_tensor_2d_shared_cluster_global_tile(shared.a[stage], &map_a, k, tile.row * BM, full);
    cp_async_bulk_tensor_2d_shared_cluster_global_tile(shared.b[stage], &map_b, k, tile.column * BN, full);
  };
  if (threadIdx.x == 0) {
    for (u32 step = 0; step < STAGES - 1 && step < steps; ++step) load(step);
  }
  // [load-end]

  // [loop]
  float upper[BN / 2], lower[BN / 2];
  bool came = true;
  for (u32 step = 0; step < steps; ++step) {
    const u32 stage = step % STAGES;
    came = traced_wait(problem, 1, step, &shared.full_barrier[stage], step / STAGES % 2, FULL) && came;
    wgmma_fence();
    multiply<BN>(upper, shared.a[stage], shared.b[stage], step == 0);
    multiply<BN>(lower, shared.a[stage] + 64 * BK, shared.b[stage], step == 0);
    wgmma_commit_group();
    wgmma_wait_group<1>();  // the step before is done, and its stage is the one that is filled next
    __syncthreads();
    if (threadIdx.x == 0 && came && step + STAGES - 1 < steps) load(step + STAGES - 1);
  }
  wgmma_wait_group<0>();
  // [loop-end]
  keep_accumulators(upper);
  keep_accumulators(lower);

  const u32 begin = stamp_begin();
  store<BN>(problem, upper, tile.row * BM, tile.column * BN);
  store<BN>(problem, lower, tile.row * BM + 64, tile.column * BN);
  stamp_epilogue(problem, 0, 0, begin);
  stamp_clocks(problem, 1);
}
