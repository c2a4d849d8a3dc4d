// A copy of global memory by the TMA engine alone: tiles come into a ring of stages and leave it again, and no thread
// touches a byte.
//
//   wait full[s] ─ store s, commit ─ until at most `held` stores still read ─ load the next tile into the stage that is free
//
// One thread a block. A stage is free when its store has *read* it (`wait_group.read`); the writes themselves are waited
// for once, at the end. Which tile is next: block b takes b * first_step, then `step` further, `turns` at most; with a
// step of 0 whoever is ready takes the next `turns` of all, from a counter.
//
// Launch: any number of blocks of 32 threads, stages * tile_bytes of dynamic shared memory or more. The host side is
// tmalab/hardware/tma_copy_probe.py.
#include "bounded_wait.cuh"
#include "ptx_bulk.cuh"

constexpr u32 MOST_STAGES = 32, NO_TILE = 0xFFFFFFFF;
constexpr u64 MOST_NS = 20'000'000;  // of one wait

struct Request {
  u32 tiles, tile_bytes, stages, held, first_step, step, turns;
  u32 rows;  // 0: plain bytes; else rows of a tile of the tensor maps
  u32 load_evicts_first, store_evicts_first;
};

struct Counters {
  u32 next, done, gave_up;
};

// All but the `held` newest stores have read their stage.
__device__ __forceinline__ void wait_until_read(u32 held) {
  switch (held) {
    case 0: return cp_async_bulk_wait_group_read<0>();
    case 1: return cp_async_bulk_wait_group_read<1>();
    case 2: return cp_async_bulk_wait_group_read<2>();
    case 3: return cp_async_bulk_wait_group_read<3>();
    default: return cp_async_bulk_wait_group_read<4>();
  }
}

extern "C" __global__ void __launch_bounds__(32)
    tma_copy(const __grid_constant__ CUtensorMap from_map, const __grid_constant__ CUtensorMap to_map,
             const __grid_constant__ Request request, const unsigned char* from, unsigned char* to,
             Counters* counters) {
  extern __shared__ __align__(1024) unsigned char ring[];
  __shared__ u64 full[MOST_STAGES];
  __shared__ u32 tile_in[MOST_STAGES];
  if (threadIdx.x != 0) return;
  for (u32 stage = 0; stage < request.stages; ++stage) mbarrier_init(&full[stage], 1);
  fence_mbarrier_init();
  const u64 first_policy = createpolicy_fractional_L2_evict_first(), normal = createpolicy_fractional_L2_evict_normal();
  const u64 load_policy = request.load_evicts_first ? first_policy : normal;
  const u64 store_policy = request.store_evicts_first ? first_policy : normal;
  const u32 bytes = request.tile_bytes;

  u32 taken = 0, tile_after = 0;
  auto take = [&] {
    if (request.step == 0) {
      if (taken % request.turns == 0) tile_after = atomicAdd(&counters->next, request.turns);
      ++taken;
      return tile_after++;
    }
    const u32 tile = blockIdx.x * request.first_step + taken * request.step;
    return taken++ < request.turns ? tile : NO_TILE;
  };
  u32 next = take();
  // [copy]
  auto load = [&](u32 stage) {
    tile_in[stage] = next;
    if (next >= request.tiles) return;
    mbarrier_arrive_expect_tx(&full[stage], bytes);
    if (request.rows) {
      cp_async_bulk_tensor_2d_shared_cluster_global_tile_L2_cache_hint(
          ring + stage * bytes, &from_map, 0, static_cast<int>(next * request.rows), &full[stage], load_policy);
    } else {
      cp_async_bulk_shared_cluster_global_L2_cache_hint(ring + stage * bytes, from + u64(next) * bytes, bytes,
                                                        &full[stage], load_policy);
    }
    next = take();
  };
  for (u32 stage = 0; stage < request.stages; ++stage) load(stage);
  u32 stage = 0, parity = 0, freed = 0;
#pragma unroll 1
  for (u32 turn = 0; tile_in[stage] < request.tiles; ++turn) {
    const u32 tile = tile_in[stage];
    if (!wait_for_phase(&full[stage], parity, MOST_NS)) {
      counters->gave_up = 1 + turn;
      break;
    }
    if (request.rows) {
      cp_async_bulk_tensor_2d_global_shared_cta_tile_L2_cache_hint(&to_map, 0, static_cast<int>(tile * request.rows),
                                                                   ring + stage * bytes, store_policy);
    } else {
      cp_async_bulk_global_shared_cta_L2_cache_hint(to + u64(tile) * bytes, ring + stage * bytes, bytes, store_policy);
    }
    cp_async_bulk_commit_group();
    wait_until_read(request.held);
    if (turn >= request.held) {
      load(freed);
      freed = freed + 1 == request.stages ? 0 : freed + 1;
    }
    stage = stage + 1 == request.stages ? 0 : stage + 1;
    parity ^= stage == 0;
  }
  cp_async_bulk_wait_group<0>();
  // [copy-end]
  if (request.step == 0 && atomicAdd(&counters->done, 1) == gridDim.x - 1) {
    counters->next = counters->done = 0;  // for the next launch
  }
}
