// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 88
// A shuffle between write and read lets lanes meet, but orders no memory.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ int tile[32];
  const int t = threadIdx.x;
  tile[t] = t;  // expect: race-shared A
  const int other = __shfl_xor_sync(~0u, t, 1);
  out[t] = tile[other];  // expect: race-shared B
}

int main() {
  int* out = zeros(32);
  kernel<<<1, 32>>>(out);
  return ended();
}
