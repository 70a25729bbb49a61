// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 113
// A table of constants is copied in one stream while a kernel of another one may look things up.
#include "../twin.h"

__constant__ int table[32];

__global__ void look_up(const int* index, int* out) {
  out[threadIdx.x] = table[index[threadIdx.x]];  // expect: race-host A
}

int main() {
  int *index = iota(32), *out = zeros(32);
  cudaStream_t one, two;
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
  int* values;
  cudaMallocHost(&values, 128);
  for (int i = 0; i < 32; i++) values[i] = 3 * i;
  cudaMemcpyToSymbolAsync(table, values, 128, 0, cudaMemcpyHostToDevice, one);  // expect: race-host B
  look_up<<<1, 32, 0, two>>>(index, out);
  return ended();
}
