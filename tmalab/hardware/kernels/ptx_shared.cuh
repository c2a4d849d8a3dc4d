// A warp's accesses to shared memory, one instruction a function: ld, st, ldmatrix, stmatrix.
//
// `addr` is the lane's own address in the shared window (`shared_address`). The loads and stores are .volatile, so that
// a loop over one address is as many accesses as it says.
//
// Manual: PTX ISA, "Data Movement and Conversion Instructions: ld", ": st", and "Warp Level Matrix Load Instruction:
//         ldmatrix", "… Store Instruction: stmatrix".
#pragma once
#include "ptx.cuh"

// --- ld and st, 1 to 16 bytes a lane ----------------------------------------------------------------------------

// ld.volatile.shared::cta.u8 d, [addr];  // PTX ISA 1.1, sm_10 (::cta: 7.8)
__device__ __forceinline__ u32 ld_volatile_shared_u8(u32 addr) {
  u32 d;
  asm volatile("ld.volatile.shared::cta.u8 %0, [%1];" : "=r"(d) : "r"(addr) : "memory");
  return d;
}

// ld.volatile.shared::cta.u16 d, [addr];  // PTX ISA 1.1, sm_10 (::cta: 7.8)
__device__ __forceinline__ u32 ld_volatile_shared_u16(u32 addr) {
  u16 d;
  asm volatile("ld.volatile.shared::cta.u16 %0, [%1];" : "=h"(d) : "r"(addr) : "memory");
  return d;
}

// ld.volatile.shared::cta.u32 d, [addr];  // PTX ISA 1.1, sm_10 (::cta: 7.8)
__device__ __forceinline__ u32 ld_volatile_shared_u32(u32 addr) {
  u32 d;
  asm volatile("ld.volatile.shared::cta.u32 %0, [%1];" : "=r"(d) : "r"(addr) : "memory");
  return d;
}

// ld.volatile.shared::cta.v2.u32 {d0, d1}, [addr];  // PTX ISA 1.1, sm_10 (::cta: 7.8)
__device__ __forceinline__ uint2 ld_volatile_shared_v2_u32(u32 addr) {
  uint2 d;
  asm volatile("ld.volatile.shared::cta.v2.u32 {%0, %1}, [%2];" : "=r"(d.x), "=r"(d.y) : "r"(addr) : "memory");
  return d;
}

// ld.volatile.shared::cta.v4.u32 {d0, d1, d2, d3}, [addr];  // PTX ISA 1.1, sm_10 (::cta: 7.8)
__device__ __forceinline__ uint4 ld_volatile_shared_v4_u32(u32 addr) {
  uint4 d;
  asm volatile("ld.volatile.shared::cta.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(d.x), "=r"(d.y), "=r"(d.z), "=r"(d.w)
               : "r"(addr)
               : "memory");
  return d;
}

// st.volatile.shared::cta.u8 [addr], b;  // PTX ISA 1.1, sm_10 (::cta: 7.8)
__device__ __forceinline__ void st_volatile_shared_u8(u32 addr, u32 b) {
  asm volatile("st.volatile.shared::cta.u8 [%0], %1;" ::"r"(addr), "r"(b) : "memory");
}

// st.volatile.shared::cta.u16 [addr], b;  // PTX ISA 1.1, sm_10 (::cta: 7.8)
__device__ __forceinline__ void st_volatile_shared_u16(u32 addr, u32 b) {
  asm volatile("st.volatile.shared::cta.u16 [%0], %1;" ::"r"(addr), "h"(static_cast<u16>(b)) : "memory");
}

// st.volatile.shared::cta.u32 [addr], b;  // PTX ISA 1.1, sm_10 (::cta: 7.8)
__device__ __forceinline__ void st_volatile_shared_u32(u32 addr, u32 b) {
  asm volatile("st.volatile.shared::cta.u32 [%0], %1;" ::"r"(addr), "r"(b) : "memory");
}

// st.volatile.shared::cta.v2.u32 [addr], {b0, b1};  // PTX ISA 1.1, sm_10 (::cta: 7.8)
__device__ __forceinline__ void st_volatile_shared_v2_u32(u32 addr, uint2 b) {
  asm volatile("st.volatile.shared::cta.v2.u32 [%0], {%1, %2};" ::"r"(addr), "r"(b.x), "r"(b.y) : "memory");
}

// st.volatile.shared::cta.v4.u32 [addr], {b0, b1, b2, b3};  // PTX ISA 1.1, sm_10 (::cta: 7.8)
__device__ __forceinline__ void st_volatile_shared_v4_u32(u32 addr, uint4 b) {
  asm volatile("st.volatile.shared::cta.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(addr), "r"(b.x), "r"(b.y), "r"(b.z),
               "r"(b.w)
               : "memory");
}

// --- 8x8 matrices of 16-bit elements: a row is 16 bytes, and lane 8 * m + r gives the address of row r of matrix m ---

// ldmatrix.sync.aligned.m8n8.x1.shared::cta.b16 {r0}, [addr];  // PTX ISA 6.5, sm_75 (::cta: 7.8)
__device__ __forceinline__ u32 ldmatrix_x1(u32 addr) {
  u32 r;
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared::cta.b16 {%0}, [%1];"
               : "=r"(r)
               : "r"(addr)
               : "memory");
  return r;
}

// ldmatrix.sync.aligned.m8n8.x2.shared::cta.b16 {r0, r1}, [addr];  // PTX ISA 6.5, sm_75 (::cta: 7.8)
__device__ __forceinline__ uint2 ldmatrix_x2(u32 addr) {
  uint2 r;
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared::cta.b16 {%0, %1}, [%2];"
               : "=r"(r.x), "=r"(r.y)
               : "r"(addr)
               : "memory");
  return r;
}

// ldmatrix.sync.aligned.m8n8.x4.shared::cta.b16 {r0, r1, r2, r3}, [addr];  // PTX ISA 6.5, sm_75 (::cta: 7.8)
__device__ __forceinline__ uint4 ldmatrix_x4(u32 addr) {
  uint4 r;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared::cta.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w)
               : "r"(addr)
               : "memory");
  return r;
}

// ldmatrix.sync.aligned.m8n8.x1.trans.shared::cta.b16 {r0}, [addr];  // PTX ISA 6.5, sm_75 (::cta: 7.8)
__device__ __forceinline__ u32 ldmatrix_x1_trans(u32 addr) {
  u32 r;
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared::cta.b16 {%0}, [%1];"
               : "=r"(r)
               : "r"(addr)
               : "memory");
  return r;
}

// ldmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16 {r0, r1}, [addr];  // PTX ISA 6.5, sm_75 (::cta: 7.8)
__device__ __forceinline__ uint2 ldmatrix_x2_trans(u32 addr) {
  uint2 r;
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16 {%0, %1}, [%2];"
               : "=r"(r.x), "=r"(r.y)
               : "r"(addr)
               : "memory");
  return r;
}

// ldmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16 {r0, r1, r2, r3}, [addr];  // PTX ISA 6.5, sm_75 (::cta: 7.8)
__device__ __forceinline__ uint4 ldmatrix_x4_trans(u32 addr) {
  uint4 r;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w)
               : "r"(addr)
               : "memory");
  return r;
}

// stmatrix.sync.aligned.m8n8.x1.shared::cta.b16 [addr], {r0};  // PTX ISA 7.8, sm_90
__device__ __forceinline__ void stmatrix_x1(u32 addr, u32 r) {
  asm volatile("stmatrix.sync.aligned.m8n8.x1.shared::cta.b16 [%0], {%1};" ::"r"(addr), "r"(r) : "memory");
}

// stmatrix.sync.aligned.m8n8.x2.shared::cta.b16 [addr], {r0, r1};  // PTX ISA 7.8, sm_90
__device__ __forceinline__ void stmatrix_x2(u32 addr, uint2 r) {
  asm volatile("stmatrix.sync.aligned.m8n8.x2.shared::cta.b16 [%0], {%1, %2};" ::"r"(addr), "r"(r.x), "r"(r.y) : "memory");
}

// stmatrix.sync.aligned.m8n8.x4.shared::cta.b16 [addr], {r0, r1, r2, r3};  // PTX ISA 7.8, sm_90
__device__ __forceinline__ void stmatrix_x4(u32 addr, uint4 r) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared::cta.b16 [%0], {%1, %2, %3, %4};" ::"r"(addr), "r"(r.x), "r"(r.y), "r"(r.z), "r"(r.w) : "memory");
}

// stmatrix.sync.aligned.m8n8.x1.trans.shared::cta.b16 [addr], {r0};  // PTX ISA 7.8, sm_90
__device__ __forceinline__ void stmatrix_x1_trans(u32 addr, u32 r) {
  asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared::cta.b16 [%0], {%1};" ::"r"(addr), "r"(r) : "memory");
}

// stmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16 [addr], {r0, r1};  // PTX ISA 7.8, sm_90
__device__ __forceinline__ void stmatrix_x2_trans(u32 addr, uint2 r) {
  asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16 [%0], {%1, %2};" ::"r"(addr), "r"(r.x), "r"(r.y) : "memory");
}

// stmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16 [addr], {r0, r1, r2, r3};  // PTX ISA 7.8, sm_90
__device__ __forceinline__ void stmatrix_x4_trans(u32 addr, uint4 r) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16 [%0], {%1, %2, %3, %4};" ::"r"(addr), "r"(r.x), "r"(r.y), "r"(r.z), "r"(r.w) : "memory");
}
