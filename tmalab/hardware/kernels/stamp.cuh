// Time stamps: what a warp did, and when, in a ring of its own that the kernel hands out at its end.
//
//   stamp(ring, EVENT, detail)      ring: | cycles, ns, event, detail | … |  the newest RING_STAMPS are kept
//
// `cycles` is the multiprocessor's clock64 and orders everything that one block does. `ns` is %globaltimer, which ticks
// coarsely: it places the run in the world and gives the length of a cycle, nothing finer. Cycles of two
// multiprocessors have no common zero.
#pragma once
#include "ptx.cuh"

constexpr u32 RING_STAMPS = 32;

struct Stamp {
  u64 cycles, ns;
  u32 event, detail;
};

struct Ring {
  Stamp stamps[RING_STAMPS];
  u32 used;
};

// By one thread a ring: an event whose clock was read before, and kept in a register.
__device__ __forceinline__ void stamp_at(Ring& ring, u64 cycles, u32 event, u32 detail = 0) {
  Stamp& slot = ring.stamps[ring.used++ % RING_STAMPS];
  slot.cycles = cycles;
  slot.event = event;
  slot.detail = detail;
}

// By one thread a ring. clock64 is read first: the slow timer's cost falls behind the event.
__device__ __forceinline__ void stamp(Ring& ring, u32 event, u32 detail = 0) {
  stamp_at(ring, clock64_now(), event, detail);
}

// As `stamp`, with the nanoseconds; its cost is measured by clocks.cu.
__device__ __forceinline__ void stamp_ns(Ring& ring, u32 event, u32 detail = 0) {
  const u64 cycles = clock64_now();
  Stamp& slot = ring.stamps[ring.used++ % RING_STAMPS];
  slot.cycles = cycles;
  slot.ns = globaltimer();
  slot.event = event;
  slot.detail = detail;
}

// All threads of the block: out[ring][slot] and used[ring], once every ring is complete (a barrier is in front).
__device__ __forceinline__ void hand_out_rings(const Ring* rings, u32 count, Ring* out) {
  const u32 words = count * sizeof(Ring) / sizeof(u64);
  const u64* from = reinterpret_cast<const u64*>(rings);
  for (u32 at = threadIdx.x; at < words; at += blockDim.x) reinterpret_cast<u64*>(out)[at] = from[at];
}
