// What the kernels of the gallery share: a tile of 32 rows of 64 float16 elements, 4096 bytes, and how it gets to b.
//
//   a ──engine──▶ shared memory ──▶ b      every block copies tiles of its own: b must become a, whatever the kernel
#pragma once
#include "watch.cuh"  // first: a wait that passes its deadline ends its thread and says what it waited for

#include "ptx_tensor.cuh"

using u8 = unsigned char;

constexpr u64 DEADLINE_NS = 2'000'000;  // without a watch; with one, the host sets it
constexpr int COLUMNS = 64, ROWS = 32;
constexpr int ROW_BYTES = 2 * COLUMNS;
constexpr int TILE_BYTES = ROWS * ROW_BYTES;

// `bytes` of shared memory, by `threads` threads (all of the block), 16 bytes each at a time.
__device__ __forceinline__ void write_out(u8* to, const u8* tile, int bytes, int thread = threadIdx.x,
                                          int threads = blockDim.x) {
  for (int at = 16 * thread; at < bytes; at += 16 * threads) {
    *reinterpret_cast<uint4*>(to + at) = *reinterpret_cast<const uint4*>(tile + at);
  }
}

// The other way, for kernels that store through the engine.
__device__ __forceinline__ void read_in(u8* tile, const u8* from, int bytes) {
  for (int at = 16 * threadIdx.x; at < bytes; at += 16 * blockDim.x) {
    *reinterpret_cast<uint4*>(tile + at) = *reinterpret_cast<const uint4*>(from + at);
  }
}

// Overwrites a tile, as the next use of the buffer would.
__device__ __forceinline__ void overwrite(u8* tile, int bytes) {
  for (int at = 16 * threadIdx.x; at < bytes; at += 16 * blockDim.x) {
    *reinterpret_cast<uint4*>(tile + at) = make_uint4(0xEEEEEEEE, 0xEEEEEEEE, 0xEEEEEEEE, 0xEEEEEEEE);
  }
}
