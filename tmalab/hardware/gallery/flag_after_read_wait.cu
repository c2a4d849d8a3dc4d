// In a cluster of two, block 0 stores a tile of 256 rows to c and raises a flag; block 1 copies c to b.
//@ launch = { grid = 2048, block = 128, runs = 1024 }
//@ buffers.a = { pattern = "random", seed = 1, bytes = 33554432 }
//@ buffers.b = { pattern = "fill", value = 205, bytes = 33554432 }
//@ buffers.c = { pattern = "fill", value = 205, bytes = 33554432 }
//@ buffers.flags = { pattern = "fill", value = 0, bytes = 4096 }
//@ maps.c_map = { buffer = "c", dtype = "float16", global_dim = [64, 262144], global_strides = [128], box_dim = [64, 256] }
//@ arguments = ["a", "c_map", "c", "flags", "b"]
//@ expect = { b = "a" }
#include "gallery.cuh"

constexpr int BYTES = 256 * ROW_BYTES;

extern "C" __global__ void __cluster_dims__(2, 1, 1)
    flag_after_read_wait(const u8* a, const __grid_constant__ CUtensorMap c_map, u8* c, u32* flags, u8* b) {
  __shared__ alignas(128) u8 tile[BYTES];
  const int run = blockIdx.x / 2, row = 256 * run;
  if (blockIdx.x % 2 == 0) {
    read_in(tile, a + row * ROW_BYTES, BYTES);  //: all st_shared buf=tile
    fence_proxy_async_shared_cta();             //: all fence_proxy_async
    __syncthreads();                            //: all cta_sync
    if (threadIdx.x == 0) {
      cp_async_bulk_tensor_2d_global_shared_cta_tile(&c_map, 0, row, tile);  //: t0 tma_store buf=tile
      cp_async_bulk_commit_group();                                          //: t0 commit_group
#ifdef BROKEN
      cp_async_bulk_wait_group_read<0>();  //: t0 wait_group n=0 read=1
#else
      cp_async_bulk_wait_group<0>();  //: t0 wait_group n=0
#endif
      __threadfence();
      atomicExch(&flags[run], 1u);    //: t0 st_global_flag flag=ready
      cp_async_bulk_wait_group<0>();
    }
  } else {
    const u64 until_ns = globaltimer() + DEADLINE_NS;
    while (atomicAdd(&flags[run], 0u) == 0u && globaltimer() < until_ns) {
    }
    __threadfence();
    for (int at = BYTES - 16 - 16 * threadIdx.x; at >= 0; at -= 16 * blockDim.x) {
      const uint4 chunk = __ldcg(reinterpret_cast<const uint4*>(c + row * ROW_BYTES + at));
      *reinterpret_cast<uint4*>(b + row * ROW_BYTES + at) = chunk;
    }
  }
}
