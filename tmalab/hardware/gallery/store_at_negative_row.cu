// The map begins one row into b, and that first row is called -1. A load may ask for it.
//@ launch = { grid = 64, block = 128 }
//@ buffers.a = { pattern = "random", seed = 1, bytes = 262144 }
//@ buffers.b = { pattern = "fill", value = 205, bytes = 262144 }
#ifdef BROKEN
//@ maps.b_map = { buffer = "b", offset = 128, dtype = "float16", global_dim = [64, 2047], global_strides = [128], box_dim = [64, 32] }
//? copy = { map = "b_map", direction = "store", coords = [0, -1] }
#else
//@ maps.b_map = { buffer = "b", offset = 0, dtype = "float16", global_dim = [64, 2048], global_strides = [128], box_dim = [64, 32] }
//? copy = { map = "b_map", direction = "store", coords = [0, 0] }
#endif
//@ arguments = ["a", "b_map"]
//@ expect = { b = "a" }
#include "gallery.cuh"

#ifdef BROKEN
constexpr int FIRST_ROW = -1;
#else
constexpr int FIRST_ROW = 0;
#endif

extern "C" __global__ void store_at_negative_row(const u8* a, const __grid_constant__ CUtensorMap b_map) {
  __shared__ alignas(128) u8 tile[TILE_BYTES];
  const int row = ROWS * blockIdx.x;
  read_in(tile, a + row * ROW_BYTES, TILE_BYTES);
  fence_proxy_async_shared_cta();
  __syncthreads();
  if (threadIdx.x == 0) {
    cp_async_bulk_tensor_2d_global_shared_cta_tile(&b_map, 0, FIRST_ROW + row, tile);
    cp_async_bulk_commit_group();
    cp_async_bulk_wait_group<0>();
  }
}
