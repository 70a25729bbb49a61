// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 127
// A kernel takes what the launch before left in shared memory, or zero, for granted.
#include "../twin.h"

__global__ void kernel(int* out, bool first) {
  __shared__ int count[32];
  if (first) count[threadIdx.x] = 0;
  if (count[threadIdx.x] == 0) out[threadIdx.x] = 1;  // expect: uninitialised
}

int main() {
  int* out = zeros(32);
  kernel<<<1, 32>>>(out, true);
  kernel<<<1, 32>>>(out, false);
  return ended();
}
