// One access pattern of one warp, `rounds` x 16 times and nothing else: for a profiler to count its wavefronts.
//
// Launch: 1 block of 32 threads, dynamic shared memory for the highest address; what is in it does not matter.
#include "bank_access.cuh"

extern __shared__ __align__(1024) unsigned char memory[];

extern "C" __global__ void banks_once(const Pattern* pattern, u32 rounds, u32 step, u32* seen) {
  const u32 lane = threadIdx.x % 32;
  const u32 addr = shared_address(memory) + pattern->addresses[lane];
  u32 value = 0;
  if (pattern->active >> lane & 1) {
    switch (pattern->operation) {
#define CASE(N)                                   \
  case N:                                         \
    value = back_to_back<N>(addr, step, rounds); \
    break;
      EACH_OPERATION(CASE)
#undef CASE
    }
  }
  seen[lane] = value;
}
