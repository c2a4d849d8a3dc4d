// In a cluster of two, block 1 brings a tile to both and copies it out. Block 0 has nothing to do with it, it was only in the mask.
//@ launch = { grid = 16384, block = 32, runs = 8192 }
//@ buffers.a = { pattern = "random", seed = 1, bytes = 33554432 }
//@ buffers.b = { pattern = "fill", value = 205, bytes = 33554432 }
//@ maps.a_map = { buffer = "a", dtype = "float16", global_dim = [64, 262144], global_strides = [128], box_dim = [64, 32] }
//@ arguments = ["a_map", "b"]
//@ expect = { b = "a" }
#include "gallery.cuh"
#include "ptx_multicast.cuh"

extern "C" __global__ void __cluster_dims__(2, 1, 1)
    peer_has_left(const __grid_constant__ CUtensorMap a_map, u8* b) {
  __shared__ alignas(128) u8 tile[TILE_BYTES];
  __shared__ u64 full_barrier;
  const int row = ROWS * (blockIdx.x / 2), rank = blockIdx.x % 2;
  if (threadIdx.x == 0) {
    //: init init bar=cta0.full count=1
    //: init init bar=cta1.full count=1
    mbarrier_init(&full_barrier, 1);
    fence_mbarrier_init();
    mbarrier_arrive_expect_tx(&full_barrier, TILE_BYTES);
    //: c0 arrive_expect_tx bar=cta0.full bytes=4096
    //: c1 arrive_expect_tx bar=cta1.full bytes=4096
  }
  barrier_cluster_arrive();
  barrier_cluster_wait();
  //: c0 cluster_sync
  //: c1 cluster_sync
#ifdef BROKEN
  if (rank == 0) return;  //: c0 exit
#endif
  if (rank == 1 && threadIdx.x == 0) {
    //: c1 tma_load bar=cta0.full bytes=4096
    //: c1 tma_load bar=cta1.full bytes=4096
    cp_async_bulk_tensor_2d_shared_cluster_global_tile_multicast_cluster(tile, &a_map, 0, row, &full_barrier, 3);
  }
#ifndef BROKEN
  //: c0 wait bar=cta0.full parity=0
#endif
  //: c1 wait bar=cta1.full parity=0
  if (!wait_for_phase(&full_barrier, 0, DEADLINE_NS)) return;
  if (rank == 1) write_out(b + row * ROW_BYTES, tile, TILE_BYTES);
}
