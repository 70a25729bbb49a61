// SPDX-License-Identifier: Apache-2.0
// Producers and consumers by warp: producers copy and let the copies arrive at an mbarrier (__pipeline_arrive_on),
// consumers wait for its parity. That arrival first raises the pending count by one, so on balance it changes nothing:
// each producer must arrive once more, or the phase never completes.
#include <cuda_awbarrier_primitives.h>
#include <cuda_pipeline_primitives.h>

#include "../experiment.h"
using namespace gallery;

template <int kStages>
__global__ void roles(Job job) {
  __shared__ Word slots[kStages][512];
  __shared__ __mbarrier_t full[kStages], empty[kStages];
  const int half = blockDim.x / 2, me = threadIdx.x % half;
  const bool producer = threadIdx.x < half;
  if (threadIdx.x == 0)
    for (int s = 0; s < kStages; ++s) __mbarrier_init(&full[s], half), __mbarrier_init(&empty[s], half);
  __syncthreads();
  for (int batch = 0; batch < job.batches; ++batch) {
    const int s = batch % kStages, parity = batch / kStages & 1;
    const size_t start = tile_start(batch, half);
    if (producer) {
      while (!__mbarrier_try_wait_parity(&empty[s], parity ^ 1, 1000)) {}
      __pipeline_memcpy_async(&slots[s][me], job.in + start + me, sizeof(Word));
      __pipeline_arrive_on(&full[s]);
      __mbarrier_arrive(&full[s]);
    } else {
      while (!__mbarrier_try_wait_parity(&full[s], parity, 1000)) {}
      job.out[start + me] = blend(slots[s], half, me, batch);
      __mbarrier_arrive(&empty[s]);
    }
  }
}

int main(int argc, char** argv) {
  Experiment e(argc, argv);
  const int blocks = e.h200 ? 132 * 4 : 3, threads = e.h200 ? 512 : 128, batches = e.h200 ? 400 : 11;
  const auto in = make_input(size_t(blocks) * threads / 2 * batches);
  const auto want = reference(in, batches, blocks, threads / 2);
  const DeviceArray<Word> from(in);
  DeviceArray<Word> to(in.size());
  const auto run = [&](const char* name, auto kernel) {
    to.fill(0xA5);
    const double ms = e.time([&] { kernel<<<blocks, threads>>>(Job{from.get(), to.get(), batches}); });
    const auto got = to.copy();
    e.report(name, got, got == want, ms, 8.0 * double(in.size()));
  };
  run("one slot", roles<1>);
  run("two slots", roles<2>);
  run("four slots", roles<4>);
  return e.finish();
}
