// The block's other barriers: sixteen of them, each for as many threads as are named, 0 being __syncthreads'.
//
// Manual: PTX ISA, "Parallel Synchronization and Communication Instructions: bar, barrier".
#pragma once
#include "ptx.cuh"

// barrier.cta.sync.aligned id, threads;  // PTX ISA 7.8, sm_90
// Waits until `threads` threads, whole warps of them, have come to barrier `id`. All lanes of a warp call it together.
__device__ __forceinline__ void barrier_cta_sync_aligned(u32 id, u32 threads) {
  asm volatile("barrier.cta.sync.aligned %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
