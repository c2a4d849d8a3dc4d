// The fences of the tensormap proxy, through which the engine reads a descriptor that lies in global memory.
//
// Manual: PTX ISA, "Parallel Synchronization and Communication Instructions: membar / fence", proxykind tensormap.
#pragma once
#include "ptx.cuh"

// fence.proxy.tensormap::generic.release.gpu;  // PTX ISA 8.3, sm_90
// Ordinary writes of a descriptor, made ready for an acquire.
__device__ __forceinline__ void fence_proxy_tensormap_generic_release_gpu() {
  asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
}

// fence.proxy.tensormap::generic.acquire.gpu [addr], 128;  // PTX ISA 8.3, sm_90
// Uses of the descriptor after it see what was released before it, and no older copy.
__device__ __forceinline__ void fence_proxy_tensormap_generic_acquire_gpu(const CUtensorMap* addr) {
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(addr) : "memory");
}
