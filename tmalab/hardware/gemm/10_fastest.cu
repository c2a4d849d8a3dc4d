// Rung 10: ping-pong. A consumer has a tile of its own: while one sends its tile out, the other multiplies, and the
// tensor cores never wait for an epilogue. 200 sums a thread leave room for 128 x 200, which fills whole waves at 8192.
//
//   consumer 0   multiply tile 0 ─turn─▶ out          multiply tile 2 ─turn─▶ out
//   consumer 1                    multiply tile 1 ─turn─▶ out          multiply tile 3
//
// A tile is a block's `number`-th; consumer number % 2 has it, and the stages go round through both. turn[c] is needed
// because a parity only says odd or even: two phases ahead of its data, a consumer would be let through at once.
//
// Launch: a block a multiprocessor, in pairs, 384 threads. BN and the shape of the way out are the compiler's options.
#include "gemm.cuh"
#include "ptx_cluster.cuh"
#include "ptx_multicast.cuh"
#include "ptx_shared.cuh"
#include "ptx_tensor.cuh"
#include "ptx_wgmma_more.cuh"

constexpr u32 BM = 128, BN = TMALAB_BN, BK = 64, STAGES = TMALAB_STAGES, THREADS = 384;
constexpr u32 GROUP = 8, CLUSTER = 2;  // GROUP counts pairs of tiles
constexpr u32 OUT_ROWS = 16, OUT_COLUMNS = TMALAB_OUT_COLUMNS, OUT_BUFFERS = TMALAB_OUT_BUFFERS;  // a warp's store
constexpr u32 PARTS = BN / OUT_COLUMNS, ROW_BYTES = OUT_COLUMNS * sizeof(bf16);

struct Shared {
  alignas(1024) bf16 a[STAGES][BM * BK];
  alignas(1024) bf16 b[STAGES][BN * BK];
  alignas(1024) bf16 out[8][OUT_BUFFERS][OUT_ROWS * OUT_COLUMNS];  // of each consuming warp
  u64 full_barrier[STAGES], empty_barrier[STAGES], turn_barrier[2];
};
constexpr What TURN = static_cast<What>(4);  // what a consumer may wait for, beside those of gemm.cuh
static_assert(BN % OUT_COLUMNS == 0 && 2 * PARTS % OUT_BUFFERS == 0 && OUT_ROWS * ROW_BYTES % 128 == 0);

// A stage and how often the ring has gone round, odd or even.
struct Ring {
  u32 stage = 0, parity = 0;
  __device__ __forceinline__ void advance(u32 steps) {
    parity ^= (stage + steps) / STAGES & 1;
    stage = (stage + steps) % STAGES;
  }
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
// Every other tile walks K backwards: what the last tile read at its end is still in the L2 cache.
__device__ __forceinline__ void produce(Shared& shared, const CUtensorMap& map_a, const CUtensorMap& map_b,
                                        const Problem& problem) {
  const u32 steps = ceil_div(problem.k, BK), half = cluster_ctarank() * (BN / CLUSTER);
  u32 step = 0;
  Ring ring;
  for (u32 at = blockIdx.x / CLUSTER; at < pairs(problem); at += gridDim.x / CLUSTER) {
    const Tile tile = own_tile(problem, at);
    const bool backwards = at / (gridDim.x / CLUSTER) % 2;
    for (u32 i = 0; i < steps; ++i, ++step, ring.advance(1)) {
      const u32 k = (backwards ? steps - 1 - i : i) * BK;
      u64* full = &shared.full_barrier[ring.stage];
      if (!traced_wait(problem, 0, step, &shared.empty_barrier[ring.stage], ring.parity ^ 1, EMPTY)) return;
      mbarrier_arrive_expect_tx(full, (BM + BN) * BK * sizeof(bf16));
      cp_async_bulk_tensor_2d_shared_cluster_global_tile(shared.a[ring.stage], &map_a, k, tile.row * BM, full);
      cp_async_bulk_tensor_2d_shared_cluster_global_tile_multicast_cluster(
          shared.b[ring.stage] + half * BK, &map_b, k, tile.column * BN + half, full, 0b11);
    }
  }
  for (u32 i = 0; i < STAGES; ++i, ring.advance(1)) {  // stay while the other block may still arrive here
    if (!wait(problem, &shared.empty_barrier[ring.stage], ring.parity ^ 1, EMPTY, step)) return;
  }
}
// [produce-end]

// A stage is empty when both blocks have read it: the first two threads of a consumer tell one block each.
__device__ __forceinline__ void release(u64* empty) {
  const u32 thread = threadIdx.x % 128;
  if (thread < CLUSTER) mbarrier_arrive_shared_cluster(mapa_shared_cluster(empty, thread));
}

// [step]
// d (two of 64 x BN) += 128 x 64 of A times 64 x BN of B, or = where `first`; issued, not finished.
__device__ __forceinline__ void multiply(float (&d)[2][BN / 2], const bf16* a, const bf16* b, bool first) {
  const u64 a_desc = matrix_descriptor(shared_address(a), 16, 1024, MatrixSwizzle::b128);
  const u64 b_desc = matrix_descriptor(shared_address(b), 16, 1024, MatrixSwizzle::b128);
  wgmma_fence();
#pragma unroll
  for (u32 k = 0; k < 4; ++k) {  // 16 of K are 32 bytes, 2 units of a descriptor; 64 rows are 512
    wgmma_m64k16<BN>(d[0], a_desc + 2 * k, b_desc + 2 * k, !first || k > 0);
    wgmma_m64k16<BN>(d[1], a_desc + 2 * k + 512, b_desc + 2 * k, !first || k > 0);
  }
  wgmma_commit_group();
}
// [step-end]

// [out]
// A warp's 16 x BN of one half. Rows of 128 bytes are swizzled; those of an odd number of 16 bytes conflict with none.
__device__ __forceinline__ void store_half(Shared& shared, const CUtensorMap& map_c, float (&d)[BN / 2], u32 half,
                                           u32 first_row, u32 first_column) {
  const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32 - 4, row = lane % OUT_ROWS;
#pragma unroll
  for (u32 part = 0; part < PARTS; ++part) {
    bf16* out = shared.out[warp][(half * PARTS + part) % OUT_BUFFERS];
    if (lane == 0) cp_async_bulk_wait_group_read<OUT_BUFFERS - 1>();  // the store that last had this buffer has read it
    __syncwarp();
#pragma unroll
    for (u32 chunk = 0; chunk < OUT_COLUMNS / 8; ++chunk) {
      const float* from = &d[4 * (part * OUT_COLUMNS / 8 + chunk)];
      const u32 place = ROW_BYTES == 128 ? chunk ^ row % 8 : chunk;
      stmatrix_x2(shared_address(out) + row * ROW_BYTES + place * 16,
                  {cvt_rn_bf16x2_f32(from[1], from[0]), cvt_rn_bf16x2_f32(from[3], from[2])});
    }
    fence_proxy_async_shared_cta();
    __syncwarp();
    if (lane == 0) {
      cp_async_bulk_tensor_2d_global_shared_cta_tile(&map_c, first_column + part * OUT_COLUMNS, first_row, out);
      cp_async_bulk_commit_group();
    }
  }
}
// [out-end]

// [consume]
__device__ __forceinline__ void consume(Shared& shared, const CUtensorMap& map_c, const Problem& problem,
                                        u32 consumer) {
  const u32 steps = ceil_div(problem.k, BK), clusters = gridDim.x / CLUSTER;
  u32 step = consumer * steps, own = 0;  // the other's steps are counted too, and its stages passed over
  Ring ring;
  ring.advance(step);
  bool came = true;
  for (u32 at = blockIdx.x / CLUSTER + consumer * clusters; at < pairs(problem); at += 2 * clusters, ++own) {
    float d[2][BN / 2];
    u32 last = 0;
    came = wait(problem, &shared.turn_barrier[consumer], (own + consumer + 1) % 2, TURN, step) && came;
    for (u32 i = 0; i < steps; ++i, ++step, ring.advance(1)) {
      came = traced_wait(problem, 1 + consumer, step, &shared.full_barrier[ring.stage], ring.parity, FULL) && came;
      multiply(d, shared.a[ring.stage], shared.b[ring.stage], i == 0);
      wgmma_wait_group<1>();
      if (came && i > 0) release(&shared.empty_barrier[last]);
      last = ring.stage;
    }
    if (threadIdx.x % 128 == 0) mbarrier_arrive(&shared.turn_barrier[1 - consumer]);  // all are issued, two still run
    wgmma_wait_group<0>();
    if (came) release(&shared.empty_barrier[last]);
    const u32 begin = stamp_begin();
    const Tile tile = own_tile(problem, at);
#pragma unroll
    for (u32 half = 0; half < 2; ++half) {
      keep_accumulators(d[half]);
      const u32 first_row = tile.row * BM + half * 64 + threadIdx.x % 128 / 32 * OUT_ROWS;
      store_half(shared, map_c, d[half], half, first_row, tile.column * BN);
    }
    stamp_epilogue(problem, consumer, own, begin);
    step += steps;
    ring.advance(steps);
  }
  if (threadIdx.x % 32 == 0) cp_async_bulk_wait_group_read<0>();
}
// [consume-end]

extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(THREADS, 1)
    gemm(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
         const __grid_constant__ CUtensorMap map_c, const __grid_constant__ Problem problem) {
  extern __shared__ __align__(1024) unsigned char raw[];
  Shared& shared = *reinterpret_cast<Shared*>(raw);
  stamp_clocks(problem, 0);
  if (threadIdx.x == 0) {
    for (u32 stage = 0; stage < STAGES; ++stage) {
      mbarrier_init(&shared.full_barrier[stage], 1);
      mbarrier_init(&shared.empty_barrier[stage], CLUSTER);
    }
    for (u32 consumer = 0; consumer < 2; ++consumer) mbarrier_init(&shared.turn_barrier[consumer], 1);
    fence_mbarrier_init();
  }
  barrier_cluster_arrive_relaxed();  // the fence above is all that the other block needs
  barrier_cluster_wait();
  const u32 warpgroup = __shfl_sync(~0u, threadIdx.x / 128, 0);  // one value a warp, which the compiler then knows
  if (warpgroup == 0) {
    setmaxnreg_dec<32>();
    if (threadIdx.x == 0) produce(shared, map_a, map_b, problem);
  } else {
    setmaxnreg_inc<232>();
    consume(shared, map_c, problem, warpgroup - 1);
  }
  stamp_clocks(problem, 1);
}
