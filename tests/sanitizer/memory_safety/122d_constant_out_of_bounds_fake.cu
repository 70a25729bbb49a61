// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 122
// It ends at the last element; another array lies behind.
#include "../twin.h"

__constant__ int table[8] = {0, 1, 2, 3, 4, 5, 6, 7};
__constant__ int other[8] = {8, 9, 10, 11, 12, 13, 14, 15};

__global__ void kernel(int* out) {
  const int t = threadIdx.x;
  out[t] = t < 8 ? table[t] : other[t - 8];
  if (out[t] < 0) out[t] = other[t % 8];
}

int main() {
  int* out = zeros(16);
  kernel<<<1, 16>>>(out);
  return judge(out, 16, [](int i) { return i; });
}
