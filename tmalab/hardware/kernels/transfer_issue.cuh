// Which instruction a transfer is: rank and mode are run-time values here, so every one of them is in the kernel.
#pragma once
#include "ptx_reduce.cuh"
#include "ptx_tensor.cuh"

constexpr u32 IM2COL = 8;  // added to the rank in the switches below

__device__ void issue_load(u32 rank_and_mode, void* dst, const CUtensorMap* map, const int* c, const u16* o,
                           u64* mbar) {
  switch (rank_and_mode) {
    case 1: return cp_async_bulk_tensor_1d_shared_cluster_global_tile(dst, map, c[0], mbar);
    case 2: return cp_async_bulk_tensor_2d_shared_cluster_global_tile(dst, map, c[0], c[1], mbar);
    case 3: return cp_async_bulk_tensor_3d_shared_cluster_global_tile(dst, map, c[0], c[1], c[2], mbar);
    case 4: return cp_async_bulk_tensor_4d_shared_cluster_global_tile(dst, map, c[0], c[1], c[2], c[3], mbar);
    case 5: return cp_async_bulk_tensor_5d_shared_cluster_global_tile(dst, map, c[0], c[1], c[2], c[3], c[4], mbar);
    case IM2COL + 3:
      return cp_async_bulk_tensor_3d_shared_cluster_global_im2col(dst, map, c[0], c[1], c[2], mbar, o[0]);
    case IM2COL + 4:
      return cp_async_bulk_tensor_4d_shared_cluster_global_im2col(dst, map, c[0], c[1], c[2], c[3], mbar, o[0], o[1]);
    case IM2COL + 5:
      return cp_async_bulk_tensor_5d_shared_cluster_global_im2col(dst, map, c[0], c[1], c[2], c[3], c[4], mbar, o[0],
                                                                  o[1], o[2]);
  }
}

__device__ void issue_store(u32 rank_and_mode, const CUtensorMap* map, const int* c, const void* src) {
  switch (rank_and_mode) {
    case 1: return cp_async_bulk_tensor_1d_global_shared_cta_tile(map, c[0], src);
    case 2: return cp_async_bulk_tensor_2d_global_shared_cta_tile(map, c[0], c[1], src);
    case 3: return cp_async_bulk_tensor_3d_global_shared_cta_tile(map, c[0], c[1], c[2], src);
    case 4: return cp_async_bulk_tensor_4d_global_shared_cta_tile(map, c[0], c[1], c[2], c[3], src);
    case 5: return cp_async_bulk_tensor_5d_global_shared_cta_tile(map, c[0], c[1], c[2], c[3], c[4], src);
    case IM2COL + 3: return cp_async_bulk_tensor_3d_global_shared_cta_im2col_no_offs(map, c[0], c[1], c[2], src);
    case IM2COL + 4: return cp_async_bulk_tensor_4d_global_shared_cta_im2col_no_offs(map, c[0], c[1], c[2], c[3], src);
    case IM2COL + 5:
      return cp_async_bulk_tensor_5d_global_shared_cta_im2col_no_offs(map, c[0], c[1], c[2], c[3], c[4], src);
  }
}

template <RedOp op>
__device__ void issue_reduce_op(u32 rank_and_mode, const CUtensorMap* map, const int* c, const void* src) {
  switch (rank_and_mode) {
    case 1: return cp_reduce_async_bulk_tensor_1d_global_shared_cta_tile<op>(map, c[0], src);
    case 2: return cp_reduce_async_bulk_tensor_2d_global_shared_cta_tile<op>(map, c[0], c[1], src);
    case 3: return cp_reduce_async_bulk_tensor_3d_global_shared_cta_tile<op>(map, c[0], c[1], c[2], src);
    case 4: return cp_reduce_async_bulk_tensor_4d_global_shared_cta_tile<op>(map, c[0], c[1], c[2], c[3], src);
    case 5: return cp_reduce_async_bulk_tensor_5d_global_shared_cta_tile<op>(map, c[0], c[1], c[2], c[3], c[4], src);
    case IM2COL + 3:
      return cp_reduce_async_bulk_tensor_3d_global_shared_cta_im2col_no_offs<op>(map, c[0], c[1], c[2], src);
    case IM2COL + 4:
      return cp_reduce_async_bulk_tensor_4d_global_shared_cta_im2col_no_offs<op>(map, c[0], c[1], c[2], c[3], src);
    case IM2COL + 5:
      return cp_reduce_async_bulk_tensor_5d_global_shared_cta_im2col_no_offs<op>(map, c[0], c[1], c[2], c[3], c[4],
                                                                                 src);
  }
}

__device__ void issue_reduce(u32 op, u32 rank_and_mode, const CUtensorMap* map, const int* c, const void* src) {
  switch (static_cast<RedOp>(op)) {
    case RedOp::add: return issue_reduce_op<RedOp::add>(rank_and_mode, map, c, src);
    case RedOp::min: return issue_reduce_op<RedOp::min>(rank_and_mode, map, c, src);
    case RedOp::max: return issue_reduce_op<RedOp::max>(rank_and_mode, map, c, src);
    case RedOp::inc: return issue_reduce_op<RedOp::inc>(rank_and_mode, map, c, src);
    case RedOp::dec: return issue_reduce_op<RedOp::dec>(rank_and_mode, map, c, src);
    case RedOp::and_: return issue_reduce_op<RedOp::and_>(rank_and_mode, map, c, src);
    case RedOp::or_: return issue_reduce_op<RedOp::or_>(rank_and_mode, map, c, src);
    case RedOp::xor_: return issue_reduce_op<RedOp::xor_>(rank_and_mode, map, c, src);
  }
}
