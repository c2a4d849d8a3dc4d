// What a pipeline's parts cost, one at a time and without a pipeline: what the model of a pipeline is given.
//
//   LOADS     `stages` loads issued one behind the other, seen by a waiting consumer; then all of them again
//   HANDOFF   no load: the producer only arrives, the consumer answers, and both stamp what they saw
//   PACED     a load every `pace` cycles as long as a stage is free, read by nobody: what loads cost each other
//
// What a consumer's turn takes is measured by pipeline.cu itself, with a head start: another kernel's instructions are
// in another order, and that changed it by half (measured on an H200).
//
// Launch: as pipeline.cu, with a consumer and a producer. The host side is tmalab/hardware/pipeline_costs_probe.py.
#include "pipeline.cuh"

enum Part : u32 { LOADS, HANDOFF, PACED };

struct Request {
  u32 part, stages, tile_bytes, tiles, first_tile, pace;
};

struct Out {
  u64 start_ns, end_ns;
  u32 end_cycles, gave_up, sm, finished;
  Moments moments;
};

constexpr u32 REST_CYCLES = 1'000;  // so that who waits is asleep before anything happens

__device__ __forceinline__ void rest() {
  wait_until(clock64_now() + REST_CYCLES);
}

// [loads]
// Bursts: every round issues one load a stage while the consumer waits for them in their order and reads nothing.
__device__ bool loads(const Pipe& pipe, const CUtensorMap* map, const Request& request, bool is_producer) {
  const u32 rows = request.tile_bytes / ROW_BYTES;
  Producer producer;
  Consumer consumer = {0, 1, 0, 0};
  Turn turn = {0, is_producer ? 1u : 0u};
  bool in_time = true;
#pragma unroll 1
  for (u32 tile = 0; tile + request.stages <= request.tiles; tile += request.stages) {
    __syncthreads();
    if (is_producer) {
      rest();
#pragma unroll 1
      for (u32 at = 0; at < request.stages; ++at) {
        const int row = static_cast<int>((request.first_tile + tile + at) * rows);
        in_time &= produce(pipe, map, row, producer, turn, tile + at);
      }
    } else if (threadIdx.x < THREADS_OF_CONSUMER) {
#pragma unroll 1
      for (u32 at = 0; at < request.stages; ++at) {
        in_time &= wait_for_phase(&pipe.control.full[turn.stage], turn.parity, MOST_NS);
        consumer.full_seen.keep(tile + at);
        if (threadIdx.x % 32 == 0) mbarrier_arrive(&pipe.control.empty[turn.stage]);
        turn.advance(pipe.stages);
      }
    }
  }
  if (is_producer) write_stamps(pipe.control, producer);
  if (threadIdx.x < 32) write_stamps(pipe.control, consumer);
  return in_time;
}
// [loads-end]

// [handoff]
// The way of a barrier alone: full completed by an arrival, empty by the answer.
__device__ bool handoff(const Pipe& pipe, const Request& request, bool is_producer) {
  Control& control = pipe.control;
  Producer producer;
  Consumer consumer = {0, 1, 0, 0};
  bool in_time = true;
#pragma unroll 1
  for (u32 tile = 0; tile < request.tiles; ++tile) {
    const u32 parity = tile % 2;
    if (is_producer) {
      rest();
      producer.issued.keep(tile);
      if (threadIdx.x % 32 == 0) mbarrier_arrive(&control.full[0]);
      __syncwarp();
      in_time &= wait_for_phase(&control.empty[0], parity, MOST_NS);
      producer.empty_seen.keep(tile);
    } else if (threadIdx.x < THREADS_OF_CONSUMER) {
      in_time &= wait_for_phase(&control.full[0], parity, MOST_NS);
      consumer.full_seen.keep(tile);
      rest();
      barrier_cta_sync_aligned(1, THREADS_OF_CONSUMER);
      consumer.read_end.keep(tile);
      if (threadIdx.x == 0) mbarrier_arrive(&control.empty[0]);
    }
  }
  if (is_producer) write_stamps(control, producer);
  if (threadIdx.x < 32) write_stamps(control, consumer);
  return in_time;
}
// [handoff-end]

// [paced]
// The blocks begin one behind the other, evenly over one pace.
__device__ bool paced(const Pipe& pipe, const CUtensorMap* map, const Request& request, bool is_producer) {
  const u32 rows = request.tile_bytes / ROW_BYTES, first_tile = request.first_tile + blockIdx.x * request.tiles;
  const u64 start = pipe.control.start_cycles + u64(request.pace) * blockIdx.x / gridDim.x;
  Producer producer;
  Consumer consumer = {0, 1, 0, 0};
  Turn turn = {0, is_producer ? 1u : 0u};
  bool in_time = true;
#pragma unroll 1
  for (u32 tile = 0; tile < request.tiles; ++tile) {
    if (is_producer) {
      wait_until(start + u64(tile) * request.pace);
      in_time &= produce(pipe, map, static_cast<int>((first_tile + tile) * rows), producer, turn, tile);
    } else if (threadIdx.x < THREADS_OF_CONSUMER) {
      in_time &= wait_for_phase(&pipe.control.full[turn.stage], turn.parity, MOST_NS);
      consumer.full_seen.keep(tile);
      if (threadIdx.x % 32 == 0) mbarrier_arrive(&pipe.control.empty[turn.stage]);
      turn.advance(pipe.stages);
    }
  }
  if (is_producer) write_stamps(pipe.control, producer);
  if (threadIdx.x < 32) write_stamps(pipe.control, consumer);
  return in_time;
}
// [paced-end]

extern "C" __global__ void __launch_bounds__(THREADS_OF_CONSUMER + 32, 1)
    pipeline_costs(const __grid_constant__ CUtensorMap map, const __grid_constant__ Request request, Out* out,
                   u32* arrivals) {
  extern __shared__ __align__(1024) unsigned char raw[];
  Control& control = *reinterpret_cast<Control*>(raw + request.stages * request.tile_bytes);
  Pipe pipe = {raw, control, request.stages, request.tile_bytes};
  const bool is_producer = threadIdx.x / 32 == WARPS_OF_CONSUMER;
  if (threadIdx.x == 0) {
    for (u32 stage = 0; stage < MOST_STAGES; ++stage) {
      mbarrier_init(&control.full[stage], 1);
      mbarrier_init(&control.empty[stage], request.part == HANDOFF ? 1 : WARPS_OF_CONSUMER);
    }
    fence_mbarrier_init();
    control.gave_up = 0;
  }
  clear_stamps(control);
  __syncthreads();
  meet(arrivals, 1);
  if (threadIdx.x == 0) {
    out[blockIdx.x].start_ns = globaltimer();
    control.start_cycles = clock64_now() + 2'000;
  }
  __syncthreads();
  wait_until(control.start_cycles);
  bool in_time = true;
  if (request.part == LOADS) in_time = loads(pipe, &map, request, is_producer);
  if (request.part == HANDOFF) in_time = handoff(pipe, request, is_producer);
  if (request.part == PACED) in_time = paced(pipe, &map, request, is_producer);
  const u32 end = static_cast<u32>(clock64_now() - control.start_cycles);
  if (is_producer && threadIdx.x % 32 == 0) control.end_cycles = end;
  if (!in_time) control.gave_up = 1;
  __syncthreads();
  Out& mine = out[blockIdx.x];
  if (threadIdx.x == 0) {
    mine.end_ns = globaltimer();
    mine.end_cycles = control.end_cycles;
    mine.gave_up = control.gave_up;
    mine.sm = smid();
    mine.finished = 1;
  }
  hand_out(control, mine.moments);
}
