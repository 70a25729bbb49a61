// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 120
// All threads write the same value to one word (a note).
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ int found;
  if (threadIdx.x == 0) found = 0;
  __syncthreads();
  found = 7;  // expect: race-same-value A, race-same-value B
  __syncthreads();
  out[threadIdx.x] = found;
}

int main() {
  int* out = zeros(64);
  kernel<<<1, 64>>>(out);
  return ended();
}
