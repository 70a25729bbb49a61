// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 118
// A reduction's scratch space is used again for the next sum, and thread 0 may still read the first.
#include "../twin.h"

__device__ int sum(int value) {
  __shared__ int scratch[2];
  const int t = threadIdx.x;
  value = __reduce_add_sync(~0u, value);
  if (t % 32 == 0) scratch[t / 32] = value;  // expect: race-shared A
  __syncthreads();
  return scratch[0] + scratch[1];  // expect: race-shared B
}

__global__ void kernel(int* out) {
  const int first = sum(1);
  const int second = sum(2);
  out[threadIdx.x] = first + second;
}

int main() {
  int* out = zeros(64);
  kernel<<<1, 64>>>(out);
  return ended();
}
