// Each block adds a tile to b, which is all zero: b becomes a. The map calls the elements uint8.
//@ launch = { grid = 64, block = 128 }
//@ buffers.a = { pattern = "random", seed = 1, bytes = 262144 }
//@ buffers.b = { pattern = "fill", value = 0, bytes = 262144 }
#ifdef BROKEN
//@ maps.b_map = { buffer = "b", dtype = "uint8", global_dim = [128, 2048], global_strides = [128], box_dim = [128, 32] }
#else
//@ maps.b_map = { buffer = "b", dtype = "uint32", global_dim = [32, 2048], global_strides = [128], box_dim = [32, 32] }
#endif
//? copy = { map = "b_map", direction = "reduce", op = "add", coords = [0, 0] }
//@ arguments = ["a", "b_map"]
//@ expect = { b = "a" }
#include "gallery.cuh"
#include "ptx_reduce.cuh"

extern "C" __global__ void reduction_type_lacks_op(const u8* a, const __grid_constant__ CUtensorMap b_map) {
  __shared__ alignas(128) u8 tile[TILE_BYTES];
  const int row = ROWS * blockIdx.x;
  read_in(tile, a + row * ROW_BYTES, TILE_BYTES);
  fence_proxy_async_shared_cta();
  __syncthreads();
  if (threadIdx.x == 0) {
    cp_reduce_async_bulk_tensor_2d_global_shared_cta_tile<RedOp::add>(&b_map, 0, row, tile);
    cp_async_bulk_commit_group();
    cp_async_bulk_wait_group<0>();
  }
}
