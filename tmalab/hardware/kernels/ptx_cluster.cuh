// Arriving at another block's barrier without a fence of the whole GPU in front.
//
// Manual: PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier.arrive".
#pragma once
#include "ptx_barrier.cuh"

// mbarrier.arrive.shared::cluster.b64 _, [addr];  // PTX ISA 8.0, sm_90
// Orders no memory but this block's own: with .release.cluster a MEMBAR.ALL.GPU stands in front (ptxas 13.0), and it
// waits. Enough where all that was read is a tile whose products have been waited for.
__device__ __forceinline__ void mbarrier_arrive_shared_cluster(u32 addr) {
  asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(addr) : "memory");
}
