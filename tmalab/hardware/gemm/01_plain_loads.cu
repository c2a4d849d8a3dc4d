// Rung 1: plain loads. Every thread carries its share of both tiles from global to shared memory.
//
//   global ──ld, 16 bytes──▶ registers ──st──▶ shared ──ldmatrix──▶ registers ──mma.sync──▶ d
//
// Launch: a block a tile of C, 256 threads.
#include "gemm_mma.cuh"

constexpr u32 BM = 128, BN = 128, BK = 64, THREADS = 256;
constexpr u32 CHUNK = 8;  // elements in 16 bytes

// 16 bytes of a row from `column` on, with zeros past the end.
__device__ __forceinline__ uint4 load_chunk(const bf16* row, u32 column, u32 columns) {
  if (column + CHUNK <= columns) return *reinterpret_cast<const uint4*>(row + column);
  u32 pairs[4] = {};
#pragma unroll
  for (u32 at = 0; at < CHUNK; ++at) {
    if (column + at < columns) pairs[at / 2] |= row[column + at] << at % 2 * 16;
  }
  return {pairs[0], pairs[1], pairs[2], pairs[3]};
}

// [load]
// Rows of 64 elements from (first_row, first_k): eight threads to a row.
__device__ __forceinline__ void load_tile(bf16* tile, const bf16* matrix, u32 pitch, u32 rows, u32 columns,
                                          u32 first_row, u32 first_k) {
#pragma unroll
  for (u32 at = threadIdx.x; at < BM * BK / CHUNK; at += THREADS) {
    const u32 row = at / (BK / CHUNK), column = at % (BK / CHUNK) * CHUNK;
    const bf16* from = matrix + static_cast<u64>(first_row + row) * pitch;
    uint4 chunk = {};
    if (first_row + row < rows) chunk = load_chunk(from, first_k + column, columns);
    *reinterpret_cast<uint4*>(tile + row * BK + column) = chunk;
  }
}
// [load-end]

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    gemm(const __grid_constant__ CUtensorMap, const __grid_constant__ CUtensorMap, const __grid_constant__ CUtensorMap,
         const __grid_constant__ Problem problem) {
  extern __shared__ __align__(1024) bf16 shared[];
  bf16 *tile_a = shared, *tile_b = shared + BM * BK;
  const Tile tile = {blockIdx.x / problem.tiles_n, blockIdx.x % problem.tiles_n};
  const u32 warp = threadIdx.x / 32, warp_row = warp / 4 * WARP_M, warp_column = warp % 4 * WARP_N;
  stamp_clocks(problem, 0);

  // [loop]
  Accumulators d = {};
  for (u32 k = 0, step = 0; k < problem.k; k += BK, ++step) {
    const u32 begin = stamp_begin();
    load_tile(tile_a, problem.a, problem.lda, problem.m, problem.k, tile.row * BM, k);
    load_tile(tile_b, problem.b, problem.ldb, problem.n, problem.k, tile.column * BN, k);
    __syncthreads();
    stamp_step(problem, 1, step, begin);
    multiply(d, tile_a + warp_row * BK, tile_b + warp_column * BK);
    __syncthreads();
  }
  // [loop-end]

  const u32 begin = stamp_begin();
  store(problem, d, tile.row * BM + warp_row, tile.column * BN + warp_column);
  stamp_epilogue(problem, 0, 0, begin);
  stamp_clocks(problem, 1);
}
