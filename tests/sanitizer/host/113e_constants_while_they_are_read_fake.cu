// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 113
// A table of constants is copied in one stream; another kernel looks things up in another table.
#include "../twin.h"

__constant__ int table[32];
__constant__ int others[32];

__global__ void look_up(const int* index, int* out) {
  out[threadIdx.x] = others[index[threadIdx.x]];
  if (index[0] < 0) out[0] = table[threadIdx.x];
}

int main() {
  int *index = iota(32), *out = zeros(32);
  cudaStream_t one, two;
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
  int* values;
  cudaMallocHost(&values, 128);
  for (int i = 0; i < 32; i++) values[i] = 3 * i;
  cudaMemcpyToSymbolAsync(others, values, 128, 0, cudaMemcpyHostToDevice, two);
  cudaMemcpyToSymbolAsync(table, values, 128, 0, cudaMemcpyHostToDevice, one);
  look_up<<<1, 32, 0, two>>>(index, out);
  return judge(out, 32, [](int i) { return 3 * i; });
}
