// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 11
// One producer_commit behind two memcpy_async: both are in the stage.

#include <cuda/pipeline>

#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  __shared__ int tile[64];
  const int t = threadIdx.x;
  auto pipe = cuda::make_pipeline();
  pipe.producer_acquire();
  cuda::memcpy_async(&tile[t], in + t, sizeof(int), pipe);
  cuda::memcpy_async(&tile[t + 32], in + 32 + t, sizeof(int), pipe);
  pipe.producer_commit();
  pipe.consumer_wait();
  out[t] = tile[t] + tile[t + 32];
  pipe.consumer_release();
}

int main() {
  int *in = iota(64), *out = zeros(32);
  kernel<<<1, 32>>>(in, out);
  return judge(out, 32, [](int i) { return 2 * i + 32; });
}
