// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 110
// The kernel was allowed 64 KB.
#include "../twin.h"

__global__ void kernel(int* out) {
  extern __shared__ int tile[];
  tile[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = tile[threadIdx.x];
}

int main() {
  int* out = zeros(32);
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 * 1024);
  kernel<<<1, 32, 64 * 1024>>>(out);
  return judge(out, 32, [](int i) { return i; });
}
