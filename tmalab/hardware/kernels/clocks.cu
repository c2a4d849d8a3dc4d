// What a time stamp costs, how %globaltimer ticks, and how many cycles a nanosecond has.
//
// Launch: 1 block of 32 threads. The host side is tmalab/hardware/timed_launch.py.
#include "stamp.cuh"

constexpr u32 COST_SAMPLES = 64, KINDS = 10;
constexpr u32 TICKS = 64;

struct Clocks {
  u64 costs[KINDS][COST_SAMPLES];  // cycles between two reads of the clock with `measure_costs`'s KIND between them
  u64 ticks[TICKS];            // successive values of %globaltimer
  u64 cycles[2], ns[2];        // the two clocks, side by side, at the begin and the end of `span_ns`
};

// What stands between two reads of the clock; timed_launch.py names them. The barrier's phase is open.
template <int KIND>
__device__ void measure_costs(Ring& ring, u64* barrier, u64* costs) {
  u32 sink = 0;
  u64 before = clock64_now();
#pragma unroll 1
  for (u32 at = 0; at < COST_SAMPLES; ++at) {
    if (KIND == 1) ring.stamps[at % RING_STAMPS].ns = globaltimer();
    if (KIND == 2) stamp(ring, at);
    if (KIND == 3) stamp_ns(ring, at);
    if (KIND == 4 || KIND == 8) sink += mbarrier_test_wait_parity(barrier, 0);
    if (KIND == 5 || KIND == 9) sink += mbarrier_try_wait_parity(barrier, 0);
    if (KIND == 6) sink += mbarrier_test_wait_parity(barrier, 1);
    if (KIND == 7) sink += mbarrier_arrive(barrier) >> 32;
    const u64 now = clock64_now() + (KIND >= 4 ? sink >> 31 : 0);  // after the answer has come
    if (threadIdx.x == 0) costs[at] = now - before;
    before = clock64_now();
  }
  ring.stamps[0].detail = sink;
}

// %globaltimer at the moment of a tick, and the clock beside it.
__device__ void at_a_tick(u64& cycles, u64& ns) {
  const u64 old = globaltimer();
  do {
    cycles = clock64_now();
    ns = globaltimer();
  } while (ns == old);
}

extern "C" __global__ void clocks(u64 span_ns, Clocks* out) {
  __shared__ Ring ring;
  __shared__ u64 barrier;
  __shared__ u64 costs[KINDS][COST_SAMPLES];
  if (threadIdx.x == 0) {
    ring.used = 0;
    mbarrier_init(&barrier, (1 << 20) - 1);
  }
  __syncthreads();
  for (u32 round = 0; round < 2; ++round) {  // the first round warms the instruction cache
    if (threadIdx.x == 0) {
      measure_costs<0>(ring, &barrier, costs[0]);
      measure_costs<1>(ring, &barrier, costs[1]);
      measure_costs<2>(ring, &barrier, costs[2]);
      measure_costs<3>(ring, &barrier, costs[3]);
      measure_costs<4>(ring, &barrier, costs[4]);
      measure_costs<5>(ring, &barrier, costs[5]);
      measure_costs<6>(ring, &barrier, costs[6]);
      measure_costs<7>(ring, &barrier, costs[7]);
    }
    __syncwarp();
    measure_costs<8>(ring, &barrier, costs[8]);  // all 32 lanes ask
    measure_costs<9>(ring, &barrier, costs[9]);
  }
  if (threadIdx.x != 0) return;
  for (u32 kind = 0; kind < KINDS; ++kind) {
    for (u32 at = 0; at < COST_SAMPLES; ++at) out->costs[kind][at] = costs[kind][at];
  }
  at_a_tick(out->cycles[0], out->ns[0]);
  u64 last = globaltimer();
  for (u32 tick = 0; tick < TICKS; ++tick) {
    u64 now;
    while ((now = globaltimer()) == last) {
    }
    out->ticks[tick] = last = now;
  }
  while (globaltimer() < out->ns[0] + span_ns) {
  }
  at_a_tick(out->cycles[1], out->ns[1]);
}
