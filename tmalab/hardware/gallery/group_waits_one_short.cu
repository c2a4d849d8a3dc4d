// Each block stores two halves of a tile, one group each, and waits until at most one is unfinished.
//@ launch = { grid = 1024, block = 128 }
//@ buffers.a = { pattern = "random", seed = 1, bytes = 33554432 }
//@ buffers.b = { pattern = "fill", value = 205, bytes = 33554432 }
//@ maps.b_map = { buffer = "b", dtype = "float16", global_dim = [64, 262144], global_strides = [128], box_dim = [64, 128] }
//@ arguments = ["a", "b_map"]
//@ expect = { b = "a" }
#include "gallery.cuh"

constexpr int HALF = 128 * ROW_BYTES;

extern "C" __global__ void group_waits_one_short(const u8* a, const __grid_constant__ CUtensorMap b_map) {
  __shared__ alignas(128) u8 tile[2 * HALF];
  const int row = 256 * blockIdx.x;
  //: all st_shared buf=top
  //: all st_shared buf=bottom
  read_in(tile, a + row * ROW_BYTES, 2 * HALF);
  fence_proxy_async_shared_cta();  //: all fence_proxy_async
  __syncthreads();                 //: all cta_sync
  if (threadIdx.x == 0) {
    cp_async_bulk_tensor_2d_global_shared_cta_tile(&b_map, 0, row, tile);               //: t0 tma_store buf=top
    cp_async_bulk_commit_group();                                                       //: t0 commit_group
    cp_async_bulk_tensor_2d_global_shared_cta_tile(&b_map, 0, row + 128, tile + HALF);  //: t0 tma_store buf=bottom
    cp_async_bulk_commit_group();                                                       //: t0 commit_group
#ifdef BROKEN
    cp_async_bulk_wait_group_read<1>();  //: t0 wait_group n=1 read=1
#else
    cp_async_bulk_wait_group_read<0>();  //: t0 wait_group n=0 read=1
#endif
  }
  __syncthreads();               //: all cta_sync
  overwrite(tile + HALF, HALF);  //: all st_shared buf=bottom
  if (threadIdx.x == 0) cp_async_bulk_wait_group<0>();
}
