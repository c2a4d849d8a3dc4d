// b = a + 1 on one (8, 32) float32 tile: in by plain loads, through registers into shared memory; out by plain stores.
//
//   every thread: a ──ld.global──▶ register ──st.shared──▶ tile, add, tile ──ld.shared──▶ register ──st.global──▶ b
//
// Launch: 1 block of 32 threads. Compile: tmalab.hardware.compile.compile_kernel("add_one_plain").
#include "add_one_io.cuh"

// [kernel]
extern "C" __global__ void add_one_plain(const float* a, float* b, Report* report) {
  __shared__ alignas(128) float tile[ROWS][COLUMNS];
  const int column = threadIdx.x;
  __syncthreads();
  STAMP(start);

  // [load]
  for (int row = 0; row < ROWS; ++row) tile[row][column] = a[row * COLUMNS + column];  // an address a thread and row
  __syncthreads();
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
