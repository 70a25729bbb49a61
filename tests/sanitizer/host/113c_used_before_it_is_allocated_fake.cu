// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 113
// The kernel runs in the stream that allocates.
#include "../twin.h"

__global__ void write(int* data, int* out) {
  data[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = threadIdx.x;
}

int main() {
  int *out = zeros(32), *data;
  cudaStream_t one, two;
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
  cudaMallocAsync(&data, 32 * sizeof(int), one);
  write<<<1, 32, 0, one>>>(data, out);
  return judge(out, 32, [](int i) { return i; });
}
