// Each block has a tensor map in global memory. It is used for a tensor called old, then written anew, for a.
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

extern "C" __global__ void descriptor_stale(const __grid_constant__ CUtensorMap a_map,
                                            const __grid_constant__ CUtensorMap old_map, CUtensorMap* slots, u8* b) {
  __shared__ alignas(128) u8 tile[TILE_BYTES];
  __shared__ u64 full_barrier;
  CUtensorMap* map = slots + blockIdx.x;
  const int row = ROWS * blockIdx.x;
  if (threadIdx.x == 0) {
    mbarrier_init(&full_barrier, 1);  //: init init bar=full count=1
    fence_mbarrier_init();
    set_map(map, old_map);  //: host memcpy_desc desc=d
    fence_proxy_tensormap_generic_release_gpu();
    fence_proxy_tensormap_generic_acquire_gpu(map);        //: t0 fence_tensormap_acquire desc=d
    mbarrier_arrive_expect_tx(&full_barrier, TILE_BYTES);  //: t0 arrive_expect_tx bar=full bytes=4096
    //: t0 tma_load bar=full bytes=4096 buf=tile desc=d
    cp_async_bulk_tensor_2d_shared_cluster_global_tile(tile, map, 0, row, &full_barrier);
    if (!wait_for_phase(&full_barrier, 0, DEADLINE_NS)) return;  //: t0 wait bar=full parity=0
    set_map(map, a_map);                                         //: t0 tensormap_replace desc=d
#ifdef BROKEN
    __threadfence();
#else
    fence_proxy_tensormap_generic_release_gpu();
    fence_proxy_tensormap_generic_acquire_gpu(map);  //: t0 fence_tensormap_acquire desc=d
#endif
    mbarrier_arrive_expect_tx(&full_barrier, TILE_BYTES);  //: t0 arrive_expect_tx bar=full bytes=4096
    //: t0 tma_load bar=full bytes=4096 buf=tile desc=d
    cp_async_bulk_tensor_2d_shared_cluster_global_tile(tile, map, 0, row, &full_barrier);
  }
  __syncthreads();
  if (!wait_for_phase(&full_barrier, 1, DEADLINE_NS)) return;  //: t0 wait bar=full parity=1
  write_out(b + row * ROW_BYTES, tile, TILE_BYTES);            //: t0 ld_shared buf=tile
}
