// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 2
// The barrier stands before the wait: it orders the issue of the neighbour's copy, not its completion.
#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  __shared__ int tile[64];
  const int t = threadIdx.x;
  CP_ASYNC(&tile[t], in + t, 4);  // expect: async-group A
  CP_COMMIT();
  __syncthreads();
  CP_WAIT(0);
  out[t] = tile[t ^ 32];  // expect: async-group B
}

int main() {
  int *in = iota(64), *out = zeros(64);
  kernel<<<1, 64>>>(in, out);
  return ended();
}
