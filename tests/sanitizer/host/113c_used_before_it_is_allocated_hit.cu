// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 113
// A kernel uses memory in one stream that another stream allocates; nothing orders the two.
#include "../twin.h"

__global__ void write(int* data, int* out) {
  data[threadIdx.x] = threadIdx.x;  // expect: use-before-alloc A
  out[threadIdx.x] = threadIdx.x;
}

int main() {
  int *out = zeros(32), *data;
  cudaStream_t one, two;
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
  cudaMallocAsync(&data, 32 * sizeof(int), one);  // expect: use-before-alloc B
  write<<<1, 32, 0, two>>>(data, out);
  return ended();
}
