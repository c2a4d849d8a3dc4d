// b = a + 1 on one (8, 32) float32 tile: in by cp.async, 16 bytes a thread, past the registers; out by plain stores.
//
//   every thread, twice: its own address of a ──cp.async──▶ its own address of the tile; then wait, add, store
//
// Launch: 1 block of 32 threads. Compile: tmalab.hardware.compile.compile_kernel("add_one_cp_async").
#include "add_one_io.cuh"

// [kernel]
extern "C" __global__ void add_one_cp_async(const float* a, float* b, Report* report) {
  __shared__ alignas(128) float tile[ROWS][COLUMNS];
  const int column = threadIdx.x;
  __syncthreads();
  STAMP(start);

  // [load]
  constexpr int CHUNKS = sizeof(tile) / 16;  // 64 chunks of 16 bytes (4 elements), two a thread
  for (int i = 0; i < CHUNKS / COLUMNS; ++i) {
    const int first = (i * COLUMNS + column) * 4;
    cp_async_cg_16(&tile[0][0] + first, a + first);
  }
  cp_async_commit_group();
  cp_async_wait_group<0>();  // this thread's chunks are there …
  __syncthreads();           // … and everyone's
  // [load-end]
  STAMP(loaded);

  // [add]
  for (int row = 0; row < ROWS; ++row) tile[row][column] += 1.0f;
  // [add-end]
  STAMP(added);

  // [store]
  __syncthreads();
  for (int row = 0; row < ROWS; ++row) b[row * COLUMNS + column] = tile[row][column];
  // [store-end]
  STAMP_WRITTEN(stored);
  KEEP_STAMPS(report);
}
// [kernel-end]
