// Each block loads a slice of 24 rows with a box of 32, and arms for the 24.
//@ launch = { grid = 1024, block = 32 }
//@ buffers.a = { pattern = "random", seed = 1, bytes = 4194304 }
//@ buffers.b = { pattern = "fill", value = 205, bytes = 4194304 }
//@ maps.a_map = { buffer = "a", dtype = "float16", global_dim = [64, 24, 1024], global_strides = [128, 4096], box_dim = [64, 32, 1] }
//@ arguments = ["a_map", "b"]
//@ expect = { b = "a", bytes = 3072, of = 4096 }
#include "gallery.cuh"

constexpr int SLICE_ROWS = 24;

extern "C" __global__ void outside_rows_not_counted(const __grid_constant__ CUtensorMap a_map, u8* b) {
  __shared__ alignas(128) u8 tile[TILE_BYTES];
  __shared__ u64 full_barrier;
  if (threadIdx.x == 0) {
    mbarrier_init(&full_barrier, 1);  //: init init bar=full count=1
    fence_mbarrier_init();
#ifdef BROKEN
    mbarrier_arrive_expect_tx(&full_barrier, SLICE_ROWS * ROW_BYTES);  //: t0 arrive_expect_tx bar=full bytes=3072
#else
    mbarrier_arrive_expect_tx(&full_barrier, TILE_BYTES);  //: t0 arrive_expect_tx bar=full bytes=4096
#endif
    //: t0 tma_load bar=full bytes=4096 buf=tile
    cp_async_bulk_tensor_3d_shared_cluster_global_tile(tile, &a_map, 0, 0, blockIdx.x, &full_barrier);
  }
  __syncthreads();
  if (!wait_for_phase(&full_barrier, 0, DEADLINE_NS)) return;             //: all wait bar=full parity=0
  write_out(b + blockIdx.x * TILE_BYTES, tile, SLICE_ROWS * ROW_BYTES);  //: all ld_shared buf=tile
}
