// Warp 0 loads four tiles of 256 rows into one buffer, warps 1 and 2 copy them out.
//@ launch = { grid = 256, block = 96 }
//@ buffers.a = { pattern = "random", seed = 1, bytes = 33554432 }
//@ buffers.b = { pattern = "fill", value = 205, bytes = 33554432 }
//@ maps.a_map = { buffer = "a", dtype = "float16", global_dim = [64, 262144], global_strides = [128], box_dim = [64, 256] }
//@ arguments = ["a_map", "b"]
//@ expect = { b = "a" }
#include "gallery.cuh"

constexpr int TILES = 4, CONSUMERS = 64, BYTES = 256 * ROW_BYTES;

extern "C" __global__ void rearmed_before_consumed(const __grid_constant__ CUtensorMap a_map, u8* b) {
  __shared__ alignas(128) u8 tile[BYTES];
  __shared__ u64 full_barrier, empty_barrier;
  if (threadIdx.x == 0) {
    mbarrier_init(&full_barrier, 1);           //: init init bar=full count=1
    mbarrier_init(&empty_barrier, CONSUMERS);  //: init init bar=empty count=64
    fence_mbarrier_init();
  }
  __syncthreads();
  for (int k = 0; k < TILES; ++k) {
    const int row = 256 * (TILES * blockIdx.x + k);
    if (threadIdx.x == 0) {
#ifdef BROKEN
      if (k > 0 && !wait_for_phase(&full_barrier, (k - 1) & 1, DEADLINE_NS)) return;  // it is there: on to the next
#else
      if (!wait_for_phase(&empty_barrier, (k & 1) ^ 1, DEADLINE_NS)) return;  // it has been read
#endif
      mbarrier_arrive_expect_tx(&full_barrier, BYTES);
      cp_async_bulk_tensor_2d_shared_cluster_global_tile(tile, &a_map, 0, row, &full_barrier);
    } else if (threadIdx.x >= 32) {
      if (!wait_for_phase(&full_barrier, k & 1, DEADLINE_NS)) return;
      write_out(b + row * ROW_BYTES, tile, BYTES, threadIdx.x - 32, CONSUMERS);
      mbarrier_arrive(&empty_barrier);
    }
  }
#ifndef BROKEN
  //: p wait bar=empty parity=1
#endif
  //: p arrive_expect_tx bar=full bytes=32768
  //: p tma_load bar=full bytes=32768 buf=tile
#ifdef BROKEN
  //: p wait bar=full parity=0
#else
  //: p wait bar=empty parity=0
#endif
  //: p arrive_expect_tx bar=full bytes=32768
  //: p tma_load bar=full bytes=32768 buf=tile
  //: c wait bar=full parity=0
  //: c ld_shared buf=tile
  //: c arrive bar=empty count=64
  //: c wait bar=full parity=1
  //: c ld_shared buf=tile
}
