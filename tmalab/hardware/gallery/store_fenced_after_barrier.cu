// Each block writes a tile of 256 rows. Every thread fences, but behind the block's barrier.
//@ launch = { grid = 1024, block = 128 }
//@ buffers.a = { pattern = "random", seed = 1, bytes = 33554432 }
//@ buffers.b = { pattern = "fill", value = 205, bytes = 33554432 }
//@ maps.b_map = { buffer = "b", dtype = "float16", global_dim = [64, 262144], global_strides = [128], box_dim = [64, 256] }
//@ arguments = ["a", "b_map"]
//@ expect = { b = "a" }
#include "gallery.cuh"

constexpr int BYTES = 256 * ROW_BYTES;

extern "C" __global__ void store_fenced_after_barrier(const u8* a, const __grid_constant__ CUtensorMap b_map) {
  __shared__ alignas(128) u8 tile[BYTES];
  const int row = 256 * blockIdx.x;
  read_in(tile, a + row * ROW_BYTES, BYTES);  //: all st_shared buf=tile
#ifdef BROKEN
  __syncthreads();                 //: all cta_sync
  fence_proxy_async_shared_cta();  //: t0 fence_proxy_async
#else
  fence_proxy_async_shared_cta();  //: all fence_proxy_async
  __syncthreads();                 //: all cta_sync
#endif
  if (threadIdx.x == 0) {
    cp_async_bulk_tensor_2d_global_shared_cta_tile(&b_map, 0, row, tile);  //: t0 tma_store buf=tile
    cp_async_bulk_commit_group();                                          //: t0 commit_group
    cp_async_bulk_wait_group<0>();                                         //: t0 wait_group n=0
  }
}
