// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 131
// Blocks add unequal parts as they come.
#include "../twin.h"
__device__ int turn;
__global__ void kernel(const float* in, float* sum) {
  if (threadIdx.x) return;
  atomicAdd(sum, in[blockIdx.x]);  // expect: float-order
}
int main() {
  float* in = device<float>(16, [](int i) { return 1.f / (3 + i); });
  float* sum = device<float>(1, [](int) { return 0.f; });
  kernel<<<16, 32>>>(in, sum);
  return ended();
}
