// Each block copies one tile. Arming the barrier was an arrival already.
//@ launch = { grid = 1024, block = 32 }
//@ buffers.a = { pattern = "random", seed = 1, bytes = 4194304 }
//@ buffers.b = { pattern = "fill", value = 205, bytes = 4194304 }
//@ maps.a_map = { buffer = "a", dtype = "float16", global_dim = [64, 32768], global_strides = [128], box_dim = [64, 32] }
//@ arguments = ["a_map", "b"]
//@ expect = { b = "a" }
#include "gallery.cuh"

extern "C" __global__ void arrived_twice(const __grid_constant__ CUtensorMap a_map, u8* b) {
  __shared__ alignas(128) u8 tile[TILE_BYTES];
  __shared__ u64 full_barrier;
  const int row = ROWS * blockIdx.x;
  if (threadIdx.x == 0) {
    mbarrier_init(&full_barrier, 1);  //: init init bar=full count=1
    fence_mbarrier_init();
    mbarrier_arrive_expect_tx(&full_barrier, TILE_BYTES);  //: t0 arrive_expect_tx bar=full bytes=4096
    //: t0 tma_load bar=full bytes=4096 buf=tile
    cp_async_bulk_tensor_2d_shared_cluster_global_tile(tile, &a_map, 0, row, &full_barrier);
#ifdef BROKEN
    mbarrier_arrive(&full_barrier);  //: t0 arrive bar=full
#endif
  }
  __syncthreads();
  if (!wait_for_phase(&full_barrier, 0, DEADLINE_NS)) return;  //: all wait bar=full parity=0
  write_out(b + row * ROW_BYTES, tile, TILE_BYTES);            //: all ld_shared buf=tile
}
