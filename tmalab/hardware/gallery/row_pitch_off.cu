// A row has 66 float16 elements, and the next one begins right behind it.
//@ launch = { grid = 64, block = 32 }
//@ buffers.a = { pattern = "random", seed = 1, bytes = 294912 }
//@ buffers.b = { pattern = "fill", value = 205, bytes = 294912 }
#ifdef BROKEN
//@ maps.a_map = { buffer = "a", dtype = "float16", global_dim = [66, 2048], global_strides = [132], box_dim = [72, 32] }
#else
//@ maps.a_map = { buffer = "a", dtype = "float16", global_dim = [66, 2048], global_strides = [144], box_dim = [72, 32] }
#endif
//@ arguments = ["a_map", "b"]
//@ expect = { b = "a", bytes = 132, of = 144 }
#include "gallery.cuh"

constexpr int PITCH = 72 * 2, WORDS = 66 / 2;

extern "C" __global__ void row_pitch_off(const __grid_constant__ CUtensorMap a_map, u8* b) {
  __shared__ alignas(128) u8 tile[ROWS * PITCH];
  __shared__ u64 full_barrier;
  const int row = ROWS * blockIdx.x;
  if (threadIdx.x == 0) {
    mbarrier_init(&full_barrier, 1);
    fence_mbarrier_init();
    mbarrier_arrive_expect_tx(&full_barrier, ROWS * PITCH);
    cp_async_bulk_tensor_2d_shared_cluster_global_tile(tile, &a_map, 0, row, &full_barrier);
  }
  __syncthreads();
  if (!wait_for_phase(&full_barrier, 0, DEADLINE_NS)) return;
  for (int i = threadIdx.x; i < ROWS * WORDS; i += blockDim.x) {
    const int at = i / WORDS * PITCH + i % WORDS * 4;
    *reinterpret_cast<u32*>(b + row * PITCH + at) = *reinterpret_cast<const u32*>(tile + at);
  }
}
