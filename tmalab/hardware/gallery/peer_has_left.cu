// In a cluster of two, block 1 copies a tile and tells block 0, which has nothing else to do.
//@ launch = { grid = 128, block = 32, runs = 64 }
//@ buffers.a = { pattern = "random", seed = 1, bytes = 262144 }
//@ buffers.b = { pattern = "fill", value = 205, bytes = 262144 }
//@ maps.a_map = { buffer = "a", dtype = "float16", global_dim = [64, 2048], global_strides = [128], box_dim = [64, 32] }
//@ arguments = ["a_map", "b"]
//@ expect = { b = "a" }
#include "gallery.cuh"

extern "C" __global__ void __cluster_dims__(2, 1, 1)
    peer_has_left(const __grid_constant__ CUtensorMap a_map, u8* b) {
  __shared__ alignas(128) u8 tile[TILE_BYTES];
  __shared__ u64 full_barrier, done_barrier;
  const int row = ROWS * (blockIdx.x / 2), rank = blockIdx.x % 2;
  if (threadIdx.x == 0) {
    //: init init bar=cta0.done count=1
    //: init init bar=cta1.full count=1
    mbarrier_init(&full_barrier, 1);
    mbarrier_init(&done_barrier, 1);
    fence_mbarrier_init();
  }
  barrier_cluster_arrive();
  barrier_cluster_wait();
  //: c0 cluster_sync
  //: c1 cluster_sync
  if (rank == 0) {
#ifndef BROKEN
    if (!wait_for_phase(&done_barrier, 0, DEADLINE_NS)) return;  //: c0 wait bar=cta0.done parity=0
#endif
    return;  //: c0 exit
  }
  if (threadIdx.x == 0) {
    mbarrier_arrive_expect_tx(&full_barrier, TILE_BYTES);  //: c1 arrive_expect_tx bar=cta1.full bytes=4096
    //: c1 tma_load bar=cta1.full bytes=4096 buf=tile
    cp_async_bulk_tensor_2d_shared_cluster_global_tile(tile, &a_map, 0, row, &full_barrier);
  }
  __syncthreads();
  if (!wait_for_phase(&full_barrier, 0, DEADLINE_NS)) return;  //: c1 wait bar=cta1.full parity=0
  write_out(b + row * ROW_BYTES, tile, TILE_BYTES);            //: c1 ld_shared buf=tile
  __syncthreads();
  if (threadIdx.x == 0) {
    //: c1 arrive bar=cta0.done
    mbarrier_arrive_release_cluster_shared_cluster(mapa_shared_cluster(&done_barrier, 0));
  }
}
