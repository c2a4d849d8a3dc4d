// Each block copies one tile, through its own copy of the tensor map.
//@ launch = { grid = 64, block = 32 }
//@ buffers.a = { pattern = "random", seed = 1, bytes = 262144 }
//@ buffers.b = { pattern = "fill", value = 205, bytes = 262144 }
//@ maps.a_map = { buffer = "a", dtype = "float16", global_dim = [64, 2048], global_strides = [128], box_dim = [64, 32] }
//@ arguments = ["a_map", "b"]
//@ expect = { b = "a" }
#include "gallery.cuh"

extern "C" __global__ void descriptor_on_the_stack(const __grid_constant__ CUtensorMap a_map, u8* b) {
  __shared__ alignas(128) u8 tile[TILE_BYTES];
  __shared__ u64 full_barrier;
  const int row = ROWS * blockIdx.x;
#ifdef BROKEN
  CUtensorMap map = a_map;
  //? copy = { map = "a_map", direction = "load", coords = [0, 0], descriptor_space = "local" }
#else
  const CUtensorMap& map = a_map;
  //? copy = { map = "a_map", direction = "load", coords = [0, 0], descriptor_space = "param" }
#endif
  if (threadIdx.x == 0) {
    mbarrier_init(&full_barrier, 1);
    fence_mbarrier_init();
    mbarrier_arrive_expect_tx(&full_barrier, TILE_BYTES);
    cp_async_bulk_tensor_2d_shared_cluster_global_tile(tile, &map, 0, row, &full_barrier);
  }
  __syncthreads();
  if (!wait_for_phase(&full_barrier, 0, DEADLINE_NS)) return;
  write_out(b + row * ROW_BYTES, tile, TILE_BYTES);
}
