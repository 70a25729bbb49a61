// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 6
// Two copies of one thread go to the same place; nothing orders copies with one another.
#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  __shared__ int tile[32];
  const int t = threadIdx.x;
  CP_ASYNC(&tile[t], in + t, 4);  // expect: async-group A
  CP_COMMIT();
  CP_ASYNC(&tile[t], in + 32 + t, 4);  // expect: async-group B
  CP_COMMIT();
  CP_WAIT(0);
  out[t] = tile[t];
}

int main() {
  int *in = iota(64), *out = zeros(32);
  kernel<<<1, 32>>>(in, out);
  return ended();
}
