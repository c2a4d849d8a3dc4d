// TMA loads and stores: cp.async.bulk.tensor, ranks 1 to 5, tiled and im2col.
//
// Coordinates are in elements, innermost dimension first, as in the tensor map. A load completes `mbar`'s
// transaction count with the bytes that it wrote; a store is waited for through its bulk group. One thread issues.
//
// Manual: PTX ISA, "Data Movement and Conversion Instructions: cp.async.bulk.tensor", and "Tensors" for im2col.
#pragma once
#include "ptx.cuh"

// --- loads, tiled -----------------------------------------------------------------------------------------------

// cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [dstMem], [tensorMap, {c0}], [mbar];
// PTX ISA 8.0, sm_90
__device__ __forceinline__ void cp_async_bulk_tensor_1d_shared_cluster_global_tile(
    void* dst_mem, const CUtensorMap* tensor_map, int c0, u64* mbar) {
  asm volatile(
      "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2}], [%3];" ::"r"(shared_address(dst_mem)),
      "l"(tensor_map), "r"(c0), "r"(shared_address(mbar))
      : "memory");
}

// cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [dstMem], [tensorMap, {c0, c1}], [mbar];
// PTX ISA 8.0, sm_90
__device__ __forceinline__ void cp_async_bulk_tensor_2d_shared_cluster_global_tile(
    void* dst_mem, const CUtensorMap* tensor_map, int c0, int c1, u64* mbar) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(dst_mem)),
      "l"(tensor_map), "r"(c0), "r"(c1), "r"(shared_address(mbar))
      : "memory");
}

// cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [dstMem], [tensorMap, {c0, c1, c2}], [mbar];
// PTX ISA 8.0, sm_90
__device__ __forceinline__ void cp_async_bulk_tensor_3d_shared_cluster_global_tile(
    void* dst_mem, const CUtensorMap* tensor_map, int c0, int c1, int c2, u64* mbar) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(shared_address(dst_mem)),
      "l"(tensor_map), "r"(c0), "r"(c1), "r"(c2), "r"(shared_address(mbar))
      : "memory");
}

// cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [dstMem], [tensorMap, {c0, c1, c2, c3}], [mbar];
// PTX ISA 8.0, sm_90
__device__ __forceinline__ void cp_async_bulk_tensor_4d_shared_cluster_global_tile(
    void* dst_mem, const CUtensorMap* tensor_map, int c0, int c1, int c2, int c3, u64* mbar) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3, %4, %5}], [%6];" ::"r"(shared_address(dst_mem)),
      "l"(tensor_map), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(shared_address(mbar))
      : "memory");
}

// cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [dstMem], [tensorMap, {c0, c1, c2, c3, c4}], [mbar];
// PTX ISA 8.0, sm_90
__device__ __forceinline__ void cp_async_bulk_tensor_5d_shared_cluster_global_tile(
    void* dst_mem, const CUtensorMap* tensor_map, int c0, int c1, int c2, int c3, int c4, u64* mbar) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3, %4, %5, %6}], [%7];" ::"r"(shared_address(dst_mem)),
      "l"(tensor_map), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4), "r"(shared_address(mbar))
      : "memory");
}

// --- loads, im2col: o0 (o1, o2) are the offsets inside the filter, innermost spatial dimension first ------------

// cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [dstMem], [tensorMap, {c0, c1, c2}], [mbar], {o0};
// PTX ISA 8.0, sm_90
__device__ __forceinline__ void cp_async_bulk_tensor_3d_shared_cluster_global_im2col(
    void* dst_mem, const CUtensorMap* tensor_map, int c0, int c1, int c2, u64* mbar, u16 o0) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3, %4}], [%5], {%6};" ::"r"(shared_address(dst_mem)),
      "l"(tensor_map), "r"(c0), "r"(c1), "r"(c2), "r"(shared_address(mbar)), "h"(o0)
      : "memory");
}

// cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [dstMem], [tensorMap, {c0, c1, c2, c3}], [mbar], {o0, o1};
// PTX ISA 8.0, sm_90
__device__ __forceinline__ void cp_async_bulk_tensor_4d_shared_cluster_global_im2col(
    void* dst_mem, const CUtensorMap* tensor_map, int c0, int c1, int c2, int c3, u64* mbar, u16 o0, u16 o1) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8};" ::"r"(shared_address(dst_mem)),
      "l"(tensor_map), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(shared_address(mbar)), "h"(o0), "h"(o1)
      : "memory");
}

// cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [dstMem], [tensorMap, {c0, c1, c2, c3, c4}], [mbar], {o0, o1, o2};
// PTX ISA 8.0, sm_90
__device__ __forceinline__ void cp_async_bulk_tensor_5d_shared_cluster_global_im2col(
    void* dst_mem, const CUtensorMap* tensor_map, int c0, int c1, int c2, int c3, int c4, u64* mbar, u16 o0, u16 o1,
    u16 o2) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3, %4, %5, %6}], [%7], {%8, %9, %10};" ::"r"(shared_address(dst_mem)),
      "l"(tensor_map), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4), "r"(shared_address(mbar)), "h"(o0), "h"(o1), "h"(o2)
      : "memory");
}

// --- stores -----------------------------------------------------------------------------------------------------

// cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [tensorMap, {c0}], [srcMem];
// PTX ISA 8.0, sm_90
__device__ __forceinline__ void cp_async_bulk_tensor_1d_global_shared_cta_tile(
    const CUtensorMap* tensor_map, int c0, const void* src_mem) {
  asm volatile(
      "cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group "
      "[%0, {%1}], [%2];" ::"l"(tensor_map),
      "r"(c0), "r"(shared_address(src_mem))
      : "memory");
}

// cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [tensorMap, {c0, c1}], [srcMem];
// PTX ISA 8.0, sm_90
__device__ __forceinline__ void cp_async_bulk_tensor_2d_global_shared_cta_tile(
    const CUtensorMap* tensor_map, int c0, int c1, const void* src_mem) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group "
      "[%0, {%1, %2}], [%3];" ::"l"(tensor_map),
      "r"(c0), "r"(c1), "r"(shared_address(src_mem))
      : "memory");
}

// cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [tensorMap, {c0, c1, c2}], [srcMem];
// PTX ISA 8.0, sm_90
__device__ __forceinline__ void cp_async_bulk_tensor_3d_global_shared_cta_tile(
    const CUtensorMap* tensor_map, int c0, int c1, int c2, const void* src_mem) {
  asm volatile(
      "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group "
      "[%0, {%1, %2, %3}], [%4];" ::"l"(tensor_map),
      "r"(c0), "r"(c1), "r"(c2), "r"(shared_address(src_mem))
      : "memory");
}

// cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group [tensorMap, {c0, c1, c2, c3}], [srcMem];
// PTX ISA 8.0, sm_90
__device__ __forceinline__ void cp_async_bulk_tensor_4d_global_shared_cta_tile(
    const CUtensorMap* tensor_map, int c0, int c1, int c2, int c3, const void* src_mem) {
  asm volatile(
      "cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group "
      "[%0, {%1, %2, %3, %4}], [%5];" ::"l"(tensor_map),
      "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(shared_address(src_mem))
      : "memory");
}

// cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group [tensorMap, {c0, c1, c2, c3, c4}], [srcMem];
// PTX ISA 8.0, sm_90
__device__ __forceinline__ void cp_async_bulk_tensor_5d_global_shared_cta_tile(
    const CUtensorMap* tensor_map, int c0, int c1, int c2, int c3, int c4, const void* src_mem) {
  asm volatile(
      "cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group "
      "[%0, {%1, %2, %3, %4, %5}], [%6];" ::"l"(tensor_map),
      "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4), "r"(shared_address(src_mem))
      : "memory");
}

// cp.async.bulk.tensor.3d.global.shared::cta.im2col_no_offs.bulk_group [tensorMap, {c0, c1, c2}], [srcMem];
// PTX ISA 8.0, sm_90
__device__ __forceinline__ void cp_async_bulk_tensor_3d_global_shared_cta_im2col_no_offs(
    const CUtensorMap* tensor_map, int c0, int c1, int c2, const void* src_mem) {
  asm volatile(
      "cp.async.bulk.tensor.3d.global.shared::cta.im2col_no_offs.bulk_group "
      "[%0, {%1, %2, %3}], [%4];" ::"l"(tensor_map),
      "r"(c0), "r"(c1), "r"(c2), "r"(shared_address(src_mem))
      : "memory");
}

// cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group [tensorMap, {c0, c1, c2, c3}], [srcMem];
// PTX ISA 8.0, sm_90
__device__ __forceinline__ void cp_async_bulk_tensor_4d_global_shared_cta_im2col_no_offs(
    const CUtensorMap* tensor_map, int c0, int c1, int c2, int c3, const void* src_mem) {
  asm volatile(
      "cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group "
      "[%0, {%1, %2, %3, %4}], [%5];" ::"l"(tensor_map),
      "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(shared_address(src_mem))
      : "memory");
}

// cp.async.bulk.tensor.5d.global.shared::cta.im2col_no_offs.bulk_group [tensorMap, {c0, c1, c2, c3, c4}], [srcMem];
// PTX ISA 8.0, sm_90
__device__ __forceinline__ void cp_async_bulk_tensor_5d_global_shared_cta_im2col_no_offs(
    const CUtensorMap* tensor_map, int c0, int c1, int c2, int c3, int c4, const void* src_mem) {
  asm volatile(
      "cp.async.bulk.tensor.5d.global.shared::cta.im2col_no_offs.bulk_group "
      "[%0, {%1, %2, %3, %4, %5}], [%6];" ::"l"(tensor_map),
      "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4), "r"(shared_address(src_mem))
      : "memory");
}
