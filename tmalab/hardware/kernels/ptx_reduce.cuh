// TMA reductions: cp.reduce.async.bulk.tensor, ranks 1 to 5: global memory becomes op(global, shared), per element.
//
// `redOp` is a template argument; "C" puts its PTX word into the mnemonic. One thread issues; the copy is waited for
// through its bulk group, as a store is.
//
// Manual: PTX ISA, "Data Movement and Conversion Instructions: cp.reduce.async.bulk.tensor".
#pragma once
#include "ptx.cuh"

enum class RedOp : u32 { add, min, max, inc, dec, and_, or_, xor_ };

template <RedOp>
struct PtxWord;
template <>
struct PtxWord<RedOp::add> {
  static constexpr const char text[] = ".add";
};
template <>
struct PtxWord<RedOp::min> {
  static constexpr const char text[] = ".min";
};
template <>
struct PtxWord<RedOp::max> {
  static constexpr const char text[] = ".max";
};
template <>
struct PtxWord<RedOp::inc> {
  static constexpr const char text[] = ".inc";
};
template <>
struct PtxWord<RedOp::dec> {
  static constexpr const char text[] = ".dec";
};
template <>
struct PtxWord<RedOp::and_> {
  static constexpr const char text[] = ".and";
};
template <>
struct PtxWord<RedOp::or_> {
  static constexpr const char text[] = ".or";
};
template <>
struct PtxWord<RedOp::xor_> {
  static constexpr const char text[] = ".xor";
};

// cp.reduce.async.bulk.tensor.1d.global.shared::cta.redOp.tile.bulk_group [tensorMap, {c0}], [srcMem];
// PTX ISA 8.0, sm_90
template <RedOp redOp>
__device__ __forceinline__ void cp_reduce_async_bulk_tensor_1d_global_shared_cta_tile(
    const CUtensorMap* tensor_map, int c0, const void* src_mem) {
  asm volatile(
      "cp.reduce.async.bulk.tensor.1d.global.shared::cta%0.tile.bulk_group "
      "[%1, {%2}], [%3];" ::"C"(PtxWord<redOp>::text),
      "l"(tensor_map), "r"(c0), "r"(shared_address(src_mem))
      : "memory");
}

// cp.reduce.async.bulk.tensor.2d.global.shared::cta.redOp.tile.bulk_group [tensorMap, {c0, c1}], [srcMem];
// PTX ISA 8.0, sm_90
template <RedOp redOp>
__device__ __forceinline__ void cp_reduce_async_bulk_tensor_2d_global_shared_cta_tile(
    const CUtensorMap* tensor_map, int c0, int c1, const void* src_mem) {
  asm volatile(
      "cp.reduce.async.bulk.tensor.2d.global.shared::cta%0.tile.bulk_group "
      "[%1, {%2, %3}], [%4];" ::"C"(PtxWord<redOp>::text),
      "l"(tensor_map), "r"(c0), "r"(c1), "r"(shared_address(src_mem))
      : "memory");
}

// cp.reduce.async.bulk.tensor.3d.global.shared::cta.redOp.tile.bulk_group [tensorMap, {c0, c1, c2}], [srcMem];
// PTX ISA 8.0, sm_90
template <RedOp redOp>
__device__ __forceinline__ void cp_reduce_async_bulk_tensor_3d_global_shared_cta_tile(
    const CUtensorMap* tensor_map, int c0, int c1, int c2, const void* src_mem) {
  asm volatile(
      "cp.reduce.async.bulk.tensor.3d.global.shared::cta%0.tile.bulk_group "
      "[%1, {%2, %3, %4}], [%5];" ::"C"(PtxWord<redOp>::text),
      "l"(tensor_map), "r"(c0), "r"(c1), "r"(c2), "r"(shared_address(src_mem))
      : "memory");
}

// cp.reduce.async.bulk.tensor.4d.global.shared::cta.redOp.tile.bulk_group [tensorMap, {c0, c1, c2, c3}], [srcMem];
// PTX ISA 8.0, sm_90
template <RedOp redOp>
__device__ __forceinline__ void cp_reduce_async_bulk_tensor_4d_global_shared_cta_tile(
    const CUtensorMap* tensor_map, int c0, int c1, int c2, int c3, const void* src_mem) {
  asm volatile(
      "cp.reduce.async.bulk.tensor.4d.global.shared::cta%0.tile.bulk_group "
      "[%1, {%2, %3, %4, %5}], [%6];" ::"C"(PtxWord<redOp>::text),
      "l"(tensor_map), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(shared_address(src_mem))
      : "memory");
}

// cp.reduce.async.bulk.tensor.5d.global.shared::cta.redOp.tile.bulk_group [tensorMap, {c0, c1, c2, c3, c4}], [srcMem];
// PTX ISA 8.0, sm_90
template <RedOp redOp>
__device__ __forceinline__ void cp_reduce_async_bulk_tensor_5d_global_shared_cta_tile(
    const CUtensorMap* tensor_map, int c0, int c1, int c2, int c3, int c4, const void* src_mem) {
  asm volatile(
      "cp.reduce.async.bulk.tensor.5d.global.shared::cta%0.tile.bulk_group "
      "[%1, {%2, %3, %4, %5, %6}], [%7];" ::"C"(PtxWord<redOp>::text),
      "l"(tensor_map), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4), "r"(shared_address(src_mem))
      : "memory");
}

// cp.reduce.async.bulk.tensor.3d.global.shared::cta.redOp.im2col_no_offs.bulk_group [tensorMap, {c0, c1, c2}], [srcMem];
// PTX ISA 8.0, sm_90
template <RedOp redOp>
__device__ __forceinline__ void cp_reduce_async_bulk_tensor_3d_global_shared_cta_im2col_no_offs(
    const CUtensorMap* tensor_map, int c0, int c1, int c2, const void* src_mem) {
  asm volatile(
      "cp.reduce.async.bulk.tensor.3d.global.shared::cta%0.im2col_no_offs.bulk_group "
      "[%1, {%2, %3, %4}], [%5];" ::"C"(PtxWord<redOp>::text),
      "l"(tensor_map), "r"(c0), "r"(c1), "r"(c2), "r"(shared_address(src_mem))
      : "memory");
}

// cp.reduce.async.bulk.tensor.4d.global.shared::cta.redOp.im2col_no_offs.bulk_group [tensorMap, {c0, c1, c2, c3}], [srcMem];
// PTX ISA 8.0, sm_90
template <RedOp redOp>
__device__ __forceinline__ void cp_reduce_async_bulk_tensor_4d_global_shared_cta_im2col_no_offs(
    const CUtensorMap* tensor_map, int c0, int c1, int c2, int c3, const void* src_mem) {
  asm volatile(
      "cp.reduce.async.bulk.tensor.4d.global.shared::cta%0.im2col_no_offs.bulk_group "
      "[%1, {%2, %3, %4, %5}], [%6];" ::"C"(PtxWord<redOp>::text),
      "l"(tensor_map), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(shared_address(src_mem))
      : "memory");
}

// cp.reduce.async.bulk.tensor.5d.global.shared::cta.redOp.im2col_no_offs.bulk_group [tensorMap, {c0, c1, c2, c3, c4}], [srcMem];
// PTX ISA 8.0, sm_90
template <RedOp redOp>
__device__ __forceinline__ void cp_reduce_async_bulk_tensor_5d_global_shared_cta_im2col_no_offs(
    const CUtensorMap* tensor_map, int c0, int c1, int c2, int c3, int c4, const void* src_mem) {
  asm volatile(
      "cp.reduce.async.bulk.tensor.5d.global.shared::cta%0.im2col_no_offs.bulk_group "
      "[%1, {%2, %3, %4, %5, %6}], [%7];" ::"C"(PtxWord<redOp>::text),
      "l"(tensor_map), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4), "r"(shared_address(src_mem))
      : "memory");
}
