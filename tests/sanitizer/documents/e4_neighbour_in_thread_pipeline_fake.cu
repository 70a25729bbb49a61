// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 2, 118
// covers: errata thread-scope pipeline, E4, E5
// With both barriers.

#include <cuda/pipeline>

#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  __shared__ int tile[64];
  const int t = threadIdx.x;
  auto pipe = cuda::make_pipeline();
  for (int batch = 0; batch < 2; ++batch) {
    pipe.producer_acquire();
    cuda::memcpy_async(&tile[t], in + 64 * batch + t, sizeof(int), pipe);
    pipe.producer_commit();
    pipe.consumer_wait();
    __syncthreads();
    out[64 * batch + t] = tile[63 - t];
    __syncthreads();
    pipe.consumer_release();
  }
}

int main() {
  int *in = iota(128), *out = zeros(128);
  kernel<<<1, 64>>>(in, out);
  return judge(out, 128, [](int i) { return i / 64 * 64 + 63 - i % 64; });
}
