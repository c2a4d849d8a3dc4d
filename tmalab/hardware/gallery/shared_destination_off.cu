// Each block brings two slots of 16 floats. A slot's bytes are all that lies between them.
//@ launch = { grid = 64, block = 32 }
//@ buffers.a = { pattern = "random", seed = 1, bytes = 8192 }
//@ buffers.b = { pattern = "fill", value = 205, bytes = 8192 }
//@ maps.a_map = { buffer = "a", dtype = "float32", global_dim = [2048], global_strides = [], box_dim = [16] }
//@ arguments = ["a_map", "b"]
//@ expect = { b = "a" }
#include "gallery.cuh"

constexpr int SLOT_BYTES = 16 * 4;
#ifdef BROKEN
constexpr int SLOT_PITCH = SLOT_BYTES;
//? copy = { map = "a_map", direction = "load", coords = [16], smem_base = 64 }
#else
constexpr int SLOT_PITCH = 128;  // a tensor copy writes to multiples of 128
//? copy = { map = "a_map", direction = "load", coords = [16], smem_base = 128 }
#endif

extern "C" __global__ void shared_destination_off(const __grid_constant__ CUtensorMap a_map, u8* b) {
  __shared__ alignas(128) u8 slots[2 * SLOT_PITCH];
  __shared__ u64 full_barrier;
  if (threadIdx.x == 0) {
    mbarrier_init(&full_barrier, 1);
    fence_mbarrier_init();
    mbarrier_arrive_expect_tx(&full_barrier, 2 * SLOT_BYTES);
    for (int slot = 0; slot < 2; ++slot) {
      cp_async_bulk_tensor_1d_shared_cluster_global_tile(slots + slot * SLOT_PITCH, &a_map,
                                                         16 * (2 * blockIdx.x + slot), &full_barrier);
    }
  }
  __syncthreads();
  if (!wait_for_phase(&full_barrier, 0, DEADLINE_NS)) return;
  for (int slot = 0; slot < 2; ++slot) {
    write_out(b + (2 * blockIdx.x + slot) * SLOT_BYTES, slots + slot * SLOT_PITCH, SLOT_BYTES);
  }
}
