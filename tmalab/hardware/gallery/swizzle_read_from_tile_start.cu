// Each block brings a swizzled tile and reads it by row and chunk, as counted from the tile's first byte.
//@ launch = { grid = 1024, block = 32 }
//@ buffers.a = { pattern = "random", seed = 1, bytes = 4194304 }
//@ buffers.b = { pattern = "fill", value = 205, bytes = 4194304 }
//@ maps.a_map = { buffer = "a", dtype = "float16", global_dim = [64, 32768], global_strides = [128], box_dim = [64, 32], swizzle = "128B" }
//@ arguments = ["a_map", "b"]
//@ expect = { b = "a" }
#include "gallery.cuh"

#ifdef BROKEN
constexpr int TILE_AT = 128;
//? copy = { map = "a_map", direction = "load", coords = [0, 0], smem_base = 128 }
#else
constexpr int TILE_AT = 1024;  // the pattern follows the address and repeats every 1024 bytes
//? copy = { map = "a_map", direction = "load", coords = [0, 0], smem_base = 1024 }
#endif

extern "C" __global__ void swizzle_read_from_tile_start(const __grid_constant__ CUtensorMap a_map, u8* b) {
  __shared__ alignas(1024) u8 memory[TILE_AT + TILE_BYTES];
  __shared__ u64 full_barrier;
  u8* tile = memory + TILE_AT;
  const int row = ROWS * blockIdx.x;
  if (threadIdx.x == 0) {
    mbarrier_init(&full_barrier, 1);
    fence_mbarrier_init();
    mbarrier_arrive_expect_tx(&full_barrier, TILE_BYTES);
    cp_async_bulk_tensor_2d_shared_cluster_global_tile(tile, &a_map, 0, row, &full_barrier);
  }
  __syncthreads();
  if (!wait_for_phase(&full_barrier, 0, DEADLINE_NS)) return;
  for (int chunk = threadIdx.x; chunk < 8 * ROWS; chunk += blockDim.x) {
    const int r = chunk / 8, c = chunk % 8;
    const u8* from = tile + r * ROW_BYTES + ((c ^ r % 8) * 16);
    *reinterpret_cast<uint4*>(b + row * ROW_BYTES + 16 * chunk) = *reinterpret_cast<const uint4*>(from);
  }
}
