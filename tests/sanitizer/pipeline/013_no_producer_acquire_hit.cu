// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 13
// covers: E5
// Without producer_acquire the stage is filled again while other threads may still read it.

#include <cooperative_groups.h>
#include <cuda/pipeline>

#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  __shared__ int tile[64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 1> state;
  auto block = cooperative_groups::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  const int t = threadIdx.x;
  for (int batch = 0; batch < 2; ++batch) {
    if (batch == 0) pipe.producer_acquire();
    cuda::memcpy_async(&tile[t], in + 64 * batch + t, sizeof(int), pipe);  // expect: race-shared A
    pipe.producer_commit();
    pipe.consumer_wait();
    out[64 * batch + t] = tile[t ^ 32];  // expect: race-shared B
    pipe.consumer_release();
  }
}

int main() {
  int *in = iota(128), *out = zeros(128);
  kernel<<<1, 64>>>(in, out);
  return ended();
}
