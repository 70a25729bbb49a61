// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 11
// consumer_wait without producer_commit: the copy is in no stage, so there is nothing to wait for.

#include <cuda/pipeline>

#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  __shared__ int tile[64];
  const int t = threadIdx.x;
  auto pipe = cuda::make_pipeline();
  pipe.producer_acquire();
  cuda::memcpy_async(&tile[t], in + t, sizeof(int), pipe);  // expect: async-group A
  pipe.consumer_wait();
  out[t] = tile[t];  // expect: async-group B
  pipe.consumer_release();
  pipe.producer_commit();
  pipe.consumer_wait();
}

int main() {
  int *in = iota(64), *out = zeros(32);
  kernel<<<1, 32>>>(in, out);
  return ended();
}
