// Each block copies a slice of 24 rows with a box of 32. Behind each slice of b lie 8 rows of someone else.
//@ launch = { grid = 1024, block = 32 }
//@ buffers.a = { pattern = "random", seed = 1, bytes = 4194304 }
//@ buffers.b = { pattern = "fill", value = 205, bytes = 4194304 }
//@ maps.a_map = { buffer = "a", dtype = "float16", global_dim = [64, 24, 1024], global_strides = [128, 4096], box_dim = [64, 32, 1] }
#ifdef BROKEN
//@ maps.b_map = { buffer = "b", dtype = "float16", global_dim = [64, 32, 1024], global_strides = [128, 4096], box_dim = [64, 32, 1] }
#else
//@ maps.b_map = { buffer = "b", dtype = "float16", global_dim = [64, 24, 1024], global_strides = [128, 4096], box_dim = [64, 32, 1] }
#endif
//? copy = { map = "b_map", direction = "store", coords = [0, 0, 1023], storage_bytes = 4193280 }
//@ arguments = ["a_map", "b_map"]
//@ expect = { b = "a", bytes = 3072, of = 4096 }
#include "gallery.cuh"

extern "C" __global__ void box_past_the_tensor(const __grid_constant__ CUtensorMap a_map,
                                               const __grid_constant__ CUtensorMap b_map) {
  __shared__ alignas(128) u8 tile[TILE_BYTES];
  __shared__ u64 full_barrier;
  if (threadIdx.x == 0) {
    mbarrier_init(&full_barrier, 1);
    fence_mbarrier_init();
    mbarrier_arrive_expect_tx(&full_barrier, TILE_BYTES);
    cp_async_bulk_tensor_3d_shared_cluster_global_tile(tile, &a_map, 0, 0, blockIdx.x, &full_barrier);
    if (!wait_for_phase(&full_barrier, 0, DEADLINE_NS)) return;
    cp_async_bulk_tensor_3d_global_shared_cta_tile(&b_map, 0, 0, blockIdx.x, tile);
    cp_async_bulk_commit_group();
    cp_async_bulk_wait_group<0>();
  }
}
