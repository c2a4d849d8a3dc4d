// A barrier's life as a list of steps, one after another, and what every step returned.
//
//   step:    op, agent (block 0 or 1 of the cluster), slot (which of the barriers), operand
//   result:  the state, the word or the verdict that the op gives, and the cycles that it took
//
// Between two steps stands a barrier of the whole cluster, so that nothing here is a race: what a reading does not see,
// it does not see although it came later. The barriers are those of block 0; the remote ops reach them from either.
//
// Launch: clusters of 2 blocks of 32 threads. The host side is tmalab/hardware/barrier_ops_probe.py.
#include "ptx_barrier.cuh"

// barrier_ops_probe.py holds the same list.
enum Op : u32 {
  INIT, INVAL, ARRIVE, ARRIVE_COUNT, ARRIVE_DROP, ARRIVE_NO_COMPLETE, ARRIVE_EXPECT_TX, EXPECT_TX, COMPLETE_TX,
  TEST_PARITY, TRY_PARITY, TEST_STATE, PENDING_COUNT, REMOTE_ARRIVE,
  LD, LD_VOLATILE, LD_ACQUIRE_CTA, LD_ACQUIRE_SYS, LD_CLUSTER, ATOM_OR, ATOM_CAS, ATOM_CLUSTER, BULK_TO_GLOBAL,
  BULK_TO_SHARED,
  ST, FENCE_PROXY_ASYNC, FENCE_SYS, BAR_SYNC, SLEEP_NS, INIT_OTHERS, ARRIVE_OTHERS, SMID,
};

constexpr u64 COPY_CYCLES = 100'000;  // a bulk copy into shared memory gives up after these

struct Step {
  u32 op, agent, slot, operand;
  u64 word;
};

struct Result {
  u64 value, cycles;
};

struct Scratch {
  alignas(16) u64 words[2];
  u64 copied;  // the barrier that a bulk copy into `words` completes on
  u64 state;   // of this block's last arrive
};

__device__ u64 read_word(u32 op, u64* barrier, u32 remote, Scratch& own, u64* global_words) {
  switch (op) {
    case LD: return ld_shared_cta(barrier);
    case LD_VOLATILE: return ld_volatile_shared_cta(barrier);
    case LD_ACQUIRE_CTA: return ld_acquire_cta_shared_cta(barrier);
    case LD_ACQUIRE_SYS: return ld_acquire_sys(barrier);
    case LD_CLUSTER: return ld_acquire_cluster_shared_cluster(remote);
    case ATOM_OR: return atom_shared_cta_or(barrier, 0);
    case ATOM_CAS: return atom_shared_cta_cas(barrier, 0, 0);
    case ATOM_CLUSTER: return atom_shared_cluster_or(remote, 0);
    case BULK_TO_GLOBAL:  // an even slot: 16 bytes, 16-byte aligned
      fence_proxy_async();
      cp_async_bulk_global_shared_cta(global_words, barrier, 16);
      cp_async_bulk_commit_group();
      cp_async_bulk_wait_group<0>();
      return ld_volatile_global_u64(global_words);
    default: {  // BULK_TO_SHARED
      mbarrier_init(&own.copied, 1);
      fence_mbarrier_init();
      fence_proxy_async();
      mbarrier_arrive_expect_tx(&own.copied, 16);
      const u32 rank = cluster_ctarank();
      cp_async_bulk_shared_cluster_shared_cta(mapa_shared_cluster(own.words, rank), barrier, 16,
                                              mapa_shared_cluster(&own.copied, rank));
      const u64 until = clock64_now() + COPY_CYCLES;
      while (!mbarrier_test_wait_parity(&own.copied, 0) && clock64_now() < until) {
      }
      mbarrier_inval(&own.copied);
      return own.words[0];
    }
  }
}

__device__ u64 take_step(const Step& step, u64* barriers, u32 remote, Scratch& own, u64* global_words) {
  u64* barrier = barriers + step.slot;
  const u32 operand = step.operand;
  switch (step.op) {
    case INIT: return mbarrier_init(barrier, operand), 0;
    case INVAL: return mbarrier_inval(barrier), 0;
    case ARRIVE: return own.state = mbarrier_arrive(barrier);
    case ARRIVE_COUNT: return own.state = mbarrier_arrive_shared_cta(barrier, operand);
    case ARRIVE_DROP: return own.state = mbarrier_arrive_drop(barrier);
    case ARRIVE_NO_COMPLETE: return own.state = mbarrier_arrive_noComplete(barrier, operand);
    case ARRIVE_EXPECT_TX: return own.state = mbarrier_arrive_expect_tx(barrier, operand);
    case EXPECT_TX: return mbarrier_expect_tx(barrier, operand), 0;
    case COMPLETE_TX: return mbarrier_complete_tx(barrier, operand), 0;
    case TEST_PARITY: return mbarrier_test_wait_parity(barrier, operand);
    case TRY_PARITY: return mbarrier_try_wait_parity(barrier, operand);
    case TEST_STATE: return mbarrier_test_wait(barrier, own.state);
    case PENDING_COUNT: return mbarrier_pending_count(own.state);
    case REMOTE_ARRIVE: return mbarrier_arrive_release_cluster_shared_cluster(remote), 0;
    case ST: return st_volatile_shared_cta(barrier, step.word), 0;
    case FENCE_PROXY_ASYNC: return fence_proxy_async(), 0;
    case FENCE_SYS: return fence_acq_rel_sys(), 0;
    case SLEEP_NS: {
      const u64 until_ns = globaltimer() + operand;
      while (globaltimer() < until_ns) {
      }
      return 0;
    }
    case INIT_OTHERS:  // as many barriers behind this one, every `word` slots
      for (u32 other = 1; other <= operand; ++other) mbarrier_init(barrier + other * step.word, 77);
      return 0;
    case ARRIVE_OTHERS:
      for (u32 other = 1; other <= operand; ++other) mbarrier_arrive(barrier + other * step.word);
      return 0;
    case SMID: return smid();
    default: return read_word(step.op, barrier, remote, own, global_words);
  }
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(32)
    barrier_ops(const Step* steps, u32 count, Result* results, u64* global_words) {
  extern __shared__ __align__(128) u64 barriers[];
  __shared__ Scratch own;
  const u32 rank = cluster_ctarank(), cluster = blockIdx.x / 2;
  for (u32 at = 0; at < count; ++at) {
    const Step step = steps[at];
    if (step.op == BAR_SYNC) __syncthreads();
    if (step.op != BAR_SYNC && step.agent == rank && threadIdx.x == 0) {
      const u32 remote = mapa_shared_cluster(barriers + step.slot, 0);
      const u64 begin = clock64_now();
      const u64 value = take_step(step, barriers, remote, own, global_words + 2 * blockIdx.x);
      results[cluster * count + at] = {value, clock64_now() - begin};
    }
    barrier_cluster_arrive();
    barrier_cluster_wait();
  }
}
