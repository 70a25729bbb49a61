// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 131
// Each waits for its turn.
#include "../twin.h"
__device__ int turn;
__global__ void kernel(const float* in, float* sum) {
  if (threadIdx.x) return;
  while (atomicAdd(&turn, 0) != blockIdx.x) ;
  __threadfence();
  atomicAdd(sum, in[blockIdx.x]);
  __threadfence();
  atomicAdd(&turn, 1);
}
int main() {
  float* in = device<float>(16, [](int i) { return 1.f / (3 + i); });
  float* sum = device<float>(1, [](int) { return 0.f; });
  kernel<<<16, 32>>>(in, sum);
  return verdict(cudaDeviceSynchronize() == cudaSuccess);
}
