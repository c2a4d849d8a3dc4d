// Each block copies 512 rows of 32 bytes.
//@ launch = { grid = 64, block = 128 }
//@ buffers.a = { pattern = "random", seed = 1, bytes = 1048576 }
//@ buffers.b = { pattern = "fill", value = 205, bytes = 1048576 }
#ifdef BROKEN
//@ maps.a_map = { buffer = "a", dtype = "float16", global_dim = [16, 32768], global_strides = [32], box_dim = [16, 512] }
#else
//@ maps.a_map = { buffer = "a", dtype = "float16", global_dim = [16, 32768], global_strides = [32], box_dim = [16, 256] }
#endif
//@ arguments = ["a_map", "b"]
//@ expect = { b = "a" }
#include "gallery.cuh"

constexpr int BYTES = 512 * 32;

extern "C" __global__ void box_of_512_rows(const __grid_constant__ CUtensorMap a_map, u8* b) {
  __shared__ alignas(128) u8 tile[BYTES];
  __shared__ u64 full_barrier;
  const int row = 512 * blockIdx.x;
  if (threadIdx.x == 0) {
    mbarrier_init(&full_barrier, 1);
    fence_mbarrier_init();
    mbarrier_arrive_expect_tx(&full_barrier, BYTES);
    cp_async_bulk_tensor_2d_shared_cluster_global_tile(tile, &a_map, 0, row, &full_barrier);
#ifndef BROKEN
    cp_async_bulk_tensor_2d_shared_cluster_global_tile(tile + BYTES / 2, &a_map, 0, row + 256, &full_barrier);
#endif
  }
  __syncthreads();
  if (!wait_for_phase(&full_barrier, 0, DEADLINE_NS)) return;
  write_out(b + row * 32, tile, BYTES);
}
