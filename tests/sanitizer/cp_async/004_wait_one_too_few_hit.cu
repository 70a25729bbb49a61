// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 4
// wait_group 1 leaves the youngest group in flight, and that is the one which is read.
#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  __shared__ int older[32], younger[32];
  const int t = threadIdx.x;
  CP_ASYNC(&older[t], in + t, 4);
  CP_COMMIT();
  CP_ASYNC(&younger[t], in + 32 + t, 4);  // expect: async-group A
  CP_COMMIT();
  CP_WAIT(1);
  out[t] = younger[t];  // expect: async-group B
  CP_WAIT(0);
  out[t + 32] = older[t] + younger[t];
}

int main() {
  int *in = iota(64), *out = zeros(64);
  kernel<<<1, 32>>>(in, out);
  return ended();
}
