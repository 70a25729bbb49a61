// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 118
// A byte at the end of the shared memory is read by all while one thread sets it.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ unsigned char full;
  if (threadIdx.x == 0) full = 0;
  __syncthreads();
  const int seen = full;  // expect: race-shared A
  if (threadIdx.x == 40) full = 1 + out[0];  // expect: race-shared B
  __syncthreads();
  out[threadIdx.x] = seen + full;
}

int main() {
  int* out = zeros(64);
  kernel<<<1, 64>>>(out);
  return ended();
}
