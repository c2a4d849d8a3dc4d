// Each row is 16 bytes of header and 128 bytes of data. The first column of the data is counted in elements of 4 bytes.
//@ launch = { grid = 64, block = 32 }
//@ buffers.a = { pattern = "random", seed = 1, bytes = 294912 }
//@ buffers.b = { pattern = "fill", value = 205, bytes = 294912 }
//@ maps.a_map = { buffer = "a", dtype = "float16", global_dim = [72, 2048], global_strides = [144], box_dim = [64, 32] }
//@ arguments = ["a_map", "b"]
//@ expect = { b = "a", at = 16, bytes = 128, of = 144 }
#include "gallery.cuh"

constexpr int HEADER_BYTES = 16, PITCH = HEADER_BYTES + ROW_BYTES;
#ifdef BROKEN
constexpr int FIRST_COLUMN = HEADER_BYTES / 4;
//? copy = { map = "a_map", direction = "load", coords = [4, 0] }
#else
constexpr int FIRST_COLUMN = HEADER_BYTES / 2;
//? copy = { map = "a_map", direction = "load", coords = [8, 0] }
#endif

extern "C" __global__ void inner_coordinate_off(const __grid_constant__ CUtensorMap a_map, u8* b) {
  __shared__ alignas(128) u8 tile[TILE_BYTES];
  __shared__ u64 full_barrier;
  const int row = ROWS * blockIdx.x;
  if (threadIdx.x == 0) {
    mbarrier_init(&full_barrier, 1);
    fence_mbarrier_init();
    mbarrier_arrive_expect_tx(&full_barrier, TILE_BYTES);
    cp_async_bulk_tensor_2d_shared_cluster_global_tile(tile, &a_map, FIRST_COLUMN, row, &full_barrier);
  }
  __syncthreads();
  if (!wait_for_phase(&full_barrier, 0, DEADLINE_NS)) return;
  for (int r = 0; r < ROWS; ++r) write_out(b + (row + r) * PITCH + HEADER_BYTES, tile + r * ROW_BYTES, ROW_BYTES);
}
