// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 5
// covers: E5
// The source of a copy is overwritten while the copy is under way.
#include "../twin.h"

__global__ void kernel(int* in, int* out) {
  __shared__ int tile[32];
  const int t = threadIdx.x;
  CP_ASYNC(&tile[t], in + 2 * t, 4);  // expect: async-group A
  CP_COMMIT();
  in[2 * t] = -1;  // expect: async-group B
  CP_WAIT(0);
  out[t] = tile[t];
}

int main() {
  int *in = iota(64), *out = zeros(32);
  kernel<<<1, 32>>>(in, out);
  return ended();
}
