// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 131
// Warps of a block add fractions to a sum in shared memory.
#include "../twin.h"
__global__ void kernel(double* out) {
  __shared__ double s;
  if (threadIdx.x == 0) s = 0;
  __syncthreads();
  atomicAdd(&s, 1.0 / (3 + threadIdx.x));  // expect: float-order
  __syncthreads();
  if (threadIdx.x == 0) out[0] = s;
}
int main() {
  double* out = device<double>(1, [](int) { return 0.0; });
  kernel<<<1, 128>>>(out);
  return ended();
}
