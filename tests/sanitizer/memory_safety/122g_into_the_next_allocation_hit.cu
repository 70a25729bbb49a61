// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 122
// Two allocations of a kilobyte follow each other: what goes behind the first must not land in the second.
#include "../twin.h"

__global__ void kernel(const float* in, float* out, int n) {
  const int i = threadIdx.x;
  if (i <= n) out[i] = 2 * in[i];  // expect: bounds-global
}

int main() {
  const int n = 256;
  float *out = device<float>(n, [](int) { return 0; }), *next = device<float>(n, [](int) { return 0; });
  float* in = device<float>(n + 1, [](int i) { return i; });
  kernel<<<1, 288>>>(in, out, n);
  kernel<<<1, 288>>>(in, next, n - 1);
  return ended();
}
