// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 12
// hangs
// Nobody releases the stages, so the third producer_acquire of a pipeline of two stages waits for ever. Until then the
// consumers' wait is always that for the first stage: the second batch is read before its copies are complete.

#include <cooperative_groups.h>
#include <cuda/pipeline>

#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  __shared__ int tile[2][32];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto block = cooperative_groups::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  const int t = threadIdx.x;
  for (int batch = 0; batch < 4; ++batch) {
    pipe.producer_acquire();  // expect: deadlock
    cuda::memcpy_async(&tile[batch % 2][t], in + 32 * batch + t, sizeof(int), pipe);  // expect: race-shared A
    pipe.producer_commit();
    pipe.consumer_wait();
    out[32 * batch + t] = tile[batch % 2][t ^ 1];  // expect: race-shared B
  }
}

int main() {
  int *in = iota(128), *out = zeros(128);
  kernel<<<1, 32>>>(in, out);
  return ended();
}
