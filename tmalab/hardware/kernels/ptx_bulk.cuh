// Copies of plain bytes through the TMA engine, without a tensor map, and what the L2 is told of the bytes.
//
// Addresses and sizes are multiples of 16. A policy is 64 bits that `createpolicy` makes.
//
// Manual: PTX ISA, "Data Movement and Conversion Instructions: cp.async.bulk, createpolicy".
#pragma once
#include "ptx.cuh"

// createpolicy.fractional.L2::evict_first.b64 policy, 1.0;  // PTX ISA 7.4, sm_80
// not volatile, no clobber: a number made from nothing.
__device__ __forceinline__ u64 createpolicy_fractional_L2_evict_first() {
  u64 policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

// createpolicy.fractional.L2::evict_normal.b64 policy, 1.0;  // PTX ISA 7.4, sm_80
// not volatile, no clobber: a number made from nothing.
__device__ __forceinline__ u64 createpolicy_fractional_L2_evict_normal() {
  u64 policy;
  asm("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

// cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [dstMem], [srcMem], size, [mbar], policy;
// PTX ISA 8.0, sm_90
__device__ __forceinline__ void cp_async_bulk_shared_cluster_global_L2_cache_hint(void* dst_mem, const void* src_mem,
                                                                                  u32 size, u64* mbar, u64 policy) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
      "[%0], [%1], %2, [%3], %4;" ::"r"(shared_address(dst_mem)),
      "l"(src_mem), "r"(size), "r"(shared_address(mbar)), "l"(policy)
      : "memory");
}

// cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [dstMem], [srcMem], size, policy;
// PTX ISA 8.0, sm_90
__device__ __forceinline__ void cp_async_bulk_global_shared_cta_L2_cache_hint(void* dst_mem, const void* src_mem,
                                                                              u32 size, u64 policy) {
  asm volatile(
      "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%0], [%1], %2, %3;" ::"l"(dst_mem),
      "r"(shared_address(src_mem)), "r"(size), "l"(policy)
      : "memory");
}

// cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint [dstMem], [tensorMap, {c0, c1}], [mbar], policy;
// PTX ISA 8.0, sm_90
__device__ __forceinline__ void cp_async_bulk_tensor_2d_shared_cluster_global_tile_L2_cache_hint(
    void* dst_mem, const CUtensorMap* tensor_map, int c0, int c1, u64* mbar, u64 policy) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint "
      "[%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared_address(dst_mem)),
      "l"(tensor_map), "r"(c0), "r"(c1), "r"(shared_address(mbar)), "l"(policy)
      : "memory");
}

// cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group.L2::cache_hint [tensorMap, {c0, c1}], [srcMem], policy;
// PTX ISA 8.0, sm_90
__device__ __forceinline__ void cp_async_bulk_tensor_2d_global_shared_cta_tile_L2_cache_hint(
    const CUtensorMap* tensor_map, int c0, int c1, const void* src_mem, u64 policy) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group.L2::cache_hint "
      "[%0, {%1, %2}], [%3], %4;" ::"l"(tensor_map),
      "r"(c0), "r"(c1), "r"(shared_address(src_mem)), "l"(policy)
      : "memory");
}
