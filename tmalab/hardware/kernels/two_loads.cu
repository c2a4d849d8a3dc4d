// Two loads on one barrier, with a stamp at everything that happens: seed of the figure of that name.
//
//   warp 0  producer   its first thread arms and issues; then the whole warp multiplies, asking nobody
//   warp 1  consumer   waits, then looks whether both tiles are whole
//   warp 2  worker     multiplies likewise, and issues nothing
//   warp 3  watcher    LINES: each lane one 128-byte line of the destination     BARRIER: the barrier of the first load
//                      ARRIVES: arrives again and again, and keeps the states that this returns
//
// Each warp has a quarter of the multiprocessor to itself. All of it runs twice, first on maps and tiles that nobody
// asks about: the run that is stamped finds its instructions in the cache. What the producer does, and in which order,
// is TMALAB_STEPS: a list of {step, operand}, so that a variant of the order costs no branch between two instructions.
//
// Launch: 1 block of 128 threads. The host side is tmalab/hardware/two_loads_probe.py.
#include "counted_wait.cuh"
#include "landing_watch.cuh"
#include "ptx_barrier.cuh"
#include "ptx_tensor.cuh"
#include "stamp.cuh"

enum StepKind : u32 { ARRIVE_EXPECT_TX, EXPECT_TX, ARRIVE, LOAD, DELAY };
struct Step {
  u32 kind, operand;
};

#ifndef TMALAB_STEPS
#define TMALAB_STEPS {ARRIVE_EXPECT_TX, 4096}, {LOAD, 0}, {LOAD, 1}
#endif
constexpr Step STEPS[] = {TMALAB_STEPS};
constexpr u32 STEP_COUNT = sizeof(STEPS) / sizeof(Step);

enum Watch : u32 { LINES, BARRIER, ARRIVES };
enum Warmth : u32 { WARM, COLD_DATA, COLD };  // tile and map loaded before; another tile of the map; nothing
enum Event : u32 { STEP, WAIT_BEGIN, WAIT_END, START };

constexpr u32 TILE_BYTES = 2048, LINE_BYTES = 128, LINE_COUNT = 2 * TILE_BYTES / LINE_BYTES;
constexpr u32 SENTINEL = 0xCDCDCDCD, STATES = 128;
constexpr u32 BATCHES = 64;
constexpr u64 MOST_CYCLES = 400'000, HEAD_START = 2'000;

struct Request {
  int rows[2];    // the first row of A in its tensor and of B in its own, each as wide as a tile
  int other_row;  // of the tiles that warm the maps, and of the rehearsal
  u32 arrivals, watch, warmth, is_twin, sleeps;  // is_twin: the second load has a barrier of its own
};

struct Out {
  Ring rings[4];
  u64 line_cycles[LINE_COUNT], line_before[LINE_COUNT];  // first look that saw the line changed; the look before
  u64 states[STATES], state_cycles[STATES];
  u64 batch_cycles[2][BATCHES + 1];  // of warps 0 and 2: the begin of the work, the end of each batch
  u32 missing_words, finished;
};

struct Shared {
  alignas(1024) u32 tiles[2][TILE_BYTES / 4];
  u64 barriers[3];  // of both loads, of the second in a twin run, of the loads that warm
  u64 start_cycles;
  u32 missing_words;
  Ring rings[4];
  u64 line_cycles[LINE_COUNT], line_before[LINE_COUNT];
  u64 states[STATES], state_cycles[STATES];
  u64 batch_cycles[2][BATCHES + 1];
};

struct Maps {
  const CUtensorMap *a, *b;
};

__device__ __forceinline__ void load_both(Shared& shared, const Maps& maps, int row_a, int row_b, u64* barrier) {
  mbarrier_arrive_expect_tx(barrier, 2 * TILE_BYTES);
  cp_async_bulk_tensor_2d_shared_cluster_global_tile(shared.tiles[0], maps.a, 0, row_a, barrier);
  cp_async_bulk_tensor_2d_shared_cluster_global_tile(shared.tiles[1], maps.b, 0, row_b, barrier);
}

// [issue]
// One thread's steps; the clock is read between two and kept in registers.
__device__ __forceinline__ void produce(Shared& shared, const Maps& maps, const int* rows, bool is_twin,
                                        u64 (&marks)[STEP_COUNT + 1]) {
  constexpr const Step* steps = STEPS;
#pragma unroll
  for (u32 at = 0; at < STEP_COUNT; ++at) {
    const Step step = steps[at];
    marks[at] = clock64_now();
    if (step.kind == ARRIVE_EXPECT_TX) mbarrier_arrive_expect_tx(&shared.barriers[0], step.operand);
    if (step.kind == EXPECT_TX) mbarrier_expect_tx(&shared.barriers[0], step.operand);
    if (step.kind == ARRIVE) mbarrier_arrive(&shared.barriers[0]);
    if (step.kind == LOAD) {
      u64* barrier = &shared.barriers[is_twin ? step.operand : 0];
      cp_async_bulk_tensor_2d_shared_cluster_global_tile(shared.tiles[step.operand], step.operand ? maps.b : maps.a, 0,
                                                         rows[step.operand], barrier);
    }
    if (step.kind == DELAY) {
      while (clock64_now() < marks[at] + step.operand) {
      }
    }
  }
  marks[STEP_COUNT] = clock64_now();
}
// [issue-end]

// [work]
// A whole warp's multiplications, 64 a lane in a batch, with the clock after each batch; no barrier is asked.
__device__ __forceinline__ void work(u64* batch_cycles, float* sink) {
  float sums[8];
#pragma unroll
  for (u32 at = 0; at < 8; ++at) sums[at] = static_cast<float>(threadIdx.x + at);
  batch_cycles[0] = clock64_now();  // every lane the same word: no branch
#pragma unroll 1
  for (u32 batch = 1; batch <= BATCHES; ++batch) {
#pragma unroll
    for (u32 times = 0; times < 8; ++times) {
#pragma unroll
      for (u32 at = 0; at < 8; ++at) sums[at] = fmaf(sums[at], 1.000001f, 0.5f);
    }
    batch_cycles[batch] = clock64_now();
  }
  float sum = 0;
#pragma unroll
  for (u32 at = 0; at < 8; ++at) sum += sums[at];
  if (sum == 12345.678f) *sink = sum;  // or the compiler would find out that nobody wants it
}
// [work-end]

__device__ void watch_lines(Shared& shared, u32 lane) {
  const u32* word = &shared.tiles[0][0] + lane * (LINE_BYTES / 4) + lane;  // another bank for every lane
  const Landed landed = watch_word(word, SENTINEL, MOST_CYCLES);
  shared.line_cycles[lane] = landed.first;
  shared.line_before[lane] = landed.before;
}

__device__ __forceinline__ u32 missing_words(const Shared& shared, u32 lane) {
  const u32* words = &shared.tiles[0][0];
  u32 missing = 0;
#pragma unroll
  for (u32 at = 0; at < 2 * TILE_BYTES / 4 / 32; ++at) {
    missing += ld_volatile_shared_cta_u32(words + at * 32 + lane) == SENTINEL;
  }
  return missing;
}

// By a whole warp. A consumer reads the tiles at once, and only then takes the time for its stamp.
__device__ __forceinline__ void wait_and_stamp(Shared& shared, Ring& ring, u64* barrier, u32 sleeps, u64* also,
                                               bool reads) {
  const u32 lane = threadIdx.x % 32;
  if (lane == 0) stamp_ns(ring, WAIT_BEGIN);
  __syncwarp();
  const Waited waited = sleeps ? try_for_phase(barrier, 0, MOST_CYCLES) : watch_phase(barrier, 0, MOST_CYCLES);
  const u64 end_ns = globaltimer();
  if (also) try_for_phase(also, 0, MOST_CYCLES);
  const u32 missing = reads ? missing_words(shared, lane) : 0;
  if (lane == 0) {
    stamp_at(ring, waited.end_cycles, WAIT_END, waited.completed ? waited.tries : 0);
    ring.stamps[(ring.used - 1) % RING_STAMPS].ns = end_ns;
  }
  atomicAdd(&shared.missing_words, missing);
}

__device__ void wait_for_start(const Shared& shared) {
  while (clock64_now() < shared.start_cycles) {
  }
}

__device__ void run(Shared& shared, const Maps& maps, const Request& request, const int* rows, float* sink) {
  const u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const u64 settled = shared.start_cycles + 20'000;  // a phase that ended too early: its bytes are still on their way
  wait_for_start(shared);
  if (warp == 0) {
    u64 marks[STEP_COUNT + 1];
    if (lane == 0) {
      stamp_ns(shared.rings[0], START);
      produce(shared, maps, rows, request.is_twin, marks);
    }
    __syncwarp();
    work(shared.batch_cycles[0], sink);
    if (lane == 0) {
#pragma unroll
      for (u32 at = 0; at <= STEP_COUNT; ++at) stamp_at(shared.rings[0], marks[at], STEP, at);
    }
  } else if (warp == 1) {
    u64* also = request.is_twin ? &shared.barriers[0] : nullptr;  // the tiles are read when both have come
    wait_and_stamp(shared, shared.rings[1], &shared.barriers[request.is_twin ? 1 : 0], request.sleeps, also, true);
  } else if (warp == 2) {
    work(shared.batch_cycles[1], sink);
  } else {
    if (request.watch == LINES) watch_lines(shared, lane);
    if (request.watch == BARRIER) {
      wait_and_stamp(shared, shared.rings[3], &shared.barriers[0], 0, nullptr, false);
    }
    if (request.watch == ARRIVES && lane == 0) {
      watch_counts(&shared.barriers[0], STATES, [&](u32 at, u32 state) {
        shared.states[at] = state;
        shared.state_cycles[at] = clock64_now();
      });
    }
  }
  while (clock64_now() < settled) {
  }
}

// Barriers anew, both tiles the sentinel, and a moment for all warps to begin at.
__device__ void prepare(Shared& shared, const Request& request, bool again) {
  if (threadIdx.x == 0) {
    for (u32 at = 0; again && at < 2; ++at) mbarrier_inval(&shared.barriers[at]);
    mbarrier_init(&shared.barriers[0], request.arrivals + (request.watch == ARRIVES ? STATES : 0));
    mbarrier_init(&shared.barriers[1], 1);
    fence_mbarrier_init();
    if (request.is_twin) mbarrier_arrive_expect_tx(&shared.barriers[1], TILE_BYTES);
    shared.missing_words = 0;
    for (u32 at = 0; at < 4; ++at) shared.rings[at].used = 0;
  }
  for (u32 at = threadIdx.x; at < 2 * TILE_BYTES / 4; at += blockDim.x) (&shared.tiles[0][0])[at] = SENTINEL;
  for (u32 at = threadIdx.x; at < STATES; at += blockDim.x) shared.states[at] = shared.state_cycles[at] = 0;
  fence_proxy_async_shared_cta();
  if (threadIdx.x == 0) shared.start_cycles = clock64_now() + HEAD_START;
  __syncthreads();
}

extern "C" __global__ void __launch_bounds__(128, 1)
    two_loads(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
              const __grid_constant__ CUtensorMap rehearsal_map, const __grid_constant__ Request request, Out* out,
              float* sink) {
  extern __shared__ __align__(1024) unsigned char raw[];
  Shared& shared = *reinterpret_cast<Shared*>(raw);
#pragma unroll 1
  for (u32 pass = 0; pass < 2; ++pass) {
    const bool is_real = pass == 1;
    const Maps maps = is_real ? Maps{&map_a, &map_b} : Maps{&rehearsal_map, &rehearsal_map};
    const int other[2] = {request.other_row, request.other_row};
    if (is_real && request.warmth != COLD) {
      const bool same = request.warmth == WARM;
      if (threadIdx.x == 0) {
        mbarrier_init(&shared.barriers[2], 1);
        fence_mbarrier_init();
        load_both(shared, maps, same ? request.rows[0] : other[0], same ? request.rows[1] : other[1],
                  &shared.barriers[2]);
        try_for_phase(&shared.barriers[2], 0, MOST_CYCLES);
      }
      __syncthreads();
    }
    prepare(shared, request, is_real);
    const int rows[2] = {is_real ? request.rows[0] : other[0], is_real ? request.rows[1] : other[1]};
    run(shared, maps, request, rows, sink);
    __syncthreads();
  }
  hand_out_rings(shared.rings, 4, out->rings);
  if (threadIdx.x < LINE_COUNT) {
    out->line_cycles[threadIdx.x] = shared.line_cycles[threadIdx.x];
    out->line_before[threadIdx.x] = shared.line_before[threadIdx.x];
  }
  for (u32 at = threadIdx.x; at < STATES; at += blockDim.x) {
    out->states[at] = shared.states[at];
    out->state_cycles[at] = shared.state_cycles[at];
  }
  for (u32 at = threadIdx.x; at < 2 * (BATCHES + 1); at += blockDim.x) {
    out->batch_cycles[0][at] = shared.batch_cycles[0][at];
  }
  if (threadIdx.x == 0) {
    out->missing_words = shared.missing_words;
    out->finished = 1;
  }
}
