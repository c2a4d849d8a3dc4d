// One function an instruction: mbarriers, fences, bulk groups, cp.async, and the few special registers we read.
//
// A function is named as its mnemonic with dots as underscores, and its operands as in the PTX manual. The line above
// it is the whole PTX line with what it needs. Every asm is `volatile` and clobbers "memory" (so that the compiler
// moves no access across it) unless a comment says why not.
//
// Manual: PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier",
//         "Data Movement and Conversion Instructions: Asynchronous copy".
#pragma once

using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;
using s64 = long long;

// The 128 bytes that cuTensorMapEncodeTiled or …Im2col wrote. The driver asks for 64-byte alignment.
struct alignas(64) CUtensorMap {
  u64 opaque[16];
};

// The address of shared memory as PTX wants it: 32 bits, an offset in the block's shared window.
__device__ __forceinline__ u32 shared_address(const void* pointer) {
  return static_cast<u32>(__cvta_generic_to_shared(pointer));
}

// --- mbarrier ---------------------------------------------------------------------------------------------------

// mbarrier.init.shared::cta.b64 [addr], count;  // PTX ISA 7.0, sm_80 (::cta: 7.8)
__device__ __forceinline__ void mbarrier_init(u64* addr, u32 count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(addr)), "r"(count) : "memory");
}

// mbarrier.inval.shared::cta.b64 [addr];  // PTX ISA 7.0, sm_80 (::cta: 7.8)
__device__ __forceinline__ void mbarrier_inval(u64* addr) {
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(shared_address(addr)) : "memory");
}

// mbarrier.arrive.shared::cta.b64 state, [addr];  // PTX ISA 7.0, sm_80 (::cta: 7.8)
__device__ __forceinline__ u64 mbarrier_arrive(u64* addr) {
  u64 state;
  asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(state) : "r"(shared_address(addr)) : "memory");
  return state;
}

// mbarrier.arrive.expect_tx.shared::cta.b64 state, [addr], tx_count;  // PTX ISA 8.0, sm_90
__device__ __forceinline__ u64 mbarrier_arrive_expect_tx(u64* addr, u32 tx_count) {
  u64 state;
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 %0, [%1], %2;"
               : "=l"(state)
               : "r"(shared_address(addr)), "r"(tx_count)
               : "memory");
  return state;
}

// mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [addr], tx_count;  // PTX ISA 8.0, sm_90
__device__ __forceinline__ void mbarrier_expect_tx(u64* addr, u32 tx_count) {
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(shared_address(addr)), "r"(tx_count)
               : "memory");
}

// mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [addr], tx_count;  // PTX ISA 8.0, sm_90
__device__ __forceinline__ void mbarrier_complete_tx(u64* addr, u32 tx_count) {
  asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(shared_address(addr)), "r"(tx_count)
               : "memory");
}

// mbarrier.test_wait.parity.shared::cta.b64 waitComplete, [addr], phaseParity;  // PTX ISA 7.1, sm_80 (::cta: 7.8)
// Looks once and returns at once.
__device__ __forceinline__ bool mbarrier_test_wait_parity(u64* addr, u32 phase_parity) {
  u32 wait_complete;
  asm volatile(
      "{\n\t.reg .pred p;\n\t"
      "mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
      "selp.u32 %0, 1, 0, p;\n\t}"
      : "=r"(wait_complete)
      : "r"(shared_address(addr)), "r"(phase_parity)
      : "memory");
  return wait_complete != 0;
}

// mbarrier.try_wait.parity.shared::cta.b64 waitComplete, [addr], phaseParity;  // PTX ISA 7.8, sm_90
// May put the thread to sleep, for a time limit of the system's own: callers still need a deadline around it.
__device__ __forceinline__ bool mbarrier_try_wait_parity(u64* addr, u32 phase_parity) {
  u32 wait_complete;
  asm volatile(
      "{\n\t.reg .pred p;\n\t"
      "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
      "selp.u32 %0, 1, 0, p;\n\t}"
      : "=r"(wait_complete)
      : "r"(shared_address(addr)), "r"(phase_parity)
      : "memory");
  return wait_complete != 0;
}

// --- fences -----------------------------------------------------------------------------------------------------

// fence.mbarrier_init.release.cluster;  // PTX ISA 8.0, sm_90
__device__ __forceinline__ void fence_mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// fence.proxy.async.shared::cta;  // PTX ISA 8.0, sm_90
// Ordinary shared-memory accesses before it become visible to the TMA engine's (async proxy) after it.
__device__ __forceinline__ void fence_proxy_async_shared_cta() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// --- bulk async groups: what a TMA store or reduction completes through -----------------------------------------

// cp.async.bulk.commit_group;  // PTX ISA 8.0, sm_90
__device__ __forceinline__ void cp_async_bulk_commit_group() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// cp.async.bulk.wait_group N;  // PTX ISA 8.0, sm_90
// Returns when at most N of this thread's newest groups are unfinished.
template <int N>
__device__ __forceinline__ void cp_async_bulk_wait_group() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(N) : "memory");
}

// cp.async.bulk.wait_group.read N;  // PTX ISA 8.0, sm_90
// Only says that the source has been read and may be overwritten.
template <int N>
__device__ __forceinline__ void cp_async_bulk_wait_group_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory");
}

// prefetch.tensormap [addr];  // PTX ISA 8.0, sm_90
__device__ __forceinline__ void prefetch_tensormap(const CUtensorMap* addr) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(addr) : "memory");
}

// --- cp.async: Ampere's copy, 16 bytes a thread -----------------------------------------------------------------

// cp.async.cg.shared::cta.global [dst], [src], 16;  // PTX ISA 7.0, sm_80 (::cta: 7.8)
__device__ __forceinline__ void cp_async_cg_16(void* dst, const void* src) {
  asm volatile("cp.async.cg.shared::cta.global [%0], [%1], 16;" ::"r"(shared_address(dst)), "l"(src) : "memory");
}

// cp.async.commit_group;  // PTX ISA 7.0, sm_80
__device__ __forceinline__ void cp_async_commit_group() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

// cp.async.wait_group N;  // PTX ISA 7.0, sm_80
template <int N>
__device__ __forceinline__ void cp_async_wait_group() {
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

// --- one thread of a warp, and clocks ---------------------------------------------------------------------------

// elect.sync _|p, membermask;  // PTX ISA 8.0, sm_90
// True in exactly one thread of the converged warp.
__device__ __forceinline__ bool elect_sync(u32 membermask = 0xFFFFFFFFu) {
  u32 is_elected;
  asm volatile(
      "{\n\t.reg .pred p;\n\t"
      "elect.sync _|p, %1;\n\t"
      "selp.u32 %0, 1, 0, p;\n\t}"
      : "=r"(is_elected)
      : "r"(membermask)
      : "memory");
  return is_elected != 0;
}

// mov.u64 ns, %globaltimer;  // PTX ISA 3.1, sm_30
// Nanoseconds, in coarse ticks.
__device__ __forceinline__ u64 globaltimer() {
  u64 ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns)::"memory");
  return ns;
}

// mov.u64 cycles, %clock64;  // PTX ISA 2.0, sm_20
// Cycles of this multiprocessor.
__device__ __forceinline__ u64 clock64_now() {
  u64 cycles;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles)::"memory");
  return cycles;
}
