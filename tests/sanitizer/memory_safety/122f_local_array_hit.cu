// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 122
// An index leaves a local array.
#include "../twin.h"
__global__ void kernel(const int* in, int* out) {
  int h[10];
  for (int i = 0; i < 10; ++i) h[i] = i;
  for (int i = 0; i < 4; ++i) h[in[i] + (7)] += 5;  // expect: bounds-local
  int s = 0;
  for (int i = 0; i < 10; ++i) s += h[in[i % 4]];
  out[threadIdx.x] = s;
}
int main() {
  int *in = iota(8), *out = zeros(32);
  kernel<<<1, 32>>>(in, out);
  return ended();
}
