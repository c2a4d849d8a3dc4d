// Each block copies four tiles through a ring of two stages.
//@ launch = { grid = 1024, block = 32 }
//@ buffers.a = { pattern = "random", seed = 1, bytes = 16777216 }
//@ buffers.b = { pattern = "fill", value = 205, bytes = 16777216 }
//@ maps.a_map = { buffer = "a", dtype = "float16", global_dim = [64, 131072], global_strides = [128], box_dim = [64, 32] }
//@ arguments = ["a_map", "b"]
//@ expect = { b = "a" }
#include "gallery.cuh"

constexpr int STAGES = 2, TILES = 4;

extern "C" __global__ void parity_from_loop_index(const __grid_constant__ CUtensorMap a_map, u8* b) {
  __shared__ alignas(128) u8 tiles[STAGES][TILE_BYTES];
  __shared__ u64 full_barriers[STAGES];
  //: init init bar=full0 count=1
  //: init init bar=full1 count=1
  if (threadIdx.x == 0) {
    for (u64& full_barrier : full_barriers) mbarrier_init(&full_barrier, 1);
    fence_mbarrier_init();
  }
  __syncthreads();
  for (int k = 0; k < TILES; ++k) {
    const int stage = k % STAGES, row = ROWS * (TILES * blockIdx.x + k);
    if (threadIdx.x == 0) {
      mbarrier_arrive_expect_tx(&full_barriers[stage], TILE_BYTES);
      cp_async_bulk_tensor_2d_shared_cluster_global_tile(tiles[stage], &a_map, 0, row, &full_barriers[stage]);
    }
#ifdef BROKEN
    const u32 phase_parity = k & 1;
#else
    const u32 phase_parity = k / STAGES & 1;  // a stage's barrier completes one phase in STAGES tiles
#endif
    if (!wait_for_phase(&full_barriers[stage], phase_parity, DEADLINE_NS)) return;
    write_out(b + row * ROW_BYTES, tiles[stage], TILE_BYTES);
    __syncthreads();
  }
  //: t0 arrive_expect_tx bar=full0 bytes=4096
  //: t0 tma_load bar=full0 bytes=4096 buf=s0
  //: all wait bar=full0 parity=0
  //: all ld_shared buf=s0
  //: all cta_sync
  //: t0 arrive_expect_tx bar=full1 bytes=4096
  //: t0 tma_load bar=full1 bytes=4096 buf=s1
#ifdef BROKEN
  //: all wait bar=full1 parity=1
#else
  //: all wait bar=full1 parity=0
#endif
  //: all ld_shared buf=s1
  //: all cta_sync
  //: t0 arrive_expect_tx bar=full0 bytes=4096
  //: t0 tma_load bar=full0 bytes=4096 buf=s0
#ifdef BROKEN
  //: all wait bar=full0 parity=0
#else
  //: all wait bar=full0 parity=1
#endif
  //: all ld_shared buf=s0
  //: all cta_sync
  //: t0 arrive_expect_tx bar=full1 bytes=4096
  //: t0 tma_load bar=full1 bytes=4096 buf=s1
  //: all wait bar=full1 parity=1
  //: all ld_shared buf=s1
}
