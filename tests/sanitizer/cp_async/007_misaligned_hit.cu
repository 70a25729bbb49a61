// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 7
// A copy of 16 bytes goes to an address that is a multiple of 8 only.
#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  __shared__ alignas(16) int tile[8];
  CP_ASYNC(&tile[2], in, 16);  // expect: misaligned
  CP_COMMIT();
  CP_WAIT(0);
  out[0] = tile[3];
}

int main() {
  int *in = iota(8), *out = zeros(1);
  kernel<<<1, 1>>>(in, out);
  return ended();
}
