// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 125
// covers: A3 of FEATURES
// A vector of 16 bytes is loaded from an address that is a multiple of 4 only.
#include "../twin.h"

__global__ void kernel(const int* in, int skip, int* out) {
  const int4 v = *reinterpret_cast<const int4*>(in + skip);  // expect: misaligned
  out[0] = v.x + v.y;
}

int main() {
  int *in = iota(16), *out = zeros(1);
  kernel<<<1, 1>>>(in, 1, out);
  return ended();
}
