// Each block copies two tiles. One lane arms the barrier, and all 32 ask for the copy.
//@ launch = { grid = 1024, block = 32 }
//@ buffers.a = { pattern = "random", seed = 1, bytes = 8388608 }
//@ buffers.b = { pattern = "fill", value = 205, bytes = 8388608 }
//@ maps.a_map = { buffer = "a", dtype = "float16", global_dim = [64, 65536], global_strides = [128], box_dim = [64, 32] }
//@ arguments = ["a_map", "b"]
//@ expect = { b = "a" }
#include "gallery.cuh"

extern "C" __global__ void load_by_all_lanes(const __grid_constant__ CUtensorMap a_map, u8* b) {
  __shared__ alignas(128) u8 tile[TILE_BYTES];
  __shared__ u64 full_barrier;
  if (threadIdx.x == 0) {
    mbarrier_init(&full_barrier, 1);  //: init init bar=full count=1
    fence_mbarrier_init();
  }
  __syncthreads();
  for (int k = 0; k < 2; ++k) {
    const int row = ROWS * (2 * blockIdx.x + k);
    if (threadIdx.x == 0) mbarrier_arrive_expect_tx(&full_barrier, TILE_BYTES);
    __syncwarp();
#ifdef BROKEN
    cp_async_bulk_tensor_2d_shared_cluster_global_tile(tile, &a_map, 0, row, &full_barrier);
#else
    if (threadIdx.x == 0) cp_async_bulk_tensor_2d_shared_cluster_global_tile(tile, &a_map, 0, row, &full_barrier);
#endif
    if (!wait_for_phase(&full_barrier, k & 1, DEADLINE_NS)) return;
    write_out(b + row * ROW_BYTES, tile, TILE_BYTES);
    __syncwarp();
  }
  //: t0 arrive_expect_tx bar=full bytes=4096
#ifdef BROKEN
  //: t0 tma_load bar=full bytes=131072 buf=tile
#else
  //: t0 tma_load bar=full bytes=4096 buf=tile
#endif
  //: t0 wait bar=full parity=0
  //: t0 ld_shared buf=tile
  //: t0 arrive_expect_tx bar=full bytes=4096
#ifdef BROKEN
  //: t0 tma_load bar=full bytes=131072 buf=tile
#else
  //: t0 tma_load bar=full bytes=4096 buf=tile
#endif
  //: t0 wait bar=full parity=1
  //: t0 ld_shared buf=tile
}
