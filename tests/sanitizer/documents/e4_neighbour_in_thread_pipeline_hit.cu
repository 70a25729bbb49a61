// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 2, 118
// covers: errata thread-scope pipeline, E4, E5
// A pipeline of thread scope; the barrier behind compute() is missing although it reads the neighbour's element.

#include <cuda/pipeline>

#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  __shared__ int tile[64];
  const int t = threadIdx.x;
  auto pipe = cuda::make_pipeline();
  for (int batch = 0; batch < 2; ++batch) {
    pipe.producer_acquire();
    cuda::memcpy_async(&tile[t], in + 64 * batch + t, sizeof(int), pipe);  // expect: race-shared A
    pipe.producer_commit();
    pipe.consumer_wait();
    __syncthreads();
    out[64 * batch + t] = tile[63 - t];  // expect: race-shared B
    pipe.consumer_release();
  }
}

int main() {
  int *in = iota(128), *out = zeros(128);
  kernel<<<1, 64>>>(in, out);
  return ended();
}
