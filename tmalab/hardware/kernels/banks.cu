// Times a warp's access patterns to shared memory, one after another: the pipe kept full, and one access at a time.
//
//   every warp of the block:  barrier ─ clock ─ rounds x 16 accesses ─ barrier ─ clock       cycles of `full`
//   warp 0 alone:             barrier ─ clock ─ rounds x 16, each after the last ─ clock     cycles of `chain`
//
// The same with 0 rounds is the idle baseline. Stores have no chain: nothing comes back that could be waited for.
//
// Launch: 1 block of 32 to 1024 threads, dynamic shared memory for the highest address. It is filled with zeros here.
#include "bank_access.cuh"

struct Times {
  u32 full;
  u32 chain;
};

extern __shared__ __align__(1024) unsigned char memory[];

// [measure]
template <int OPERATION>
__device__ __forceinline__ Times measured(u32 addr, bool active, u32 rounds, u32 step) {
  Times seen;
  u32 value = 0;
  __syncthreads();
  u64 start = clock64_now();
  if (active) value = back_to_back<OPERATION>(addr, step, rounds) ^ ld_volatile_shared_u32(addr & ~3u);
  __syncthreads_or(value == 1);  // takes every value that was read, so that nothing is under way after it
  seen.full = static_cast<u32>(clock64_now() - start);

  start = clock64_now();
  if (active && threadIdx.x < 32) value = chained<OPERATION>(addr, rounds);
  __syncthreads_or(value == 1);
  seen.chain = static_cast<u32>(clock64_now() - start);
  return seen;
}
// [measure-end]

// [kernel]
extern "C" __global__ void banks(const Pattern* patterns, u32 count, u32 trials, u32 rounds, u32 step,
                                 u32 shared_bytes, Times* times) {
  const u32 lane = threadIdx.x % 32;
  for (u32 byte = 4 * threadIdx.x; byte < shared_bytes; byte += 4 * blockDim.x) {
    st_volatile_shared_u32(shared_address(memory) + byte, 0);
  }
  for (u32 index = 0; index < count; ++index) {
    const Pattern& pattern = patterns[index];
    const u32 addr = shared_address(memory) + pattern.addresses[lane];
    const bool active = pattern.active >> lane & 1;
    for (u32 trial = 0; trial < trials; ++trial) {
      Times seen{};
      switch (pattern.operation) {
#define CASE(N)                                                     \
  case N:                                                           \
    seen = measured<N>(addr, active, rounds, step); \
    break;
        EACH_OPERATION(CASE)
#undef CASE
      }
      if (threadIdx.x == 0) times[index * trials + trial] = seen;
    }
  }
}
// [kernel-end]
