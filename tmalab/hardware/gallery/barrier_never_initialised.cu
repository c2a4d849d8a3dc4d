// Each block copies one tile with the second of two barriers. The loop makes the first.
//@ launch = { grid = 64, block = 32 }
//@ buffers.a = { pattern = "random", seed = 1, bytes = 262144 }
//@ buffers.b = { pattern = "fill", value = 205, bytes = 262144 }
//@ maps.a_map = { buffer = "a", dtype = "float16", global_dim = [64, 2048], global_strides = [128], box_dim = [64, 32] }
//@ arguments = ["a_map", "b"]
//@ expect = { b = "a" }
#include "gallery.cuh"

extern "C" __global__ void barrier_never_initialised(const __grid_constant__ CUtensorMap a_map, u8* b) {
  __shared__ alignas(128) u8 tile[TILE_BYTES];
  __shared__ u64 barriers[2];
  const int row = ROWS * blockIdx.x;
  if (threadIdx.x == 0) {
    //: init init bar=barrier0 count=1
#ifdef BROKEN
    for (int i = 0; i < 1; ++i) mbarrier_init(&barriers[i], 1);
#else
    for (int i = 0; i < 2; ++i) mbarrier_init(&barriers[i], 1);  //: init init bar=barrier1 count=1
#endif
    fence_mbarrier_init();
    mbarrier_arrive_expect_tx(&barriers[1], TILE_BYTES);  //: t0 arrive_expect_tx bar=barrier1 bytes=4096
    //: t0 tma_load bar=barrier1 bytes=4096 buf=tile
    cp_async_bulk_tensor_2d_shared_cluster_global_tile(tile, &a_map, 0, row, &barriers[1]);
  }
  __syncthreads();
  if (!wait_for_phase(&barriers[1], 0, DEADLINE_NS)) return;  //: all wait bar=barrier1 parity=0
  write_out(b + row * ROW_BYTES, tile, TILE_BYTES);           //: all ld_shared buf=tile
}
