// What the two rungs without wgmma share: a 128 x 128 tile of C by eight warps, each 64 x 32, with mma.sync.
//
//   tiles of A and B in shared memory: 128 rows of 128 bytes, no swizzle, no padding
#pragma once
#include "gemm.cuh"
#include "ptx_mma.cuh"
#include "ptx_shared.cuh"
#include "ptx_wgmma.cuh"

constexpr u32 ROW_BYTES = 128, WARP_M = 64, WARP_N = 32;

// One warp's accumulators: 4 x 4 products of 16 x 8.
using Accumulators = float[WARP_M / 16][WARP_N / 8][4];

// [multiply]
// One step, 64 of K. `a` and `b` are where this warp's rows begin. ldmatrix asks for rows that lie 128 bytes apart: all
// eight are in the same four banks.
__device__ __forceinline__ void multiply(Accumulators& d, const void* a, const void* b) {
  const u32 lane = threadIdx.x % 32;
  const u32 from_a = shared_address(a) + lane % 16 * ROW_BYTES + lane / 16 * 16;
  const u32 from_b = shared_address(b) + (lane % 8 + lane / 16 * 8) * ROW_BYTES + lane / 8 % 2 * 16;
#pragma unroll
  for (u32 k = 0; k < 4; ++k) {
    uint4 parts_a[WARP_M / 16], parts_b[WARP_N / 16];  // a part of b is two columns of products
#pragma unroll
    for (u32 i = 0; i < WARP_M / 16; ++i) parts_a[i] = ldmatrix_x4(from_a + i * 16 * ROW_BYTES + k * 32);
#pragma unroll
    for (u32 j = 0; j < WARP_N / 16; ++j) parts_b[j] = ldmatrix_x4(from_b + j * 16 * ROW_BYTES + k * 32);
#pragma unroll
    for (u32 i = 0; i < WARP_M / 16; ++i) {
#pragma unroll
      for (u32 j = 0; j < WARP_N / 16; ++j) {
        mma_sync_m16n8k16_f32_bf16_bf16_f32(d[i][2 * j], parts_a[i], parts_b[j].x, parts_b[j].y);
        mma_sync_m16n8k16_f32_bf16_bf16_f32(d[i][2 * j + 1], parts_a[i], parts_b[j].z, parts_b[j].w);
      }
    }
  }
}
// [multiply-end]

// This warp's accumulators to C; what lies outside is left out.
__device__ __forceinline__ void store(const Problem& problem, const Accumulators& d, u32 first_row, u32 first_column) {
  const u32 lane = threadIdx.x % 32;
#pragma unroll
  for (u32 at = 0; at < WARP_M / 8; ++at) {
    const u32 row = first_row + at * 8 + lane / 4;
    if (row >= problem.m) continue;
    bf16* to = problem.c + static_cast<u64>(row) * problem.ldc;
#pragma unroll
    for (u32 j = 0; j < WARP_N / 8; ++j) {
      const u32 column = first_column + 8 * j + lane % 4 * 2;
      const float* pair = &d[at / 2][j][at % 2 * 2];
      const u32 packed = cvt_rn_bf16x2_f32(pair[1], pair[0]);
      if (column + 1 < problem.n) {
        *reinterpret_cast<u32*>(to + column) = packed;
      } else if (column < problem.n) {
        to[column] = static_cast<bf16>(packed);
      }
    }
  }
}
