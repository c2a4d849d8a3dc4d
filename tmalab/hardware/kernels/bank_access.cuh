// One access of a warp to shared memory, chosen by number: what banks.cu times and banks_once.cu has counted.
//
//   operation   0-4 load of 1, 2, 4, 8, 16 bytes    5-9 store     10-12 ldmatrix x1, x2, x4    13-15 with .trans
//                                                                 16-18 stmatrix x1, x2, x4    19-21 with .trans
#pragma once
#include "ptx_shared.cuh"

constexpr int UNROLLED = 16;  // accesses in flight before their values are needed

// The addresses of a warp's lanes, from the start of the pattern's bytes. The lanes out of `active` take no part.
struct Pattern {
  u32 addresses[32];
  u32 active;
  u32 operation;
};

// A value that depends on all that was read; of a store, 0.
template <int OPERATION>
__device__ __forceinline__ u32 access(u32 addr) {
  if constexpr (OPERATION == 0) return ld_volatile_shared_u8(addr);
  if constexpr (OPERATION == 1) return ld_volatile_shared_u16(addr);
  if constexpr (OPERATION == 2) return ld_volatile_shared_u32(addr);
  if constexpr (OPERATION == 3) return ld_volatile_shared_v2_u32(addr).x;
  if constexpr (OPERATION == 4) return ld_volatile_shared_v4_u32(addr).x;
  if constexpr (OPERATION == 5) st_volatile_shared_u8(addr, 0);
  if constexpr (OPERATION == 6) st_volatile_shared_u16(addr, 0);
  if constexpr (OPERATION == 7) st_volatile_shared_u32(addr, 0);
  if constexpr (OPERATION == 8) st_volatile_shared_v2_u32(addr, uint2{0, 0});
  if constexpr (OPERATION == 9) st_volatile_shared_v4_u32(addr, uint4{0, 0, 0, 0});
  if constexpr (OPERATION == 10) return ldmatrix_x1(addr);
  if constexpr (OPERATION == 11) return ldmatrix_x2(addr).x;
  if constexpr (OPERATION == 12) return ldmatrix_x4(addr).x;
  if constexpr (OPERATION == 13) return ldmatrix_x1_trans(addr);
  if constexpr (OPERATION == 14) return ldmatrix_x2_trans(addr).x;
  if constexpr (OPERATION == 15) return ldmatrix_x4_trans(addr).x;
  if constexpr (OPERATION == 16) stmatrix_x1(addr, 0);
  if constexpr (OPERATION == 17) stmatrix_x2(addr, uint2{0, 0});
  if constexpr (OPERATION == 18) stmatrix_x4(addr, uint4{0, 0, 0, 0});
  if constexpr (OPERATION == 19) stmatrix_x1_trans(addr, 0);
  if constexpr (OPERATION == 20) stmatrix_x2_trans(addr, uint2{0, 0});
  if constexpr (OPERATION == 21) stmatrix_x4_trans(addr, uint4{0, 0, 0, 0});
  return 0;
}

// `rounds` times UNROLLED accesses whose addresses wait for nothing: the pipe of shared memory is kept full. `step` is 0,
// which the compiler does not know: it would make one ldmatrix of many at one address.
template <int OPERATION>
__device__ __forceinline__ u32 back_to_back(u32 addr, u32 step, u32 rounds) {
  u32 seen = 0;
#pragma unroll 1
  for (u32 round = 0; round < rounds; ++round) {
    u32 values[UNROLLED];
#pragma unroll
    for (int i = 0; i < UNROLLED; ++i) values[i] = access<OPERATION>(addr + i * step);
    addr += UNROLLED * step;
#pragma unroll
    for (int i = 0; i < UNROLLED; ++i) seen ^= values[i];
  }
  return seen;
}

// The same number of accesses, each at an address that is known only when the one before has come back. The memory
// read is zero, so that the address stays what it is.
template <int OPERATION>
__device__ __forceinline__ u32 chained(u32 addr, u32 rounds) {
#pragma unroll 1
  for (u32 round = 0; round < rounds; ++round) {
#pragma unroll
    for (int i = 0; i < UNROLLED; ++i) addr += access<OPERATION>(addr);
  }
  return addr;
}

// EACH_OPERATION(CASE) is CASE(0) CASE(1) … CASE(21): for a switch over an operation that all threads share.
#define EACH_OPERATION(CASE) \
  CASE(0) CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8) CASE(9) CASE(10) \
  CASE(11) CASE(12) CASE(13) CASE(14) CASE(15) CASE(16) CASE(17) CASE(18) CASE(19) CASE(20) CASE(21)
