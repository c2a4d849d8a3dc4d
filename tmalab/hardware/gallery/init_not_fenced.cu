// Each block copies one tile. Thread 0 makes the barrier, thread 32 uses it.
//@ launch = { grid = 4096, block = 64 }
//@ buffers.a = { pattern = "random", seed = 1, bytes = 16777216 }
//@ buffers.b = { pattern = "fill", value = 205, bytes = 16777216 }
//@ maps.a_map = { buffer = "a", dtype = "float16", global_dim = [64, 131072], global_strides = [128], box_dim = [64, 32] }
//@ arguments = ["a_map", "b"]
//@ expect = { b = "a" }
#include "gallery.cuh"

extern "C" __global__ void init_not_fenced(const __grid_constant__ CUtensorMap a_map, u8* b) {
  __shared__ alignas(128) u8 tile[TILE_BYTES];
  __shared__ u64 full_barrier;
  const int row = ROWS * blockIdx.x;
  if (threadIdx.x == 0) {
    mbarrier_init(&full_barrier, 1);  //: t0 init bar=full count=1
#ifndef BROKEN
    fence_mbarrier_init();  //: t0 fence_mbarrier_init
#endif
  }
  __syncthreads();  //: all cta_sync
  if (threadIdx.x == 32) {
    mbarrier_arrive_expect_tx(&full_barrier, TILE_BYTES);  //: t32 arrive_expect_tx bar=full bytes=4096
    //: t32 tma_load bar=full bytes=4096 buf=tile
    cp_async_bulk_tensor_2d_shared_cluster_global_tile(tile, &a_map, 0, row, &full_barrier);
  }
  if (!wait_for_phase(&full_barrier, 0, DEADLINE_NS)) return;  //: all wait bar=full parity=0
  write_out(b + row * ROW_BYTES, tile, TILE_BYTES);            //: all ld_shared buf=tile
}
