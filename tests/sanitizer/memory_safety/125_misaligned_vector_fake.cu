// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 125
// covers: A3 of FEATURES
// A vector of 8 bytes is loaded from an address that is a multiple of 8 only.
#include "../twin.h"

__global__ void kernel(const int* in, int skip, int* out) {
  const int2 v = *reinterpret_cast<const int2*>(in + skip);
  out[0] = v.x + v.y;
}

int main() {
  int *in = iota(16), *out = zeros(1);
  kernel<<<1, 1>>>(in, 2, out);
  return judge(out, 1, [](int) { return 5; });
}
