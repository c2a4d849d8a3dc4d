// Stores, a wait, and the buffer overwritten at once: which bytes reach global memory.
//
//   buffer | store 0 | store 1 | store 2 | store 3 |   up to 16 KiB each, every word OLD
//   thread 0: issue, commit where the mask says, wait as asked ─▶ all threads: every word NEW, the last store's first
//   then wait for everything, and count the 128-byte lines of global memory that hold a NEW word
//
// With `peek` nothing is overwritten: right after the wait thread 0 reads the last word of each store in global memory.
//
// Launch: 1 block of 512 threads. The host side is tmalab/hardware/reuse_probe.py.
#include "ptx_barrier.cuh"
#include "ptx_tensor.cuh"

enum Wait : u32 { NO_WAIT, WAIT_READ, WAIT_GROUP };
constexpr u32 MOST_STORES = 4, LINE_WORDS = 32;
constexpr u32 OLD = 0x01D01D01, NEW = 0x0E770E77, NOTHING = 0;

struct Request {
  u32 stores, commit_mask, wait, wait_n, rounds, peek;  // bit i of the mask: commit after store i
  u32 rows;                                              // of 128 bytes, a store
};

struct Round {
  u32 new_lines[MOST_STORES];  // with `peek` 1 where the last word had not arrived
  u32 issue_cycles, wait_cycles, done_cycles, overwritten_cycles;  // since the first issue
};

__device__ void wait_for_groups(u32 wait, u32 n) {
  if (wait == WAIT_GROUP) {
    switch (n) {
      case 0: return cp_async_bulk_wait_group<0>();
      case 1: return cp_async_bulk_wait_group<1>();
      case 2: return cp_async_bulk_wait_group<2>();
      default: return cp_async_bulk_wait_group<3>();
    }
  }
  if (wait == WAIT_READ) {
    switch (n) {
      case 0: return cp_async_bulk_wait_group_read<0>();
      case 1: return cp_async_bulk_wait_group_read<1>();
      case 2: return cp_async_bulk_wait_group_read<2>();
      default: return cp_async_bulk_wait_group_read<3>();
    }
  }
}

__device__ void fill(uint4* buffer, u32 word, u32 words) {
  const u32 chunks = words / 4;
  for (u32 at = threadIdx.x; at < chunks; at += blockDim.x) buffer[chunks - 1 - at] = make_uint4(word, word, word, word);
}

// [issue]
__device__ void issue_and_wait(const CUtensorMap* map, const u32* buffer, const Request& request, Round& round,
                               u64& begin) {
  begin = clock64_now();
  for (u32 store = 0; store < request.stores; ++store) {
    cp_async_bulk_tensor_2d_global_shared_cta_tile(map, 0, store * request.rows,
                                                   buffer + store * request.rows * LINE_WORDS);
    if (request.commit_mask >> store & 1) cp_async_bulk_commit_group();
  }
  round.issue_cycles = clock64_now() - begin;
  wait_for_groups(request.wait, request.wait_n);
  round.wait_cycles = clock64_now() - begin;
}
// [issue-end]

extern "C" __global__ void __launch_bounds__(512, 1)
    reuse(const __grid_constant__ CUtensorMap map, const __grid_constant__ Request request, u32* memory, Round* rounds,
          u32* line_counts) {
  extern __shared__ __align__(1024) u32 buffer[];
  __shared__ u32 new_lines[MOST_STORES];
  const u32 lines = request.stores * request.rows, words = lines * LINE_WORDS;
  for (u32 at = 0; at < request.rounds; ++at) {
    Round round = {};
    u64 begin = 0;
    fill(reinterpret_cast<uint4*>(buffer), OLD, words);
    for (u32 word = threadIdx.x; word < words; word += blockDim.x) memory[word] = NOTHING;
    if (threadIdx.x < MOST_STORES) new_lines[threadIdx.x] = 0;
    fence_proxy_async();
    __syncthreads();
    if (threadIdx.x == 0) issue_and_wait(&map, buffer, request, round, begin);
    if (request.peek) {
      if (threadIdx.x == 0) {
        for (u32 store = 0; store < request.stores; ++store) {
          new_lines[store] = ld_volatile_global_u32(memory + (store + 1) * request.rows * LINE_WORDS - 1) != OLD;
        }
      }
    } else {
      __syncthreads();
      fill(reinterpret_cast<uint4*>(buffer), NEW, words);
      fence_proxy_async_shared_cta();
      if (threadIdx.x == 0) round.overwritten_cycles = clock64_now() - begin;
    }
    if (threadIdx.x == 0) {
      cp_async_bulk_commit_group();  // for what the mask left uncommitted
      cp_async_bulk_wait_group<0>();
      round.done_cycles = clock64_now() - begin;
    }
    __syncthreads();
    if (!request.peek) {
      for (u32 line = threadIdx.x; line < lines; line += blockDim.x) {
        bool is_new = false;
        for (u32 word = 0; word < LINE_WORDS; ++word) {
          is_new |= ld_volatile_global_u32(memory + line * LINE_WORDS + word) == NEW;
        }
        if (is_new) {
          atomicAdd(&new_lines[line / request.rows], 1);
          ++line_counts[line];
        }
      }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      for (u32 store = 0; store < MOST_STORES; ++store) round.new_lines[store] = new_lines[store];
      rounds[at] = round;
    }
    __syncthreads();
  }
}
