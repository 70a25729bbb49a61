// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 3
// wait_group 0 waits for committed groups; this copy is in none.
#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  __shared__ int first[32], second[32];
  const int t = threadIdx.x;
  CP_ASYNC(&first[t], in + t, 4);
  CP_COMMIT();
  CP_ASYNC(&second[t], in + 32 + t, 4);  // expect: async-group A
  CP_WAIT(0);
  out[t] = first[t];
  out[t + 32] = second[t];  // expect: async-group B
  CP_WAIT_ALL();
}

int main() {
  int *in = iota(64), *out = zeros(64);
  kernel<<<1, 32>>>(in, out);
  return ended();
}
