// The multicast form of a TMA load: one read of global memory, one tile in each of several blocks of a cluster.
//
// Manual: PTX ISA, "Data Movement and Conversion Instructions: cp.async.bulk.tensor", multicast::cluster.
#pragma once
#include "ptx.cuh"

// cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [dstMem], [tensorMap, {c0, c1}], [mbar], ctaMask;
// PTX ISA 8.0, sm_90
// Writes at the same offset in every block whose bit is set, and completes the bytes on each one's own barrier there.
__device__ __forceinline__ void cp_async_bulk_tensor_2d_shared_cluster_global_tile_multicast_cluster(
    void* dst_mem, const CUtensorMap* tensor_map, int c0, int c1, u64* mbar, u16 cta_mask) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared_address(dst_mem)),
      "l"(tensor_map), "r"(c0), "r"(c1), "r"(shared_address(mbar)), "h"(cta_mask)
      : "memory");
}
