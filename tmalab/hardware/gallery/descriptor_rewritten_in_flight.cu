// Each block loads a tile of a through a tensor map in global memory, then writes the next map over it.
//@ launch = { grid = 1024, block = 32 }
//@ buffers.a = { pattern = "random", seed = 1, bytes = 4194304 }
//@ buffers.b = { pattern = "fill", value = 205, bytes = 4194304 }
//@ buffers.old = { pattern = "random", seed = 2, bytes = 4194304 }
//@ buffers.slots = { pattern = "fill", value = 0, bytes = 131072 }
//@ maps.a_map = { buffer = "a", dtype = "float16", global_dim = [64, 32768], global_strides = [128], box_dim = [64, 32] }
//@ maps.old_map = { buffer = "old", dtype = "float16", global_dim = [64, 32768], global_strides = [128], box_dim = [64, 32] }
//@ arguments = ["a_map", "old_map", "slots", "b"]
//@ expect = { b = "a" }
#include "gallery.cuh"
#include "ptx_tensormap.cuh"

__device__ void set_map(CUtensorMap* to, const CUtensorMap& from) {
  for (int i = 0; i < 16; ++i) to->opaque[i] = from.opaque[i];
}

extern "C" __global__ void descriptor_rewritten_in_flight(const __grid_constant__ CUtensorMap a_map,
                                                          const __grid_constant__ CUtensorMap old_map,
                                                          CUtensorMap* slots, u8* b) {
  __shared__ alignas(128) u8 tiles[2][TILE_BYTES];
  __shared__ u64 full_barriers[2];
  CUtensorMap* map = slots + blockIdx.x;
  const int row = ROWS * blockIdx.x;
  if (threadIdx.x == 0) {
    mbarrier_init(&full_barriers[0], 1);  //: init init bar=full0 count=1
    mbarrier_init(&full_barriers[1], 1);  //: init init bar=full1 count=1
    fence_mbarrier_init();
    set_map(map, a_map);  //: host memcpy_desc desc=d
    fence_proxy_tensormap_generic_release_gpu();
    fence_proxy_tensormap_generic_acquire_gpu(map);            //: t0 fence_tensormap_acquire desc=d
    mbarrier_arrive_expect_tx(&full_barriers[0], TILE_BYTES);  //: t0 arrive_expect_tx bar=full0 bytes=4096
    mbarrier_arrive_expect_tx(&full_barriers[1], TILE_BYTES);  //: t0 arrive_expect_tx bar=full1 bytes=4096
    //: t0 tma_load bar=full0 bytes=4096 buf=s0 desc=d
    cp_async_bulk_tensor_2d_shared_cluster_global_tile(tiles[0], map, 0, row, &full_barriers[0]);
#ifndef BROKEN
    if (!wait_for_phase(&full_barriers[0], 0, DEADLINE_NS)) return;  //: t0 wait bar=full0 parity=0
#endif
    set_map(map, old_map);  //: t0 tensormap_replace desc=d
    fence_proxy_tensormap_generic_release_gpu();
    fence_proxy_tensormap_generic_acquire_gpu(map);  //: t0 fence_tensormap_acquire desc=d
    //: t0 tma_load bar=full1 bytes=4096 buf=s1 desc=d
    cp_async_bulk_tensor_2d_shared_cluster_global_tile(tiles[1], map, 0, row, &full_barriers[1]);
  }
  __syncthreads();
  if (!wait_for_phase(&full_barriers[0], 0, DEADLINE_NS)) return;  //: t0 wait bar=full0 parity=0
  if (!wait_for_phase(&full_barriers[1], 0, DEADLINE_NS)) return;  //: t0 wait bar=full1 parity=0
  write_out(b + row * ROW_BYTES, tiles[0], TILE_BYTES);            //: t0 ld_shared buf=s0
}
