// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 126
// One element of a local array is never written and serves as an index.
#include "../twin.h"

__global__ void kernel(const int* in, int* out, int n) {
  int list[8];
#pragma unroll 1
  for (int i = 0; i < n; ++i) list[in[i]] = i;
  out[list[n] & 7] = 1;  // expect: uninitialised
}

int main() {
  int *in = iota(8), *out = zeros(8);
  kernel<<<1, 1>>>(in, out, 7);
  return ended();
}
