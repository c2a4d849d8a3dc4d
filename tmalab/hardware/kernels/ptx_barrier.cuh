// What a look inside a barrier needs: states and their counts, a cluster's barriers, and every way to read one word.
//
// Each reading is its own instruction, because they do not all see the same thing: `barrier_ops.cu` holds them against
// each other. A shared::cluster address is the 32 bits that `mapa` gives.
//
// Manual: PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier, barrier.cluster",
//         "Data Movement and Conversion Instructions: ld, st, mapa, cp.async.bulk".
#pragma once
#include "ptx.cuh"

// --- arrivals whose state says how many were pending ------------------------------------------------------------

// mbarrier.arrive.shared::cta.b64 state, [addr], count;  // PTX ISA 7.8, sm_90
__device__ __forceinline__ u64 mbarrier_arrive_shared_cta(u64* addr, u32 count) {
  u64 state;
  asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1], %2;"
               : "=l"(state)
               : "r"(shared_address(addr)), "r"(count)
               : "memory");
  return state;
}

// mbarrier.arrive.noComplete.shared::cta.b64 state, [addr], count;  // PTX ISA 7.0, sm_80 (::cta: 7.8)
// The caller promises that the phase does not complete.
__device__ __forceinline__ u64 mbarrier_arrive_noComplete(u64* addr, u32 count) {
  u64 state;
  asm volatile("mbarrier.arrive.noComplete.shared::cta.b64 %0, [%1], %2;"
               : "=l"(state)
               : "r"(shared_address(addr)), "r"(count)
               : "memory");
  return state;
}

// mbarrier.arrive_drop.shared::cta.b64 state, [addr];  // PTX ISA 7.0, sm_80 (::cta: 7.8)
// Arrives, and is expected no more from the next phase on.
__device__ __forceinline__ u64 mbarrier_arrive_drop(u64* addr) {
  u64 state;
  asm volatile("mbarrier.arrive_drop.shared::cta.b64 %0, [%1];" : "=l"(state) : "r"(shared_address(addr)) : "memory");
  return state;
}

// mbarrier.pending_count.b64 count, state;  // PTX ISA 7.0, sm_80
// The arrivals that were pending just before the arrive that returned `state`.
__device__ __forceinline__ u32 mbarrier_pending_count(u64 state) {
  u32 count;
  asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(count) : "l"(state) : "memory");
  return count;
}

// mbarrier.test_wait.shared::cta.b64 waitComplete, [addr], state;  // PTX ISA 7.0, sm_80 (::cta: 7.8)
__device__ __forceinline__ bool mbarrier_test_wait(u64* addr, u64 state) {
  u32 wait_complete;
  asm volatile(
      "{\n\t.reg .pred p;\n\t"
      "mbarrier.test_wait.shared::cta.b64 p, [%1], %2;\n\t"
      "selp.u32 %0, 1, 0, p;\n\t}"
      : "=r"(wait_complete)
      : "r"(shared_address(addr)), "l"(state)
      : "memory");
  return wait_complete != 0;
}

// --- a cluster: its blocks' shared memory, its own barrier ------------------------------------------------------

// mapa.shared::cluster.u32 mapped, addr, cta;  // PTX ISA 7.8, sm_90
__device__ __forceinline__ u32 mapa_shared_cluster(const void* addr, u32 cta) {
  u32 mapped;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(shared_address(addr)), "r"(cta) : "memory");
  return mapped;
}

// mbarrier.arrive.release.cluster.shared::cluster.b64 _, [addr];  // PTX ISA 8.0, sm_90
__device__ __forceinline__ void mbarrier_arrive_release_cluster_shared_cluster(u32 addr) {
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(addr) : "memory");
}

// barrier.cluster.arrive;  // PTX ISA 7.8, sm_90
__device__ __forceinline__ void barrier_cluster_arrive() {
  asm volatile("barrier.cluster.arrive;" ::: "memory");
}

// barrier.cluster.wait;  // PTX ISA 7.8, sm_90
__device__ __forceinline__ void barrier_cluster_wait() {
  asm volatile("barrier.cluster.wait;" ::: "memory");
}

// mov.u32 rank, %cluster_ctarank;  // PTX ISA 7.8, sm_90
__device__ __forceinline__ u32 cluster_ctarank() {
  u32 rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank)::"memory");
  return rank;
}

// mov.u32 id, %smid;  // PTX ISA 1.3, sm_90
__device__ __forceinline__ u32 smid() {
  u32 id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id)::"memory");
  return id;
}

// --- the 64 bits of one word in shared memory, read in every way ------------------------------------------------

// ld.shared::cta.u64 word, [addr];  // PTX ISA 7.8, sm_90
__device__ __forceinline__ u64 ld_shared_cta(const u64* addr) {
  u64 word;
  asm volatile("ld.shared::cta.u64 %0, [%1];" : "=l"(word) : "r"(shared_address(addr)) : "memory");
  return word;
}

// ld.volatile.shared::cta.u64 word, [addr];  // PTX ISA 7.8, sm_90
__device__ __forceinline__ u64 ld_volatile_shared_cta(const u64* addr) {
  u64 word;
  asm volatile("ld.volatile.shared::cta.u64 %0, [%1];" : "=l"(word) : "r"(shared_address(addr)) : "memory");
  return word;
}

// ld.acquire.cta.shared::cta.u64 word, [addr];  // PTX ISA 7.8, sm_90
__device__ __forceinline__ u64 ld_acquire_cta_shared_cta(const u64* addr) {
  u64 word;
  asm volatile("ld.acquire.cta.shared::cta.u64 %0, [%1];" : "=l"(word) : "r"(shared_address(addr)) : "memory");
  return word;
}

// ld.acquire.cluster.shared::cluster.u64 word, [addr];  // PTX ISA 7.8, sm_90
__device__ __forceinline__ u64 ld_acquire_cluster_shared_cluster(u32 addr) {
  u64 word;
  asm volatile("ld.acquire.cluster.shared::cluster.u64 %0, [%1];" : "=l"(word) : "r"(addr) : "memory");
  return word;
}

// ld.acquire.sys.u64 word, [addr];  // PTX ISA 6.0, sm_70
// Through a generic address.
__device__ __forceinline__ u64 ld_acquire_sys(const u64* addr) {
  u64 word;
  asm volatile("ld.acquire.sys.u64 %0, [%1];" : "=l"(word) : "l"(addr) : "memory");
  return word;
}

// atom.shared::cta.or.b64 word, [addr], bits;  // PTX ISA 7.8, sm_90
__device__ __forceinline__ u64 atom_shared_cta_or(u64* addr, u64 bits) {
  u64 word;
  asm volatile("atom.shared::cta.or.b64 %0, [%1], %2;"
               : "=l"(word)
               : "r"(shared_address(addr)), "l"(bits)
               : "memory");
  return word;
}

// atom.shared::cta.cas.b64 word, [addr], compare, value;  // PTX ISA 7.8, sm_90
__device__ __forceinline__ u64 atom_shared_cta_cas(u64* addr, u64 compare, u64 value) {
  u64 word;
  asm volatile("atom.shared::cta.cas.b64 %0, [%1], %2, %3;"
               : "=l"(word)
               : "r"(shared_address(addr)), "l"(compare), "l"(value)
               : "memory");
  return word;
}

// atom.shared::cluster.or.b64 word, [addr], bits;  // PTX ISA 7.8, sm_90
__device__ __forceinline__ u64 atom_shared_cluster_or(u32 addr, u64 bits) {
  u64 word;
  asm volatile("atom.shared::cluster.or.b64 %0, [%1], %2;" : "=l"(word) : "r"(addr), "l"(bits) : "memory");
  return word;
}

// st.volatile.shared::cta.u64 [addr], word;  // PTX ISA 7.8, sm_90
__device__ __forceinline__ void st_volatile_shared_cta(u64* addr, u64 word) {
  asm volatile("st.volatile.shared::cta.u64 [%0], %1;" ::"r"(shared_address(addr)), "l"(word) : "memory");
}

// ld.volatile.shared::cta.u32 word, [addr];  // PTX ISA 7.8, sm_90
__device__ __forceinline__ u32 ld_volatile_shared_cta_u32(const u32* addr) {
  u32 word;
  asm volatile("ld.volatile.shared::cta.u32 %0, [%1];" : "=r"(word) : "r"(shared_address(addr)) : "memory");
  return word;
}

// ld.volatile.global.u32 word, [addr];  // PTX ISA 2.0, sm_20
__device__ __forceinline__ u32 ld_volatile_global_u32(const u32* addr) {
  u32 word;
  asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(word) : "l"(addr) : "memory");
  return word;
}

// ld.volatile.global.u64 word, [addr];  // PTX ISA 2.0, sm_20
__device__ __forceinline__ u64 ld_volatile_global_u64(const u64* addr) {
  u64 word;
  asm volatile("ld.volatile.global.u64 %0, [%1];" : "=l"(word) : "l"(addr) : "memory");
  return word;
}

// --- plain bulk copies: no tensor map, a multiple of 16 bytes ---------------------------------------------------

// cp.async.bulk.global.shared::cta.bulk_group [dstMem], [srcMem], size;  // PTX ISA 8.0, sm_90
__device__ __forceinline__ void cp_async_bulk_global_shared_cta(void* dst_mem, const void* src_mem, u32 size) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(dst_mem),
               "r"(shared_address(src_mem)), "r"(size)
               : "memory");
}

// cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [dstMem], [srcMem], size, [mbar];
// PTX ISA 8.0, sm_90
__device__ __forceinline__ void cp_async_bulk_shared_cluster_shared_cta(u32 dst_mem, const void* src_mem, u32 size,
                                                                        u32 mbar) {
  asm volatile(
      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(dst_mem),
      "r"(shared_address(src_mem)), "r"(size), "r"(mbar)
      : "memory");
}

// --- fences -----------------------------------------------------------------------------------------------------

// fence.proxy.async;  // PTX ISA 8.0, sm_90
// As fence.proxy.async.shared::cta, for global memory too.
__device__ __forceinline__ void fence_proxy_async() {
  asm volatile("fence.proxy.async;" ::: "memory");
}

// fence.acq_rel.sys;  // PTX ISA 6.0, sm_70
__device__ __forceinline__ void fence_acq_rel_sys() {
  asm volatile("fence.acq_rel.sys;" ::: "memory");
}
