// One TMA copy, whatever it is, and all of shared memory afterwards.
//
//   shared memory:  | 1024 bytes: barrier, a descriptor's copy | smem_bytes, 1024-byte aligned: filled, copied to, dumped |
//
//   fill ─▶ thread 0: arm, issue, wait (bounded), count the bytes ─▶ dump
//
// Launch: 1 block of 256 threads, 1024 + smem_bytes of dynamic shared memory. Compile:
// tmalab.hardware.compile.compile_kernel("transfer"). The host side is tmalab/hardware/transfer_probe.py.
#include "bounded_wait.cuh"
#include "count_bytes.cuh"
#include "transfer_issue.cuh"

enum Direction : u32 { LOAD, STORE, REDUCE };
enum DescriptorSpace : u32 { PARAM, GLOBAL, CONST, SHARED, LOCAL };
constexpr u32 OWN_BYTES = 1024;     // in front of the dumped region, which thereby stays 1024-byte aligned
constexpr u64 SETTLE_NS = 20'000;   // after a completed phase: bytes beyond those armed may still be on their way
constexpr u64 COUNT_NS = 200'000'000;

// What the host asks for; transfer_probe.py packs it field by field.
struct Transfer {
  u64 smem_in;      // bytes to put into shared memory first; 0: the background byte everywhere
  u64 smem_out;     // where shared memory is dumped to
  u64 map_address;  // the descriptor in global memory, for DescriptorSpace GLOBAL
  u64 wait_ns;      // deadline of the wait
  int coords[5];
  u16 offsets[3];
  u16 const_offset;  // into const_map
  u32 rank_and_mode, direction, op, descriptor_space;
  u32 smem_bytes, smem_base, expect_tx_bytes, background;
};

// What the host gets back.
struct Report {
  u64 waited_ns;
  s64 surplus_bytes;   // delivered beyond those armed; negative: missing; UNKNOWN
  u32 completed;       // the phase completed (load), the bulk group finished (store, reduce)
  u32 waiting_for;     // 0: nothing; 1: phase 0 of the barrier that the load completes on
  u32 smem_alignment;  // of the dumped region: address modulo 1024, to be 0
  u32 finished;        // the kernel ran to its end
};

__constant__ alignas(128) unsigned char const_map[256];

__device__ const CUtensorMap* descriptor(const Transfer& transfer, const CUtensorMap* param_map,
                                         CUtensorMap* shared_map, CUtensorMap* local_map) {
  switch (transfer.descriptor_space) {
    case GLOBAL: return reinterpret_cast<const CUtensorMap*>(transfer.map_address);
    case CONST: return reinterpret_cast<const CUtensorMap*>(const_map + transfer.const_offset);
    case SHARED: return shared_map;
    case LOCAL: return local_map;
    default: return param_map;
  }
}

// [load]
__device__ void run_load(const Transfer& transfer, const CUtensorMap* map, void* box, u64* full_barrier,
                         Report* report) {
  const u64 start_ns = globaltimer();
  mbarrier_arrive_expect_tx(full_barrier, transfer.expect_tx_bytes);
  issue_load(transfer.rank_and_mode, box, map, transfer.coords, transfer.offsets, full_barrier);
  const bool completed = wait_for_phase(full_barrier, 0, transfer.wait_ns);
  const u64 end_ns = globaltimer();
  report->waited_ns = end_ns - start_ns;
  report->completed = completed;
  report->waiting_for = !completed;

  while (globaltimer() < end_ns + SETTLE_NS) {
  }
  const u64 count_until_ns = end_ns + COUNT_NS;
  report->surplus_bytes =
      completed ? surplus_after_phase_0(full_barrier, transfer.smem_bytes, count_until_ns)
                : surplus_of_open_phase(full_barrier, 0, transfer.expect_tx_bytes, transfer.smem_bytes, count_until_ns);
  mbarrier_inval(full_barrier);
}
// [load-end]

// [store]
__device__ void run_store(const Transfer& transfer, const CUtensorMap* map, const void* box, Report* report) {
  const u64 start_ns = globaltimer();
  if (transfer.direction == STORE) {
    issue_store(transfer.rank_and_mode, map, transfer.coords, box);
  } else {
    issue_reduce(transfer.op, transfer.rank_and_mode, map, transfer.coords, box);
  }
  cp_async_bulk_commit_group();
  cp_async_bulk_wait_group<0>();  // a bulk group has no barrier to arm wrongly: it ends, or the launch faults
  report->waited_ns = globaltimer() - start_ns;
  report->completed = 1;
}
// [store-end]

// Copies `bytes` bytes, 16 at a time and the rest one by one; both pointers are 16-byte aligned.
__device__ void copy_bytes(unsigned char* dst, const unsigned char* src, u32 bytes) {
  for (u32 at = threadIdx.x * 16; at + 16 <= bytes; at += blockDim.x * 16) {
    *reinterpret_cast<uint4*>(dst + at) = *reinterpret_cast<const uint4*>(src + at);
  }
  for (u32 at = bytes / 16 * 16 + threadIdx.x; at < bytes; at += blockDim.x) dst[at] = src[at];
}

extern "C" __global__ void __launch_bounds__(256)
    transfer(const __grid_constant__ CUtensorMap param_map, const __grid_constant__ Transfer transfer,
             Report* report) {
  extern __shared__ __align__(1024) unsigned char shared[];
  u64* full_barrier = reinterpret_cast<u64*>(shared);
  CUtensorMap* shared_map = reinterpret_cast<CUtensorMap*>(shared + 128);
  unsigned char* dumped = shared + OWN_BYTES;

  if (transfer.smem_in != 0) {
    copy_bytes(dumped, reinterpret_cast<const unsigned char*>(transfer.smem_in), transfer.smem_bytes);
  } else {
    for (u32 at = threadIdx.x; at < transfer.smem_bytes; at += blockDim.x) dumped[at] = transfer.background;
  }
  if (threadIdx.x == 0) {
    *shared_map = param_map;
    mbarrier_init(full_barrier, 1);
    fence_mbarrier_init();
    report->smem_alignment = shared_address(dumped) % 1024;
  }
  fence_proxy_async_shared_cta();
  __syncthreads();

  if (threadIdx.x == 0) {
    CUtensorMap local_map = param_map;
    const CUtensorMap* map = descriptor(transfer, &param_map, shared_map, &local_map);
    void* box = dumped + transfer.smem_base;
    if (transfer.direction == LOAD) {
      run_load(transfer, map, box, full_barrier, report);
    } else {
      run_store(transfer, map, box, report);
    }
  }
  fence_proxy_async_shared_cta();  // also where the wait gave up: see what the engine wrote all the same
  __syncthreads();
  if (transfer.smem_out != 0) {
    copy_bytes(reinterpret_cast<unsigned char*>(transfer.smem_out), dumped, transfer.smem_bytes);
  }
  if (threadIdx.x == 0) report->finished = 1;
}
