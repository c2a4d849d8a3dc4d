// A tile landing: every thread looks at one piece of the destination and notes when it first changed.
//
//   fill with a sentinel ─▶ warp 0 issues one load and spins on its barrier
//                           all other warps: read, clock, read, clock … until the piece is no longer the sentinel
//
// With `counts` there is no such watching: thread 32 arrives at the load's barrier again and again, and the states that
// this returns show the bytes running down.
//
// Launch: 1 block of 32 + pieces threads (a multiple of 32); 64 with `counts`. The host side is tmalab/hardware/landing_probe.py.
#include "counted_wait.cuh"
#include "landing_watch.cuh"
#include "ptx_barrier.cuh"
#include "ptx_tensor.cuh"

enum Warmth : u32 { WARM, COLD_DATA, COLD };  // tile and map loaded before; another tile of the map; nothing
constexpr u32 SENTINEL = 0xCDCDCDCD;
constexpr u32 STATES = 256;
constexpr u64 MOST_CYCLES = 400'000, HEAD_START = 4'000;

struct Request {
  int coords[2], other_coords[2];  // of the tile, and of one that warms the map
  u32 tile_bytes, piece_bytes, warmth, counts;
};

struct Out {
  u64 issue_cycles[2];     // before the load's instruction, and after it
  u64 complete_cycles;     // the first look that found the phase complete
  u64 finished;
  u64 pieces[1024][2];  // the last look that saw the sentinel, and the first that did not
  u64 states[STATES];   // with `counts`: the upper half of a state, the low half of the clock
};

__device__ void load(void* tile, const CUtensorMap* map, const int* coords, u32 bytes, u64* barrier) {
  mbarrier_arrive_expect_tx(barrier, bytes);
  cp_async_bulk_tensor_2d_shared_cluster_global_tile(tile, map, coords[0], coords[1], barrier);
}

// [issue]
// The whole first warp: its first thread issues, all of it looks at the barrier.
__device__ __forceinline__ void issue_and_watch(const CUtensorMap* map, const int* coords, const Request& request,
                                                u32* tile, u64* barrier, Out* out) {
  u64 issue = 0, issued = 0;
  if (threadIdx.x == 0) {
    mbarrier_arrive_expect_tx(barrier, request.tile_bytes);
    issue = clock64_now();
    cp_async_bulk_tensor_2d_shared_cluster_global_tile(tile, map, coords[0], coords[1], barrier);
    issued = clock64_now();
  }
  __syncwarp();
  const Waited waited = watch_phase(barrier, 0, MOST_CYCLES);
  if (threadIdx.x == 0) {
    out->issue_cycles[0] = issue;
    out->issue_cycles[1] = issued;
    out->complete_cycles = waited.end_cycles;
  }
}
// [issue-end]

__device__ void watch_piece(const u32* tile, u32 piece, u32 piece_bytes, u64* seen) {
  const u32 words = piece_bytes / 4;
  const u32* word = tile + piece * words + piece / (32 / words) % words;  // 32 lanes look into 32 banks
  const Landed landed = watch_word(word, SENTINEL, MOST_CYCLES + HEAD_START);
  seen[0] = landed.before;
  seen[1] = landed.first;
}

extern "C" __global__ void __launch_bounds__(1024, 1)
    landing(const __grid_constant__ CUtensorMap map, const __grid_constant__ CUtensorMap rehearsal_map,
            const __grid_constant__ Request request, Out* out) {
  extern __shared__ __align__(1024) unsigned char raw[];
  u64* barriers = reinterpret_cast<u64*>(raw);
  u32* tile = reinterpret_cast<u32*>(raw + 1024);
  __shared__ u64 start_cycles;
#pragma unroll 1
  for (u32 pass = 0; pass < 2; ++pass) {  // a rehearsal: the real run finds its instructions in the cache
    const bool is_real = pass == 1;
    if (threadIdx.x == 0) {
      if (is_real) mbarrier_inval(&barriers[0]);
      mbarrier_init(&barriers[0], request.counts ? 1 + STATES : 1);
      mbarrier_init(&barriers[1 + pass], 1);
      fence_mbarrier_init();
      if (is_real && request.warmth != COLD) {
        load(tile, &map, request.warmth == WARM ? request.coords : request.other_coords, request.tile_bytes,
             &barriers[1 + pass]);
        try_for_phase(&barriers[1 + pass], 0, MOST_CYCLES);
      }
    }
    __syncthreads();
    for (u32 at = threadIdx.x; at < request.tile_bytes / 4; at += blockDim.x) tile[at] = SENTINEL;
    for (u32 at = threadIdx.x; at < STATES; at += blockDim.x) out->states[at] = 0;
    fence_proxy_async_shared_cta();
    if (threadIdx.x == 0) start_cycles = clock64_now() + HEAD_START;
    __syncthreads();
    if (threadIdx.x < 32) {
      while (clock64_now() < start_cycles) {  // every other warp is looking by now
      }
      issue_and_watch(is_real ? &map : &rehearsal_map, is_real ? request.coords : request.other_coords, request, tile,
                      &barriers[0], out);
    } else if (!request.counts) {
      const u32 piece = threadIdx.x - 32;
      watch_piece(tile, piece, request.piece_bytes, out->pieces[piece]);
    } else if (threadIdx.x == 32) {
      while (clock64_now() + 500 < start_cycles) {
      }
      watch_counts(&barriers[0], STATES, [&](u32 at, u64 state) {
        out->states[at] = state << 32 | static_cast<u32>(clock64_now());
      });
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) out->finished = 1;
}
