// The matrix product of a single warp, as GPUs before Hopper have it: operands in registers, the result at once.
//
// Manual: PTX ISA, "Warp Level Matrix Instructions: mma".
#pragma once
#include "ptx.cuh"

// mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 d, a, b, d;  // PTX ISA 7.0, sm_80
// d (16 x 8) += a (16 x 16) * b (16 x 8). Lane t has in d[j] the element in row t / 4 + 8 (j / 2) and column
// 2 (t % 4) + j % 2; a and b lie in registers as ldmatrix brings K-major tiles. no clobber: it touches no memory.
__device__ __forceinline__ void mma_sync_m16n8k16_f32_bf16_bf16_f32(float (&d)[4], const uint4& a, u32 b0, u32 b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1));
}
