// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 122
// An index runs over the end of a constant array.
#include "../twin.h"

__constant__ int table[8] = {0, 1, 2, 3, 4, 5, 6, 7};
__constant__ int other[8] = {8, 9, 10, 11, 12, 13, 14, 15};

__global__ void kernel(int* out) {
  const int t = threadIdx.x;
  out[t] = table[t];  // expect: bounds-const
  if (out[t] < 0) out[t] = other[t % 8];
}

int main() {
  int* out = zeros(16);
  kernel<<<1, 9>>>(out);
  return ended();
}
