// What watch.cuh needs of PTX beside ptx.cuh: the end of one thread.
#pragma once
#include "ptx_barrier.cuh"

// exit;  // PTX ISA 1.0, sm_10
// Ends this thread alone; barriers of the block no longer wait for it.
__device__ __forceinline__ void exit_thread() {
  asm volatile("exit;" ::: "memory");
}
