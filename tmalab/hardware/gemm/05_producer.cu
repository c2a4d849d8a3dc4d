// Rung 5: a producer of its own. One warp does nothing but fill stages, as soon as each is empty; four do nothing but
// multiply, as soon as each is full. Nobody waits for the whole block any more.
//
//   producer   wait empty[s] ─▶ arm full[s] ─▶ two loads
//   consumer   wait full[s]  ─▶ products    ─▶ arrive at empty[s - 1]: the step before is done
//
// Launch: a block a tile of C, 256 threads: warpgroup 0 produces with one thread, warpgroup 1 consumes.
#include "gemm_tile.cuh"
#include "ptx_tensor.cuh"

constexpr u32 BM = 128, BN = 128, BK = 64, STAGES = 4, THREADS = 256;

struct Shared {
  alignas(1024) bf16 a[STAGES][BM * BK];
  alignas(1024) bf16 b[STAGES][BN * BK];
  u64 full_barrier[STAGES], empty_barrier[STAGES];
};

// [produce]
__device__ __forceinline__ void produce(Shared& shared, const CUtensorMap& map_a, const CUtensorMap& map_b,
                                        const Problem& problem, const Tile& tile, u32 steps) {
  for (u32 step = 0; step < steps; ++step) {
    const u32 stage = step % STAGES, round = step / STAGES;
    const int k = step * BK;
    u64* full = &shared.full_barrier[stage];
    // In the first round the phase before the first counts as complete: a stage begins empty.
    if (!traced_wait(problem, 0, step, &shared.empty_barrier[stage], round % 2 ^ 1, EMPTY)) return;
    mbarrier_arrive_expect_tx(full, (BM + BN) * BK * sizeof(bf16));
    cp_async_bulk_tensor_2d_shared_cluster_global_tile(shared.a[stage], &map_a, k, tile.row * BM, full);
    cp_async_bulk_tensor_2d_shared_cluster_global_tile(shared.b[stage], &map_b, k, tile.column * BN, full);
  }
}
// [produce-end]

// [consume]
__device__ __forceinline__ void consume(Shared& shared, const Problem& problem, const Tile& tile, u32 steps) {
  float upper[BN / 2], lower[BN / 2];
  bool came = true;
  for (u32 step = 0; step < steps; ++step) {
    const u32 stage = step % STAGES;
    came = traced_wait(problem, 1, step, &shared.full_barrier[stage], step / STAGES % 2, FULL) && came;
    wgmma_fence();
    multiply<BN>(upper, shared.a[stage], shared.b[stage], step == 0);
    multiply<BN>(lower, shared.a[stage] + 64 * BK, shared.b[stage], step == 0);
    wgmma_commit_group();
    wgmma_wait_group<1>();
    if (came && threadIdx.x % 32 == 0 && step > 0) mbarrier_arrive(&shared.empty_barrier[(step - 1) % STAGES]);
  }
  wgmma_wait_group<0>();
  keep_accumulators(upper);
  keep_accumulators(lower);
  const u32 begin = stamp_begin();
  store<BN>(problem, upper, tile.row * BM, tile.column * BN);
  store<BN>(problem, lower, tile.row * BM + 64, tile.column * BN);
  stamp_epilogue(problem, 0, 0, begin);
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
      mbarrier_init(&shared.full_barrier[stage], 1);   // the producer's arrival, and the bytes
      mbarrier_init(&shared.empty_barrier[stage], 4);  // one arrival a warp of the consumer
    }
    fence_mbarrier_init();
  }
  __syncthreads();
  if (threadIdx.x / 128 == 0) {
    if (threadIdx.x == 0) produce(shared, map_a, map_b, problem, tile, steps);
  } else {
    consume(shared, problem, tile, steps);
  }
  stamp_clocks(problem, 1);
}
