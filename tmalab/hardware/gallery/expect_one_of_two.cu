// Each block brings a tile of scales, the same for all, and 128 rows of its own. The barrier is armed for the rows.
//@ launch = { grid = 2048, block = 128 }
//@ buffers.a = { pattern = "random", seed = 1, bytes = 33554432 }
//@ buffers.b = { pattern = "fill", value = 205, bytes = 33554432 }
//@ buffers.scales = { pattern = "random", seed = 2, bytes = 16384 }
//@ maps.a_map = { buffer = "a", dtype = "float16", global_dim = [64, 262144], global_strides = [128], box_dim = [64, 128] }
//@ maps.scales_map = { buffer = "scales", dtype = "float16", global_dim = [64, 128], global_strides = [128], box_dim = [64, 128] }
//@ arguments = ["scales_map", "a_map", "b"]
//@ expect = { b = "a" }
#include "gallery.cuh"

constexpr int BYTES = 128 * ROW_BYTES;

extern "C" __global__ void expect_one_of_two(const __grid_constant__ CUtensorMap scales_map,
                                             const __grid_constant__ CUtensorMap a_map, u8* b) {
  __shared__ alignas(128) u8 scales[BYTES], tile[BYTES];
  __shared__ u64 full_barrier;
  const int row = 128 * blockIdx.x;
  if (threadIdx.x == 0) {
    mbarrier_init(&full_barrier, 1);  //: init init bar=full count=1
    fence_mbarrier_init();
#ifdef BROKEN
    mbarrier_arrive_expect_tx(&full_barrier, BYTES);  //: t0 arrive_expect_tx bar=full bytes=16384
#else
    mbarrier_arrive_expect_tx(&full_barrier, 2 * BYTES);  //: t0 arrive_expect_tx bar=full bytes=32768
#endif
    //: t0 tma_load bar=full bytes=16384 buf=scales
    //: t0 tma_load bar=full bytes=16384 buf=tile
    cp_async_bulk_tensor_2d_shared_cluster_global_tile(scales, &scales_map, 0, 0, &full_barrier);
    cp_async_bulk_tensor_2d_shared_cluster_global_tile(tile, &a_map, 0, row, &full_barrier);
  }
  __syncthreads();
  if (!wait_for_phase(&full_barrier, 0, DEADLINE_NS)) return;  //: all wait bar=full parity=0
  write_out(b + row * ROW_BYTES, tile, BYTES);                 //: all ld_shared buf=tile
}
