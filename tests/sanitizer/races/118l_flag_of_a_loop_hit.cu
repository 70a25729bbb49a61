// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 118
// All look at a flag that thread 0 may already have set for the next turn.
#include "../twin.h"

__global__ void kernel(int* out, int turns) {
  __shared__ bool done;
  if (threadIdx.x == 0) done = false;
  __syncthreads();
  int count = 0;
  while (!done) {  // expect: race-shared A
    ++count;
    if (threadIdx.x == 0 && count == turns) done = true;  // expect: race-shared B
    __syncthreads();
  }
  out[threadIdx.x] = count;
}

int main() {
  int* out = zeros(64);
  kernel<<<1, 64>>>(out, 3);
  return ended();
}
