// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 8
// src-size says 8 bytes for a copy of 4: undefined.
#include "../twin.h"

#define CP_ASYNC_PART(dst, src, part) \
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(SMEM(dst)), "l"(src), "r"(part) : "memory")

__global__ void kernel(const int* in, int n, int* out) {
  __shared__ int tile[32];
  const int t = threadIdx.x;
  const int part = t < n ? 4 : 8;
  CP_ASYNC_PART(&tile[t], in + t, part);  // expect: async-operand
  CP_COMMIT();
  CP_WAIT(0);
  out[t] = tile[t];
}

int main() {
  int *in = iota(64), *out = zeros(32);
  kernel<<<1, 32>>>(in, 20, out);
  return ended();
}
