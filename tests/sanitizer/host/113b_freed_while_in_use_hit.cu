// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 113
// One stream frees what a kernel of another stream may still use.
#include "../twin.h"

__global__ void write(int* data, int* out) {
  data[threadIdx.x] = threadIdx.x;  // expect: free-pending A
  out[threadIdx.x] = threadIdx.x;
}

int main() {
  int *out = zeros(32), *data;
  cudaStream_t one, two;
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
  must(cudaMallocAsync(&data, 32 * sizeof(int), one), "cudaMallocAsync");
  must(cudaStreamSynchronize(one), "cudaStreamSynchronize");
  write<<<1, 32, 0, two>>>(data, out);
  cudaFreeAsync(data, one);  // expect: free-pending B
  return ended();
}
