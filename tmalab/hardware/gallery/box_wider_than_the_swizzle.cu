// Each block brings 32 rows of 256 bytes, swizzled in spans of 128.
//@ launch = { grid = 64, block = 32 }
//@ buffers.a = { pattern = "random", seed = 1, bytes = 524288 }
//@ buffers.b = { pattern = "fill", value = 205, bytes = 524288 }
#ifdef BROKEN
//@ maps.a_map = { buffer = "a", dtype = "float16", global_dim = [128, 2048], global_strides = [256], box_dim = [128, 32], swizzle = "128B" }
#else
//@ maps.a_map = { buffer = "a", dtype = "float16", global_dim = [128, 2048], global_strides = [256], box_dim = [64, 32], swizzle = "128B" }
#endif
//@ arguments = ["a_map", "b"]
//@ expect = { b = "a" }
#include "gallery.cuh"

extern "C" __global__ void box_wider_than_the_swizzle(const __grid_constant__ CUtensorMap a_map, u8* b) {
  __shared__ alignas(1024) u8 tiles[2][TILE_BYTES];
  __shared__ u64 full_barrier;
  const int row = ROWS * blockIdx.x;
  if (threadIdx.x == 0) {
    mbarrier_init(&full_barrier, 1);
    fence_mbarrier_init();
    mbarrier_arrive_expect_tx(&full_barrier, 2 * TILE_BYTES);
    cp_async_bulk_tensor_2d_shared_cluster_global_tile(tiles[0], &a_map, 0, row, &full_barrier);
#ifndef BROKEN
    cp_async_bulk_tensor_2d_shared_cluster_global_tile(tiles[1], &a_map, 64, row, &full_barrier);
#endif
  }
  __syncthreads();
  if (!wait_for_phase(&full_barrier, 0, DEADLINE_NS)) return;
  for (int chunk = threadIdx.x; chunk < 16 * ROWS; chunk += blockDim.x) {
    const int r = chunk / 16, c = chunk % 16;
    const u8* from = tiles[c / 8] + r * ROW_BYTES + ((c % 8 ^ r % 8) * 16);
    *reinterpret_cast<uint4*>(b + row * 256 + 16 * chunk) = *reinterpret_cast<const uint4*>(from);
  }
}
