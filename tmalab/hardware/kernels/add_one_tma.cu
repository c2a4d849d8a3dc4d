// b = a + 1 on one (8, 32) float32 tile: in by a TMA load, out by a TMA store.
//
//   one thread asks ──▶ engine: a → shared memory, then 1024 bytes on the barrier ──▶ every thread adds to its column
//   one thread asks ──▶ engine: shared memory → b
//
// Launch: 1 block of 32 threads. Compile: tmalab.hardware.compile.compile_kernel("add_one_tma").
#include "add_one_io.cuh"
#include "bounded_wait.cuh"
#include "ptx_tensor.cuh"

// [kernel]
extern "C" __global__ void add_one_tma(const __grid_constant__ CUtensorMap a_map,
                                       const __grid_constant__ CUtensorMap b_map, Report* report) {
  __shared__ alignas(128) float tile[ROWS][COLUMNS];
  __shared__ u64 full_barrier;
  const int column = threadIdx.x;

  // [setup]
  if (column == 0) {
    mbarrier_init(&full_barrier, 1);  // one arrival completes a phase: the one of the thread that arms it
    fence_mbarrier_init();            // the engine may now see the barrier
  }
  __syncthreads();
  // [setup-end]
  STAMP(start);

  // [load]
  if (column == 0) {
    mbarrier_arrive_expect_tx(&full_barrier, sizeof(tile));  // 8 x 32 x 4 = 1024 bytes are to come
    cp_async_bulk_tensor_2d_shared_cluster_global_tile(tile, &a_map, 0, 0, &full_barrier);
  }
  // [load-end]

  // [wait]
  if (!wait_for_phase(&full_barrier, 0, WAIT_NS)) {  // phase 0: the arrival is in, and all 1024 bytes
    if (column == 0) report->waiting_for = 1;
    return;
  }
  // [wait-end]
  STAMP(loaded);

  // [add]
  for (int row = 0; row < ROWS; ++row) tile[row][column] += 1.0f;
  // [add-end]
  STAMP(added);

  // [store]
  fence_proxy_async_shared_cta();  // each thread's own writes, made visible to the engine
  __syncthreads();
  if (column == 0) {
    cp_async_bulk_tensor_2d_global_shared_cta_tile(&b_map, 0, 0, tile);
    cp_async_bulk_commit_group();
    cp_async_bulk_wait_group<0>();  // shared memory must live until the engine has read it
  }
  // [store-end]
  STAMP(stored);
  KEEP_STAMPS(report);
}
// [kernel-end]
