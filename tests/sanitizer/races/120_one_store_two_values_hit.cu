// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 120
// Two lanes of one store write different values to one word.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ int tile[16];
  const int t = threadIdx.x;
  tile[t / 2] = t;  // expect: race-lanes A, race-lanes B
  __syncthreads();
  if (t < 16) out[t] = tile[t];
}

int main() {
  int* out = zeros(16);
  kernel<<<1, 32>>>(out);
  return ended();
}
