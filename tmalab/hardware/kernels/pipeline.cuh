// A pipeline's parts, once, for the kernel that runs it and the kernel that measures what each part costs.
//
//   producer (a warp)     wait empty[s] ─ arm full[s] ─ load into s        s = tile % stages, and its parity flips with
//   consumer (4 warps)    wait full[s] ─ read s ─ multiply ─ arrive empty[s]                every round of the ring
//
// Stamps stay in registers, lane t keeping those of tile t, and are written down at the end: storing each at once took
// longer than the waits that they tell of (measured on an H200).
#pragma once
#include "bounded_wait.cuh"
#include "ptx_barrier.cuh"
#include "ptx_named_barrier.cuh"
#include "ptx_shared.cuh"
#include "ptx_tensor.cuh"

constexpr u32 MOST_STAGES = 8, KEPT_TILES = 32, WARPS_OF_CONSUMER = 4, THREADS_OF_CONSUMER = 32 * WARPS_OF_CONSUMER;
constexpr u32 ROW_BYTES = 128, NO_STAMP = 0xFFFFFFFF;
constexpr u64 MOST_NS = 2'000'000, MOST_CYCLES = 4'000'000;  // of one wait
#ifndef TMALAB_STAMPS
#define TMALAB_STAMPS 1
#endif

// Of the first 32 tiles, in cycles since the start.
struct Moments {
  u32 empty_seen[KEPT_TILES], issued[KEPT_TILES];  // producer: the stage is known to be empty; the load is issued
  // first consumer; read_end is before its arrival
  u32 wait_begin[KEPT_TILES], full_seen[KEPT_TILES], read_end[KEPT_TILES];
  u32 full[KEPT_TILES], empty[KEPT_TILES];  // watcher: the barrier's phase was seen complete
};

struct Control {
  u64 full[MOST_STAGES], empty[MOST_STAGES];
  u64 start_cycles;
  u32 end_cycles, sum, gave_up, looks, look_cycles;
  Moments moments;
};

struct Pipe {
  unsigned char* tiles;  // stages x tile_bytes
  Control& control;
  u32 stages, tile_bytes;
};

// A place in the ring, and the parity of the phase that its user waits for.
struct Turn {
  u32 stage, parity;
  __device__ __forceinline__ void advance(u32 stages) {
    if (++stage == stages) {
      stage = 0;
      parity ^= 1;
    }
  }
};

// One kind of stamp of 32 tiles, in 32 lanes.
struct Stamps {
  u32 cycles = NO_STAMP;
  __device__ __forceinline__ void keep(u32 tile) {
    if (!TMALAB_STAMPS) return;
    keep_at(tile, static_cast<u32>(clock64_now()));
  }
  __device__ __forceinline__ void keep_at(u32 tile, u32 now) {
    if (threadIdx.x % 32 == tile) cycles = now;
  }
  __device__ __forceinline__ void write(const Control& control, u32* to) const {
    to[threadIdx.x % 32] = cycles == NO_STAMP ? NO_STAMP : cycles - static_cast<u32>(control.start_cycles);
  }
};

__device__ __forceinline__ void wait_until(u64 cycles) {
  while (clock64_now() < cycles) {
  }
}

// All blocks of the launch at one place, bounded; `arrivals` was zero before it.
__device__ __forceinline__ void meet(u32* arrivals, u32 times) {
  if (threadIdx.x == 0) {
    const u64 until = clock64_now() + MOST_CYCLES;
    atomicAdd(arrivals, 1);
    while (*static_cast<volatile u32*>(arrivals) < gridDim.x * times && clock64_now() < until) {
    }
  }
  __syncthreads();
}

struct Producer {
  Stamps empty_seen, issued;
};

// [produce]
// A warp's turn as producer. False where the stage did not become empty in time.
__device__ __forceinline__ bool produce(const Pipe& pipe, const CUtensorMap* map, int row, Producer& producer,
                                        Turn& turn, u32 tile) {
  u64* full = &pipe.control.full[turn.stage];
  if (!wait_for_phase(&pipe.control.empty[turn.stage], turn.parity, MOST_NS)) return false;
  producer.empty_seen.keep(tile);
  if (threadIdx.x % 32 == 0) {
    mbarrier_arrive_expect_tx(full, pipe.tile_bytes);
    cp_async_bulk_tensor_2d_shared_cluster_global_tile(pipe.tiles + turn.stage * pipe.tile_bytes, map, 0, row, full);
  }
  __syncwarp();
  producer.issued.keep(tile);
  turn.advance(pipe.stages);
  return true;
}
// [produce-end]

// What a consumer carries from tile to tile: it is number `number` of `of`, and reads so much of each.
struct Consumer {
  u32 number, of, sum;
  float value;
  u64 patience_ns = MOST_NS;  // none once a wait was in vain: its warps still meet, and come to their end
  Stamps wait_begin, full_seen, read_end;
};

// 16 bytes a thread at a time, COUNT of them under way.
template <u32 COUNT>
__device__ __forceinline__ u32 read_words(u32 from, u32 bytes) {
  constexpr u32 STEP = THREADS_OF_CONSUMER * 16;
  u32 sum = 0;
#pragma unroll 1
  for (u32 at = 0; at < bytes; at += COUNT * STEP) {
    uint4 words[COUNT];
#pragma unroll
    for (u32 n = 0; n < COUNT; ++n) words[n] = ld_volatile_shared_v4_u32(from + at + n * STEP);
#pragma unroll
    for (u32 n = 0; n < COUNT; ++n) sum += words[n].x + words[n].y + words[n].z + words[n].w;
  }
  return sum;
}

// The sum of one consumer's share of a tile, a multiple of 4 KiB.
__device__ __forceinline__ u32 read_share(const unsigned char* share, u32 bytes) {
  const u32 from = shared_address(share) + threadIdx.x % THREADS_OF_CONSUMER * 16;
  return bytes % 8192 == 0 ? read_words<4>(from, bytes) : read_words<2>(from, bytes);
}

// `count` multiplications (a multiple of 32), each waiting for the one before; the first for what was read.
__device__ __forceinline__ float multiply(float value, u32 count, u32 after) {
  value += static_cast<float>(after & 1);
#pragma unroll 1
  for (u32 at = 0; at < count; at += 32) {
#pragma unroll
    for (u32 times = 0; times < 32; ++times) value = fmaf(value, 0.999f, 0.5f);
  }
  return value;
}

// [consume]
// A warpgroup's turn as consumer. False where the stage did not become full in time.
__device__ __forceinline__ bool consume(const Pipe& pipe, Consumer& consumer, u32 fma, Turn& turn, u32 tile) {
  const u32 share = pipe.tile_bytes / consumer.of;
  consumer.wait_begin.keep(tile);
  const bool in_time = wait_for_phase(&pipe.control.full[turn.stage], turn.parity, consumer.patience_ns);
  if (!in_time) consumer.patience_ns = 0;
  consumer.full_seen.keep(tile);
  const u32 sum = read_share(pipe.tiles + turn.stage * pipe.tile_bytes + consumer.number * share, share);
  consumer.value = multiply(consumer.value, fma, sum);
  consumer.sum += sum;
  barrier_cta_sync_aligned(1 + consumer.number, THREADS_OF_CONSUMER);  // or one warp would run ahead of the others
  consumer.read_end.keep(tile);
  if (threadIdx.x % THREADS_OF_CONSUMER == 0) mbarrier_arrive(&pipe.control.empty[turn.stage]);
  turn.advance(pipe.stages);
  return in_time;
}
// [consume-end]

// By the warps whose stamps are kept; nobody else's are written.
__device__ __forceinline__ void write_stamps(Control& control, const Producer& producer) {
  producer.empty_seen.write(control, control.moments.empty_seen);
  producer.issued.write(control, control.moments.issued);
}

__device__ __forceinline__ void write_stamps(Control& control, const Consumer& consumer) {
  consumer.wait_begin.write(control, control.moments.wait_begin);
  consumer.full_seen.write(control, control.moments.full_seen);
  consumer.read_end.write(control, control.moments.read_end);
}

__device__ __forceinline__ void clear_stamps(Control& control) {
  u32* stamps = control.moments.empty_seen;
  for (u32 at = threadIdx.x; at < sizeof(Moments) / 4; at += blockDim.x) stamps[at] = NO_STAMP;
}

__device__ __forceinline__ void hand_out(const Control& control, Moments& to) {
  const u32* from = control.moments.empty_seen;
  u32* words = to.empty_seen;
  for (u32 at = threadIdx.x; at < sizeof(Moments) / 4; at += blockDim.x) words[at] = from[at];
}
