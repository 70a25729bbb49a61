// SPDX-License-Identifier: Apache-2.0
// cooperative_groups::memcpy_async: a group copies together, then waits for all copies or for all but the last N.
#include <cooperative_groups/memcpy_async.h>

#include "structures.cuh"

using namespace gallery;

namespace {

__global__ void copy_and_wait(Job job) {
  alignas(16) extern __shared__ Word slots[];
  const auto block = cg::this_thread_block();
  const int size = block.size();
  for (int batch = 0; batch < job.batches; ++batch) {
    cg::memcpy_async(block, slots, job.in + tile_start(batch, size), sizeof(Word) * size);
    cg::wait(block);
    work(job, batch, slots, size, block.thread_rank(), size);
    block.sync();
  }
}

// The same with the promise that both sides are 16-byte aligned.
__global__ void copy_aligned(Job job) {
  alignas(16) extern __shared__ Word slots[];
  const auto block = cg::this_thread_block();
  const int size = block.size() * 4;
  for (int batch = 0; batch < job.batches; ++batch) {
    cg::memcpy_async(block, slots, job.in + tile_start(batch, size), cuda::aligned_size_t<16>(sizeof(Word) * size));
    cg::wait(block);
    work(job, batch, slots, size, block.thread_rank(), block.size());
    block.sync();
  }
}

template <int kStages>
__global__ void wait_prior_ring(Job job) {
  alignas(16) extern __shared__ Word slots[];
  const auto block = cg::this_thread_block();
  const int size = block.size();
  int fetched = 0;
  for (int batch = 0; batch < job.batches; ++batch) {
    for (; fetched < job.batches && fetched - batch < kStages; ++fetched)
      cg::memcpy_async(block, slots + fetched % kStages * size, job.in + tile_start(fetched, size), sizeof(Word) * size);
    if (fetched - batch == kStages) cg::wait_prior<kStages - 1>(block);
    else cg::wait(block);
    work(job, batch, slots + batch % kStages * size, size, block.thread_rank(), size);
    block.sync();
  }
}

// Each warp brings its own part of the tile; the block's barrier joins the parts.
template <int kLanes>
__global__ void copy_by_parts(Job job) {
  alignas(16) extern __shared__ Word slots[];
  const auto block = cg::this_thread_block();
  const auto part = cg::tiled_partition<kLanes>(block);
  const int size = block.size(), first = block.thread_rank() / kLanes * kLanes;
  for (int batch = 0; batch < job.batches; ++batch) {
    cg::memcpy_async(part, slots + first, job.in + tile_start(batch, size) + first, sizeof(Word) * kLanes);
    cg::wait(part);
    block.sync();
    work(job, batch, slots, size, block.thread_rank(), size);
    block.sync();
  }
}

const Kernel kPriorRings[] = {wait_prior_ring<1>, wait_prior_ring<2>, wait_prior_ring<3>, wait_prior_ring<4>,
                              wait_prior_ring<5>, wait_prior_ring<6>, wait_prior_ring<7>, wait_prior_ring<8>};

}  // namespace

int main(int argc, char** argv) {
  Sizes defaults;
  defaults.times = false;
  const Sizes sizes = parse_sizes(argc, argv, defaults);
  const int t = sizes.threads;
  bool passed = run_case({"groups: wait", copy_and_wait, 1, t, size_t(t)}, sizes);
  if (t <= 768) passed &= run_case({"groups: aligned size", copy_aligned, 1, 4 * t, size_t(4) * t}, sizes);
  if (t % 32 == 0) {
    passed &= run_case({"groups: parts of 32", copy_by_parts<32>, 1, t, size_t(t)}, sizes);
    passed &= run_case({"groups: parts of 8", copy_by_parts<8>, 1, t, size_t(t)}, sizes);
  }
  for (int stages = 1; stages <= kMaxStages; ++stages)
    if (!sizes.stages || sizes.stages == stages)
      passed &= run_case({"groups: wait_prior", kPriorRings[stages - 1], stages, t, size_t(stages) * t}, sizes);
  return verdict(passed);
}
