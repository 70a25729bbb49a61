// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 1
// covers: E5
// A thread reads what its own cp.async brings, without waiting for the copy.
#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  __shared__ int tile[32];
  const int t = threadIdx.x;
  CP_ASYNC(&tile[t], in + t, 4);  // expect: async-group A
  CP_COMMIT();
  out[t] = tile[t];  // expect: async-group B
  CP_WAIT(0);
}

int main() {
  int *in = iota(32), *out = zeros(32);
  kernel<<<1, 32>>>(in, out);
  return ended();
}
