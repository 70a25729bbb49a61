// SPDX-License-Identifier: Apache-2.0
// cuda::memcpy_async that completes on a cuda::barrier: by the whole block, by each thread for itself, and ahead of
// use.
#include <cuda/barrier>

#include "structures.cuh"

using namespace gallery;

namespace {

using Barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void block_copies(Job job) {
  alignas(16) extern __shared__ Word slots[];
  __shared__ Barrier landed;
  const auto block = cg::this_thread_block();
  const int size = block.size();
  if (block.thread_rank() == 0) init(&landed, size);
  block.sync();
  for (int batch = 0; batch < job.batches; ++batch) {
    cuda::memcpy_async(block, slots, job.in + tile_start(batch, size), sizeof(Word) * size, landed);
    landed.arrive_and_wait();
    work(job, batch, slots, size, block.thread_rank(), size);
    landed.arrive_and_wait();
  }
}

__global__ void thread_copies(Job job) {
  alignas(16) extern __shared__ Word slots[];
  __shared__ Barrier landed;
  const int size = blockDim.x, me = threadIdx.x;
  if (me == 0) init(&landed, size);
  __syncthreads();
  for (int batch = 0; batch < job.batches; ++batch) {
    cuda::memcpy_async(slots + me, job.in + tile_start(batch, size) + me, sizeof(Word), landed);
    landed.wait(landed.arrive());
    work(job, batch, slots, size, me, size);
    __syncthreads();
  }
}

// Two slots, two barriers: the arrival of one tile is awaited while the next is already on its way.
__global__ void copies_ahead(Job job) {
  alignas(16) extern __shared__ Word slots[];
  __shared__ Barrier landed[2];
  const auto block = cg::this_thread_block();
  const int size = block.size(), me = block.thread_rank();
  if (me < 2) init(&landed[me], size);
  block.sync();
  const auto start_copy = [&](int batch) {
    if (batch < job.batches)
      cuda::memcpy_async(block, slots + batch % 2 * size, job.in + tile_start(batch, size), sizeof(Word) * size, landed[batch % 2]);
    return landed[batch % 2].arrive();
  };
  auto now = start_copy(0);
  for (int batch = 0; batch < job.batches; ++batch) {
    auto next = start_copy(batch + 1);
    landed[batch % 2].wait(std::move(now));
    work(job, batch, slots + batch % 2 * size, size, me, size);
    block.sync();
    now = std::move(next);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Sizes defaults;
  defaults.times = false;
  const Sizes sizes = parse_sizes(argc, argv, defaults);
  const int t = sizes.threads;
  bool passed = run_case({"barrier copy by the block", block_copies, 1, t, size_t(t)}, sizes);
  passed &= run_case({"barrier copy by threads", thread_copies, 1, t, size_t(t)}, sizes);
  passed &= run_case({"barrier copy ahead", copies_ahead, 2, t, size_t(2) * t}, sizes);
  return verdict(passed);
}
