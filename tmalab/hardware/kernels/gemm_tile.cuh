// What the rungs with wgmma share: one step of K, and a warpgroup's part of C on its way to global memory.
//
//   a: 64 rows of 128 bytes    b: N rows of 128 bytes    128B swizzle, as one TMA box each; a step is 64 of K
//   four products of 16 of K: each begins 32 bytes further, and the tensor core swizzles the addresses itself
#pragma once
#include "gemm.cuh"
#include "ptx_wgmma.cuh"

constexpr u32 ROW_BYTES = 128;  // 64 elements of K, one row of a swizzled tile

template <u32 N>
__device__ __forceinline__ void wgmma_step(float (&d)[N / 2], u64 a_desc, u64 b_desc, u32 scale_d) {
  if constexpr (N == 64) wgmma_mma_async_m64n64k16_f32_bf16_bf16(d, a_desc, b_desc, scale_d);
  if constexpr (N == 128) wgmma_mma_async_m64n128k16_f32_bf16_bf16(d, a_desc, b_desc, scale_d);
  if constexpr (N == 256) wgmma_mma_async_m64n256k16_f32_bf16_bf16(d, a_desc, b_desc, scale_d);
}

// [multiply]
// d (64 x N) += a * b, or = where `first`; issued, not finished. Both tiles begin at a multiple of 1024 bytes.
template <u32 N>
__device__ __forceinline__ void multiply(float (&d)[N / 2], const void* a, const void* b, bool first) {
  const u64 a_desc = matrix_descriptor(shared_address(a), 16, 8 * ROW_BYTES, MatrixSwizzle::b128);
  const u64 b_desc = matrix_descriptor(shared_address(b), 16, 8 * ROW_BYTES, MatrixSwizzle::b128);
#pragma unroll
  for (u32 k = 0; k < 4; ++k) wgmma_step<N>(d, a_desc + 2 * k, b_desc + 2 * k, !first || k > 0);  // 2 units of 16 bytes
}
// [multiply-end]

// [store]
// A warpgroup's 64 x N accumulators straight to C, two neighbours a store; what lies outside C is left out.
template <u32 N>
__device__ __forceinline__ void store(const Problem& problem, float (&d)[N / 2], u32 first_row, u32 first_column) {
  const u32 lane = threadIdx.x % 32, row = first_row + threadIdx.x % 128 / 32 * 16 + lane / 4;
#pragma unroll
  for (u32 half = 0; half < 2; ++half) {
    if (row + 8 * half >= problem.m) continue;
    bf16* to = problem.c + static_cast<u64>(row + 8 * half) * problem.ldc;
#pragma unroll
    for (u32 i = 0; i < N / 8; ++i) {
      const u32 column = first_column + 8 * i + lane % 4 * 2;
      const u32 pair = cvt_rn_bf16x2_f32(d[4 * i + 2 * half + 1], d[4 * i + 2 * half]);
      if (column + 1 < problem.n) {
        *reinterpret_cast<u32*>(to + column) = pair;
      } else if (column < problem.n) {
        to[column] = static_cast<bf16>(pair);
      }
    }
  }
}
// [store-end]
