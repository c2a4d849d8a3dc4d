// The tensor cores' matrix product: wgmma, its fences and groups, and the descriptor of a matrix in shared memory.
//
//   wgmma.fence ─▶ wgmma.mma_async, as many as one likes ─▶ wgmma.commit_group ─▶ wgmma.wait_group ─▶ d
//
// All 128 threads of a warpgroup issue each instruction together; d is spread over their registers. What a load of the
// TMA engine brought needs no proxy fence in between: both are of the async proxy. What threads wrote needs one.
//
// Manual: PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions".
#pragma once
#include "ptx.cuh"

// --- the matrix descriptor ----------------------------------------------------------------------------------------

enum class MatrixSwizzle : u32 { none = 0, b128 = 1, b64 = 2, b32 = 3 };

// The 64 bits that tell wgmma where a matrix stands in shared memory. Bits 13-0, 29-16 and 45-32 hold the start address
// and the two byte offsets in units of 16; bits 51-49 the base offset, bits 63-62 the swizzle.
__device__ __forceinline__ u64 matrix_descriptor(u32 start_address, u32 leading_bytes, u32 stride_bytes,
                                                 MatrixSwizzle swizzle, u32 base_offset = 0) {
  constexpr u32 MOST = 0x3FFFF;
  return static_cast<u64>((start_address & MOST) >> 4) | static_cast<u64>((leading_bytes & MOST) >> 4) << 16 |
         static_cast<u64>((stride_bytes & MOST) >> 4) << 32 | static_cast<u64>(base_offset & 7) << 49 |
         static_cast<u64>(swizzle) << 62;
}

// --- fences and groups ----------------------------------------------------------------------------------------------

// wgmma.fence.sync.aligned;  // PTX ISA 8.0, sm_90a
// Before the first wgmma, and wherever registers of d or a were touched by anything else since.
__device__ __forceinline__ void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

// wgmma.commit_group.sync.aligned;  // PTX ISA 8.0, sm_90a
__device__ __forceinline__ void wgmma_commit_group() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// wgmma.wait_group.sync.aligned N;  // PTX ISA 8.0, sm_90a
// Returns when at most N of the newest groups are unfinished. It ends on its own: a product waits for nobody.
template <int N>
__device__ __forceinline__ void wgmma_wait_group() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}

// No instruction. The compiler may not move an accumulator's use across it; it knows nothing of wgmma's own time.
template <int COUNT>
__device__ __forceinline__ void keep_accumulators(float (&d)[COUNT]) {
#pragma unroll
  for (int i = 0; i < COUNT; ++i) asm volatile("" : "+f"(d[i])::"memory");
}

// --- products: d = a * b, or d += a * b where scale_d is not 0 ------------------------------------------------------
//
// a is 64 x 16 and b is 16 x N, both K-major in shared memory: the zeros at the end say that neither is transposed.
// Thread t has in d[4 i + j] the element in row 16 (t / 32) + t % 32 / 4 + 8 (j / 2), column 8 i + 2 (t % 4) + j % 2.

// wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 d, a-desc, b-desc, scale-d, 1, 1, 0, 0;  // PTX ISA 8.0, sm_90a
__device__ __forceinline__ void wgmma_mma_async_m64n8k16_f32_f16_f16(float (&d)[4], u64 a_desc, u64 b_desc,
                                                                     u32 scale_d) {
  asm volatile(
      "{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %6, 0;\n\t"
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 "
      "{%0, %1, %2, %3},"
      " %4, %5, p, 1, 1, 0, 0;\n\t}"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "l"(a_desc), "l"(b_desc), "r"(scale_d)
      : "memory");
}

// wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 d, a-desc, b-desc, scale-d, 1, 1, 0, 0;  // PTX ISA 8.0, sm_90a
__device__ __forceinline__ void wgmma_mma_async_m64n64k16_f32_f16_f16(float (&d)[32], u64 a_desc, u64 b_desc,
                                                                      u32 scale_d) {
  asm volatile(
      "{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %34, 0;\n\t"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15,"
      " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31},"
      " %32, %33, p, 1, 1, 0, 0;\n\t}"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
        "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
        "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
        "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
      : "l"(a_desc), "l"(b_desc), "r"(scale_d)
      : "memory");
}
