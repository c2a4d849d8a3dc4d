// Thread 0 loads tiles into one buffer and warp 1 copies them out. Of four tiles only the first two hold anything.
//@ launch = { grid = 1024, block = 64 }
//@ buffers.a = { pattern = "random", seed = 1, bytes = 16777216 }
//@ buffers.b = { pattern = "fill", value = 205, bytes = 16777216 }
//@ maps.a_map = { buffer = "a", dtype = "float16", global_dim = [64, 131072], global_strides = [128], box_dim = [64, 32] }
//@ arguments = ["a_map", "b"]
//@ expect = { b = "a", bytes = 8192, of = 16384 }
#include "gallery.cuh"

constexpr int TILES = 4;
__device__ __forceinline__ bool is_empty(int k) { return k >= 2; }

extern "C" __global__ void roles_disagree_on_tiles(const __grid_constant__ CUtensorMap a_map, u8* b) {
  __shared__ alignas(128) u8 tile[TILE_BYTES];
  __shared__ u64 full_barrier, empty_barrier;
  if (threadIdx.x == 0) {
    mbarrier_init(&full_barrier, 1);   //: init init bar=full count=1
    mbarrier_init(&empty_barrier, 1);  //: init init bar=empty count=1
    fence_mbarrier_init();
  }
  __syncthreads();
  for (int k = 0; k < TILES; ++k) {
    const int row = ROWS * (TILES * blockIdx.x + k);
    if (threadIdx.x == 0) {
#ifndef BROKEN
      if (is_empty(k)) continue;
#endif
      if (!wait_for_phase(&empty_barrier, (k & 1) ^ 1, DEADLINE_NS)) return;
      mbarrier_arrive_expect_tx(&full_barrier, TILE_BYTES);
      cp_async_bulk_tensor_2d_shared_cluster_global_tile(tile, &a_map, 0, row, &full_barrier);
    } else if (threadIdx.x >= 32) {
      if (is_empty(k)) continue;
      if (!wait_for_phase(&full_barrier, k & 1, DEADLINE_NS)) return;
      write_out(b + row * ROW_BYTES, tile, TILE_BYTES, threadIdx.x - 32, 32);
      __syncwarp();
      if (threadIdx.x == 32) mbarrier_arrive(&empty_barrier);
    }
  }
  //: p wait bar=empty parity=1
  //: p arrive_expect_tx bar=full bytes=4096
  //: p tma_load bar=full bytes=4096 buf=tile
  //: p wait bar=empty parity=0
  //: p arrive_expect_tx bar=full bytes=4096
  //: p tma_load bar=full bytes=4096 buf=tile
#ifdef BROKEN
  //: p wait bar=empty parity=1
  //: p arrive_expect_tx bar=full bytes=4096
  //: p tma_load bar=full bytes=4096 buf=tile
  //: p wait bar=empty parity=0
#endif
  //: c wait bar=full parity=0
  //: c ld_shared buf=tile
  //: c arrive bar=empty
  //: c wait bar=full parity=1
  //: c ld_shared buf=tile
  //: c arrive bar=empty
}
