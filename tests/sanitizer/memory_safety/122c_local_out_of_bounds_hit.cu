// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 122
// An index runs over the end of a local array.
#include "../twin.h"

__global__ void kernel(int* out, int n) {
  int list[8];
  for (int i = 0; i < 8; ++i) list[i] = i;
#pragma unroll 1
  for (int i = 0; i < n; ++i) list[(i * 5) % n] += i;  // expect: bounds-local
  int sum = 0;
  for (int i = 0; i < 8; ++i) sum += list[i];
  out[0] = sum;
}

int main() {
  int* out = zeros(1);
  kernel<<<1, 1>>>(out, 9);
  return ended();
}
