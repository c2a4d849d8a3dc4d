// One tile, loaded once by the TMA engine and read by wgmma through as many matrix descriptors as one likes.
//
//   shared memory:  | 1024: barrier | the other operand, always right | smem_bytes: the tile at smem_base |
//
//   tile A, B = identity    d[r][n] = A[r][n] as the tensor core read it: an element that names itself says which one
//   tile A, B = 8 columns   an ordinary product beside it
//   tile B, A = identity    d[k][n] = B[k][n], for the other operand
//
// Then the loads and the products are timed.
//
// Launch: 1 block of 128 threads (one warpgroup), 1024 + OTHER_BYTES + smem_bytes of dynamic shared memory. Compile:
// tmalab.hardware.compile.compile_kernel("wgmma_tile"). The host side is tmalab/hardware/wgmma_probe.py.
#include "bounded_wait.cuh"
#include "ptx_matrix.cuh"
#include "ptx_tensor.cuh"

constexpr u32 OWN_BYTES = 1024;
constexpr u32 OTHER_ROWS = 72;  // the identity's 64 rows, then 8 columns of numbers, K-major: each row is one column
constexpr u32 OTHER_BYTES = OTHER_ROWS * 128;
constexpr u32 ROWS = 64, COLUMNS = 64, PRODUCT_COLUMNS = 8;
constexpr u32 STEPS = 4;  // of K: 4 x 16 = 64
constexpr u32 ROUNDS = 16;         // of each timing
constexpr u32 LOADS = 8;           // on their way at once
constexpr u32 PRODUCT_ROUNDS = 8;  // of the four steps, in one group

// One way to read the tile: its descriptor at each step. The starts count from the region's first byte.
struct Reading {
  u32 start_bytes[STEPS];
  u32 leading_bytes, stride_bytes, base_offset;
  MatrixSwizzle swizzle;
};

// What the host asks for; wgmma_probe.py packs it field by field.
struct Experiment {
  const Reading* readings;
  float* read;     // [readings][64][64]
  float* product;  // [readings][64][8]
  u64* encoded;    // [readings][STEPS]: the descriptors as wgmma got them
  unsigned char* smem_out;
  u32* load_cycles;     // [2][ROUNDS]: one load of the tile, then LOADS of them
  u32* product_cycles;  // [readings][ROUNDS]: PRODUCT_ROUNDS * STEPS products of m64n64k16
  u64 wait_ns;
  u32 reading_count, tile_rank, tile_bytes, smem_bytes, smem_base, tile_is_b;
};

struct Report {
  u32 waiting_for;  // 0: nothing; 1: phase 0 of the barrier that both loads complete on; 2: a timed load's phase
  u32 finished;     // the kernel ran to its end
  u32 region;       // where the starts count from, as an address in shared memory
  u32 unused;
};

// [store]
template <u32 N>
__device__ void store_accumulators(float (&d)[N / 2], float* to) {
  const u32 lane = threadIdx.x % 32, first_row = threadIdx.x / 32 * 16 + lane / 4;
#pragma unroll
  for (u32 i = 0; i < N / 2; ++i) {
    const u32 row = first_row + i % 4 / 2 * 8, column = i / 4 * 8 + lane % 4 * 2 + i % 2;
    to[row * N + column] = d[i];
  }
}
// [store-end]

__device__ void load_tile(const Experiment& experiment, const CUtensorMap* tile_map, void* tile, u64* full_barrier) {
  if (experiment.tile_rank == 2) {
    cp_async_bulk_tensor_2d_shared_cluster_global_tile(tile, tile_map, 0, 0, full_barrier);
  } else {
    cp_async_bulk_tensor_3d_shared_cluster_global_tile(tile, tile_map, 0, 0, 0, full_barrier);
  }
}

// One thread: the cycles until `loads` copies of the tile are there, all to one place. False where a wait gave up.
__device__ bool time_loads(const Experiment& experiment, const CUtensorMap* tile_map, void* tile, u64* full_barrier,
                           u32& phase_parity, u32 loads, u32* cycles) {
#pragma unroll 1
  for (u32 round = 0; round < ROUNDS; ++round) {
    const u64 start = clock64_now();
    mbarrier_arrive_expect_tx(full_barrier, loads * experiment.tile_bytes);
#pragma unroll 1
    for (u32 load = 0; load < loads; ++load) load_tile(experiment, tile_map, tile, full_barrier);
    if (!wait_for_phase(full_barrier, phase_parity, experiment.wait_ns)) return false;
    cycles[round] = clock64_now() - start;
    phase_parity ^= 1;
  }
  return true;
}

extern "C" __global__ void __launch_bounds__(128)
    wgmma_tile(const __grid_constant__ CUtensorMap tile_map, const __grid_constant__ CUtensorMap other_map,
               const __grid_constant__ Experiment experiment, Report* report) {
  extern __shared__ __align__(1024) unsigned char shared[];
  u64* full_barrier = reinterpret_cast<u64*>(shared);
  unsigned char* other = shared + OWN_BYTES;
  unsigned char* region = other + OTHER_BYTES;

  for (u32 at = threadIdx.x; at < experiment.smem_bytes; at += blockDim.x) region[at] = 0;
  if (threadIdx.x == 0) {
    mbarrier_init(full_barrier, 1);
    fence_mbarrier_init();
  }
  fence_proxy_async_shared_cta();
  __syncthreads();

  // [load]
  if (threadIdx.x == 0) {
    void* tile = region + experiment.smem_base;
    mbarrier_arrive_expect_tx(full_barrier, OTHER_BYTES + experiment.tile_bytes);
    cp_async_bulk_tensor_2d_shared_cluster_global_tile(other, &other_map, 0, 0, full_barrier);
    load_tile(experiment, &tile_map, tile, full_barrier);
  }
  if (!wait_for_phase(full_barrier, 0, experiment.wait_ns)) {
    if (threadIdx.x == 0) report->waiting_for = 1;
    return;
  }
  // [load-end]

#pragma unroll 1
  for (u32 number = 0; number < experiment.reading_count; ++number) {
    const Reading& reading = experiment.readings[number];
    // [multiply]
    float read[COLUMNS / 2] = {}, product[PRODUCT_COLUMNS / 2] = {};
    keep_accumulators(read);
    keep_accumulators(product);
    wgmma_fence();
#pragma unroll
    for (u32 step = 0; step < STEPS; ++step) {
      const u64 tile = matrix_descriptor(shared_address(region) + reading.start_bytes[step], reading.leading_bytes,
                                         reading.stride_bytes, reading.swizzle, reading.base_offset);
      const u32 other_step = shared_address(other) + 32 * step;
      const u64 identity = matrix_descriptor(other_step, 16, 1024, MatrixSwizzle::b128);
      const u64 columns = matrix_descriptor(other_step + ROWS * 128, 16, 1024, MatrixSwizzle::b128);
      const u64 a = experiment.tile_is_b ? identity : tile;
      wgmma_mma_async_m64n64k16_f32_f16_f16(read, a, experiment.tile_is_b ? tile : identity, step != 0);
      wgmma_mma_async_m64n8k16_f32_f16_f16(product, a, experiment.tile_is_b ? tile : columns, step != 0);
      if (threadIdx.x == 0) experiment.encoded[number * STEPS + step] = tile;
    }
    wgmma_commit_group();
    wgmma_wait_group<0>();
    keep_accumulators(read);
    keep_accumulators(product);
    // [multiply-end]
    store_accumulators<COLUMNS>(read, experiment.read + number * ROWS * COLUMNS);
    store_accumulators<PRODUCT_COLUMNS>(product, experiment.product + number * ROWS * PRODUCT_COLUMNS);
  }

  // [time]
#pragma unroll 1
  for (u32 number = 0; number < experiment.reading_count; ++number) {
    const Reading& reading = experiment.readings[number];
    u64 tile[STEPS], identity[STEPS];
#pragma unroll
    for (u32 step = 0; step < STEPS; ++step) {
      tile[step] = matrix_descriptor(shared_address(region) + reading.start_bytes[step], reading.leading_bytes,
                                     reading.stride_bytes, reading.swizzle, reading.base_offset);
      identity[step] = matrix_descriptor(shared_address(other) + 32 * step, 16, 1024, MatrixSwizzle::b128);
    }
    float d[COLUMNS / 2] = {};
#pragma unroll 1
    for (u32 round = 0; round < ROUNDS; ++round) {
      keep_accumulators(d);
      const u64 start = clock64_now();
      wgmma_fence();
#pragma unroll
      for (u32 again = 0; again < PRODUCT_ROUNDS; ++again) {
#pragma unroll
        for (u32 step = 0; step < STEPS; ++step) {
          wgmma_mma_async_m64n64k16_f32_f16_f16(d, tile[step], identity[step], 1);
        }
      }
      wgmma_commit_group();
      wgmma_wait_group<0>();
      keep_accumulators(d);
      __syncthreads();
      if (threadIdx.x == 0) experiment.product_cycles[number * ROUNDS + round] = clock64_now() - start;
    }
    float sum = 0;
    for (u32 i = 0; i < COLUMNS / 2; ++i) sum += d[i];
    if (sum == -1) report->unused = 1;  // never: but the compiler drops products that nobody reads
  }
  // [time-end]

  fence_proxy_async_shared_cta();
  for (u32 at = threadIdx.x; at < experiment.smem_bytes; at += blockDim.x) experiment.smem_out[at] = region[at];
  __syncthreads();
  if (threadIdx.x == 0) {
    u32 phase_parity = 1;
    const bool timed =
        time_loads(experiment, &tile_map, region + experiment.smem_base, full_barrier, phase_parity, 1,
                   experiment.load_cycles) &&
        time_loads(experiment, &tile_map, region + experiment.smem_base, full_barrier, phase_parity, LOADS,
                   experiment.load_cycles + ROUNDS);
    report->waiting_for = timed ? 0 : 2;
    report->region = shared_address(region);
    report->finished = 1;
  }
}
