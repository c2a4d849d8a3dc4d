// A pipeline of 1 to 8 stages: one warp loads tiles ahead, one or two warpgroups read them and compute as long as asked.
//
//   warps 0-3 (0-7)   consumers     then a warp   producer     then two   watchers of the full and the empty barriers
//
// All of it runs twice, so that the run which counts finds its instructions in the cache: first on the tiles from
// `rehearsal_tile` on, the same ones (then they lie in the L2) or others. With several blocks each has tiles of its own,
// and all of them start together. The consumers may start `head_start` cycles late, when their tiles are all there.
//
// Launch: `blocks` blocks of 128 * consumers + 96 threads, stages * tile_bytes + sizeof(Control) of dynamic shared
// memory or more. The host side is tmalab/hardware/pipeline_probe.py.
#include "pipeline.cuh"

struct Request {
  u32 stages, tile_bytes, consumers, fma, tiles, first_tile, rehearsal_tile, rehearsal_tiles, watches, head_start;
};

struct Out {
  u64 start_ns, end_ns;
  u32 end_cycles, sum, gave_up, sm, looks, look_cycles, finished, unused;
  Moments moments;
};

// Barriers anew, the stamps empty.
__device__ void prepare(Pipe& pipe, const Request& request, bool again) {
  Control& control = pipe.control;
  if (threadIdx.x == 0) {
    for (u32 stage = 0; stage < MOST_STAGES; ++stage) {
      if (again) {
        mbarrier_inval(&control.full[stage]);
        mbarrier_inval(&control.empty[stage]);
      }
      mbarrier_init(&control.full[stage], 1);
      mbarrier_init(&control.empty[stage], request.consumers);
    }
    fence_mbarrier_init();
    control.end_cycles = control.sum = control.gave_up = control.looks = control.look_cycles = 0;
  }
  clear_stamps(control);
  __syncthreads();
}

// A warp that looks at the barriers of one kind, tile after tile, without sleeping: when each phase was first seen
// complete. One warp for both kinds would look less often, since lanes that ask different barriers are answered in
// turn; and there are several looks to a branch, since a branch on the answer takes longer than a look.
__device__ void watch(Control& control, u64* barriers, u32* to, u32 stages, u32 tiles) {
  constexpr u32 LOOKS = 4;
  const u64 until = control.start_cycles + MOST_CYCLES;
  const u32 watched = tiles < KEPT_TILES ? tiles : KEPT_TILES;
  Stamps stamps;
  Turn turn = {0, 0};
  u32 looks = 0;
  u64 now = control.start_cycles;
  for (u32 tile = 0; tile < watched && now < until; looks += LOOKS) {
    u64 seen = 0;
#pragma unroll
    for (u32 look = 0; look < LOOKS; ++look) {
      const u32 done = mbarrier_test_wait_parity(&barriers[turn.stage], turn.parity);
      now = clock64_now() + (done >> 1);  // after the answer has come
      if (seen == 0 && done) seen = now;
    }
    if (seen != 0) {
      stamps.keep_at(tile++, static_cast<u32>(seen));
      turn.advance(stages);
    }
  }
  stamps.write(control, to);
  if (threadIdx.x % 32 == 0) {
    control.looks = looks;
    control.look_cycles = static_cast<u32>(now - control.start_cycles);
  }
}

__device__ void run(const Pipe& pipe, const CUtensorMap* map, const Request& request, u32 first_tile, u32 tiles) {
  Control& control = pipe.control;
  const u32 warp = threadIdx.x / 32, consumer_warps = WARPS_OF_CONSUMER * request.consumers;
  bool in_time = true;
  if (warp < consumer_warps) {
    Consumer consumer = {warp / WARPS_OF_CONSUMER, request.consumers, 0, 1.0f};
    Turn turn = {0, 0};  // the first phase of a full barrier ends with its first tile
    wait_until(control.start_cycles + request.head_start);
#pragma unroll 1
    for (u32 tile = 0; tile < tiles; ++tile) in_time &= consume(pipe, consumer, request.fma, turn, tile);
    const u32 end = static_cast<u32>(clock64_now() - control.start_cycles);
    if (threadIdx.x % 32 == 0) atomicMax(&control.end_cycles, end);
    atomicAdd(&control.sum, consumer.sum + (consumer.value == 12345.678f));  // or nobody would want the value
    if (warp == 0) write_stamps(control, consumer);
  } else if (warp == consumer_warps) {
    Producer producer;
    Turn turn = {0, 1};  // nobody has to empty a stage that was never filled: parity 1 lies before the first phase
    wait_until(control.start_cycles);
#pragma unroll 1
    for (u32 tile = 0; in_time && tile < tiles; ++tile) {
      const int row = static_cast<int>((first_tile + tile) * (request.tile_bytes / ROW_BYTES));
      in_time = produce(pipe, map, row, producer, turn, tile);
    }
    write_stamps(control, producer);
  } else if (request.watches) {
    const bool is_full = warp == consumer_warps + 1;
    watch(control, is_full ? control.full : control.empty, is_full ? control.moments.full : control.moments.empty,
          request.stages, tiles);
  }
  if (!in_time) control.gave_up = 1 + warp;
}

extern "C" __global__ void __launch_bounds__(2 * THREADS_OF_CONSUMER + 96, 1)
    pipeline(const __grid_constant__ CUtensorMap map, const __grid_constant__ Request request, Out* out,
             u32* arrivals) {
  extern __shared__ __align__(1024) unsigned char raw[];
  Control& control = *reinterpret_cast<Control*>(raw + request.stages * request.tile_bytes);
  Pipe pipe = {raw, control, request.stages, request.tile_bytes};
  u64 start_ns = 0;
#pragma unroll 1
  for (u32 pass = 0; pass < 2; ++pass) {
    const u32 tiles = pass ? request.tiles : request.rehearsal_tiles;
    const u32 first = (pass ? request.first_tile : request.rehearsal_tile) + blockIdx.x * tiles;
    prepare(pipe, request, pass);
    meet(arrivals, 1 + pass);
    if (threadIdx.x == 0) {
      start_ns = globaltimer();
      control.start_cycles = clock64_now() + 2'000;
    }
    __syncthreads();
    run(pipe, &map, request, first, tiles);
    __syncthreads();
  }
  Out& mine = out[blockIdx.x];
  if (threadIdx.x == 0) {
    mine.end_ns = globaltimer();
    mine.start_ns = start_ns;
    mine.end_cycles = control.end_cycles;
    mine.sum = control.sum;
    mine.gave_up = control.gave_up;
    mine.sm = smid();
    mine.looks = control.looks;
    mine.look_cycles = control.look_cycles;
    mine.finished = 1;
  }
  hand_out(control, mine.moments);
}
