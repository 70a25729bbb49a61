// SPDX-License-Identifier: Apache-2.0
// Five ways to stage tiles through shared memory with cuda::pipeline, from the simplest to the leanest.
//
//   one_stage      copy, wait, work, repeat: asynchronous copies, nothing overlapped
//   two_stages     one tile is worked on while the next one travels; first copy and last work stand outside the loop
//   ring<N>        N slots; one loop keeps the pipeline full and drains it at the end
//   parity_roles<N>   even threads only copy, odd threads only work
//   thread_ring<N>    each thread owns its own pipeline; the block's barrier makes its words visible to the others
//
// All take the tiles of a block in order, slot = batch % stages.
#pragma once
#include <cooperative_groups.h>
#include <cuda/pipeline>

#include "common.h"

// pipeline_shared_state lies in shared memory: make_pipeline initialises it.
#pragma nv_diag_suppress static_var_with_dynamic_init

namespace gallery {

namespace cg = cooperative_groups;

template <int kStages>
using BlockState = cuda::pipeline_shared_state<cuda::thread_scope_block, kStages>;

// The work of thread `worker` of `workers` on one tile.
__device__ inline void work(const Job& job, int batch, const Word* tile, int size, int worker, int workers) {
  Word* to = job.out + tile_start(batch, size);
  for (int i = worker; i < size; i += workers) to[i] = blend(tile, size, i, batch);
}

template <typename Group, typename Pipe>
__device__ void fetch(const Group& group, const Job& job, int batch, Word* slot, int size, Pipe& pipe) {
  pipe.producer_acquire();
  cuda::memcpy_async(group, slot, job.in + tile_start(batch, size), sizeof(Word) * size, pipe);
  pipe.producer_commit();
}

__global__ void one_stage(Job job) {
  alignas(16) extern __shared__ Word slots[];
  __shared__ BlockState<1> state;
  const auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  const int size = block.size();
  for (int batch = 0; batch < job.batches; ++batch) {
    fetch(block, job, batch, slots, size, pipe);
    pipe.consumer_wait();
    work(job, batch, slots, size, block.thread_rank(), size);
    pipe.consumer_release();
  }
}

__global__ void two_stages(Job job) {
  alignas(16) extern __shared__ Word slots[];
  __shared__ BlockState<2> state;
  const auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  const int size = block.size();
  if (job.batches == 0) return;
  const auto finish = [&](int batch) {
    pipe.consumer_wait();
    work(job, batch, slots + (batch & 1) * size, size, block.thread_rank(), size);
    pipe.consumer_release();
  };
  fetch(block, job, 0, slots, size, pipe);
  for (int next = 1; next < job.batches; ++next) {
    fetch(block, job, next, slots + (next & 1) * size, size, pipe);
    finish(next - 1);
  }
  finish(job.batches - 1);
}

template <int kStages>
__global__ void ring(Job job) {
  alignas(16) extern __shared__ Word slots[];
  __shared__ BlockState<kStages> state;
  const auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  const int size = block.size();
  int fetched = 0;
  for (int batch = 0; batch < job.batches; ++batch) {
    for (; fetched < job.batches && fetched - batch < kStages; ++fetched)
      fetch(block, job, fetched, slots + fetched % kStages * size, size, pipe);
    pipe.consumer_wait();
    work(job, batch, slots + batch % kStages * size, size, block.thread_rank(), size);
    pipe.consumer_release();
  }
}

// A tile has half as many words as the block has threads: the even threads copy them, the odd threads work on them.
template <int kStages>
__global__ void parity_roles(Job job) {
  alignas(16) extern __shared__ Word slots[];
  __shared__ BlockState<kStages> state;
  const auto block = cg::this_thread_block();
  const int me = block.thread_rank() / 2, pairs = block.size() / 2;
  const bool copies = block.thread_rank() % 2 == 0;
  auto pipe = cuda::make_pipeline(block, &state, copies ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
  for (int batch = 0; batch < job.batches; ++batch) {
    Word* slot = slots + batch % kStages * pairs;
    if (copies) {
      pipe.producer_acquire();
      if (me < pairs) cuda::memcpy_async(slot + me, job.in + tile_start(batch, pairs) + me, sizeof(Word), pipe);
      pipe.producer_commit();
    } else {
      pipe.consumer_wait();
      work(job, batch, slot, pairs, me, pairs);
      pipe.consumer_release();
    }
  }
}

template <int kStages>
__global__ void thread_ring(Job job) {
  alignas(16) extern __shared__ Word slots[];
  auto pipe = cuda::make_pipeline();
  const int size = blockDim.x, me = threadIdx.x;
  int fetched = 0;
  for (int batch = 0; batch < job.batches; ++batch) {
    for (; fetched < job.batches && fetched - batch < kStages; ++fetched) {
      pipe.producer_acquire();
      cuda::memcpy_async(slots + fetched % kStages * size + me, job.in + tile_start(fetched, size) + me, sizeof(Word), pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    __syncthreads();  // the pipeline only speaks of this thread's own words; work() reads its neighbours' too
    work(job, batch, slots + batch % kStages * size, size, me, size);
    pipe.consumer_release();
    __syncthreads();  // ... and nobody may refill the slot while a neighbour still reads it
  }
}

using Kernel = void (*)(Job);
inline constexpr int kMaxStages = 8;
inline const Kernel kRings[] = {ring<1>, ring<2>, ring<3>, ring<4>, ring<5>, ring<6>, ring<7>, ring<8>};
inline const Kernel kParityRoles[] = {parity_roles<1>, parity_roles<2>, parity_roles<3>, parity_roles<4>,
                                      parity_roles<5>, parity_roles<6>, parity_roles<7>, parity_roles<8>};
inline const Kernel kThreadRings[] = {thread_ring<1>, thread_ring<2>, thread_ring<3>, thread_ring<4>,
                                      thread_ring<5>, thread_ring<6>, thread_ring<7>, thread_ring<8>};

// Every structure that has this number of stages, for one block size.
inline std::vector<Case> structures(int stages, int threads) {
  const size_t words = size_t(stages) * threads;
  std::vector<Case> cases;
  if (stages == 1) cases.push_back({"one stage", one_stage, 1, threads, words});
  if (stages == 2) cases.push_back({"two stages, pro/epilogue", two_stages, 2, threads, words});
  cases.push_back({"unified ring", kRings[stages - 1], stages, threads, words});
  cases.push_back({"roles by parity", kParityRoles[stages - 1], stages, threads / 2, words});
  cases.push_back({"thread scope", kThreadRings[stages - 1], stages, threads, words});
  return cases;
}

}  // namespace gallery
