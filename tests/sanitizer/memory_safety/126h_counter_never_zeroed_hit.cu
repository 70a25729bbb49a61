// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 126
// Threads count in a variable that nobody set to zero, and only copy the sum away.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ int count;
  __syncthreads();
  atomicAdd(&count, 1);  // expect: uninitialised
  __syncthreads();
  if (threadIdx.x == 0) out[0] = count;
}

int main() {
  int* out = zeros(1);
  kernel<<<1, 64>>>(out);
  return ended();
}
