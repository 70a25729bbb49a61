// SPDX-License-Identifier: Apache-2.0
// Producers and consumers with cuda::barrier: one pair of barriers per slot, `full` and `empty`, both counting the
// whole block. Producers arrive on `full` without waiting for it, consumers on `empty`; each side waits for the barrier
// of the other.
#include <cuda/barrier>

#include "structures.cuh"

using namespace gallery;

namespace {

using Barrier = cuda::barrier<cuda::thread_scope_block>;

// The first `kProducers` threads fill slots with plain stores, the rest works.
template <int kStages, int kProducers>
__global__ void barrier_roles(Job job) {
  extern __shared__ Word slots[];
  __shared__ Barrier full[kStages], empty[kStages];
  const int size = blockDim.x, me = threadIdx.x;
  if (me < kStages) init(&full[me], size), init(&empty[me], size);
  __syncthreads();
  if (me < kProducers) {
    for (int batch = 0; batch < job.batches; ++batch) {
      const int s = batch % kStages;
      empty[s].arrive_and_wait();
      for (int i = me; i < size; i += kProducers) slots[s * size + i] = job.in[tile_start(batch, size) + i];
      (void)full[s].arrive();
    }
  } else {
    for (int s = 0; s < kStages; ++s) (void)empty[s].arrive();
    for (int batch = 0; batch < job.batches; ++batch) {
      const int s = batch % kStages;
      full[s].arrive_and_wait();
      work(job, batch, slots + s * size, size, me - kProducers, size - kProducers);
      (void)empty[s].arrive();
    }
  }
}

template <int kProducers>
const Kernel kRoles[] = {barrier_roles<1, kProducers>, barrier_roles<2, kProducers>, barrier_roles<3, kProducers>, barrier_roles<4, kProducers>,
                         barrier_roles<5, kProducers>, barrier_roles<6, kProducers>, barrier_roles<7, kProducers>, barrier_roles<8, kProducers>};

}  // namespace

int main(int argc, char** argv) {
  Sizes defaults;
  defaults.times = false;
  const Sizes sizes = parse_sizes(argc, argv, defaults);
  const int t = sizes.threads;
  bool passed = true;
  for (int stages = 1; stages <= kMaxStages; ++stages) {
    if (sizes.stages && sizes.stages != stages) continue;
    if (t > 32) passed &= run_case({"barrier roles, one warp", kRoles<32>[stages - 1], stages, t, size_t(stages) * t}, sizes);
    if (t > 17) passed &= run_case({"barrier roles, 17 threads", kRoles<17>[stages - 1], stages, t, size_t(stages) * t}, sizes);
  }
  return verdict(passed);
}
