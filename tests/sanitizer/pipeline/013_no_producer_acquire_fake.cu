// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 13
// covers: E5
// With producer_acquire a single stage is filled again only after all have released it.

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
    pipe.producer_acquire();
    cuda::memcpy_async(&tile[t], in + 64 * batch + t, sizeof(int), pipe);
    pipe.producer_commit();
    pipe.consumer_wait();
    out[64 * batch + t] = tile[t ^ 32];
    pipe.consumer_release();
  }
}

int main() {
  int *in = iota(128), *out = zeros(128);
  kernel<<<1, 64>>>(in, out);
  return judge(out, 128, [](int i) { return i ^ 32; });
}
