// SPDX-License-Identifier: Apache-2.0
// Commits under divergence. The lanes of a warp fetch halves of a tile in two branches. A commit inside the branches
// makes one batch for each group of lanes that executes it, and a wait that leaves one batch open may then wait for
// more than it names: correct, but slow. The right place is behind the branches.
#include <cuda_pipeline_primitives.h>

#include "../experiment.h"
using namespace gallery;

enum Where { Behind, InBoth, PerLane };

// Two tiles on the way. Even lanes fetch the left half of each pair of words, odd lanes the right one.
template <Where kWhere>
__global__ void fetch(Job job) {
  __shared__ Word slots[2][256];
  const int t = threadIdx.x, n = blockDim.x;
  const auto start = [&](int batch) {
    Word* slot = slots[batch & 1];
    const Word* from = job.in + tile_start(batch < job.batches ? batch : 0, n);
    const bool real = batch < job.batches;
    if (kWhere == PerLane) {
      for (int lane = 0; lane < 32; ++lane)
        if (t % 32 == lane) {
          if (real) __pipeline_memcpy_async(slot + t, from + t, 4);
          __pipeline_commit();
        }
      return;
    }
    if (t & 1) {
      if (real) __pipeline_memcpy_async(slot + t, from + t, 4);
      if (kWhere == InBoth) __pipeline_commit();
    } else {
      if (real) __pipeline_memcpy_async(slot + n - 2 - t, from + n - 2 - t, 4);
      if (kWhere == InBoth) __pipeline_commit();
    }
    if (kWhere == Behind) __pipeline_commit();
  };
  start(0);
  for (int batch = 0; batch < job.batches; ++batch) {
    start(batch + 1);
    __pipeline_wait_prior(1);
    __syncthreads();
    job.out[tile_start(batch, n) + t] = blend(slots[batch & 1], n, t, batch);
    __syncthreads();
  }
}

int main(int argc, char** argv) {
  Experiment e(argc, argv);
  const int blocks = e.h200 ? 132 * 16 : 3, threads = e.h200 ? 256 : 64, batches = e.h200 ? 200 : 7;
  const auto in = make_input(size_t(blocks) * threads * batches);
  const auto want = reference(in, batches, blocks, threads);
  const DeviceArray<Word> from(in);
  DeviceArray<Word> to(in.size());
  const auto run = [&](const char* name, auto kernel) {
    to.fill(0xA5);
    const double ms = e.time([&] { kernel<<<blocks, threads>>>(Job{from.get(), to.get(), batches}); });
    const auto got = to.copy();
    e.report(name, got, got == want, ms, 8.0 * double(in.size()));
  };
  run("commit behind the branches", fetch<Behind>);
  run("commit in both branches", fetch<InBoth>);
  run("commit lane by lane", fetch<PerLane>);
  return e.finish();
}
