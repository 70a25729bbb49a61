// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 126
// It is never written and never used.
#include "../twin.h"

__global__ void kernel(const int* in, int* out, int n) {
  int list[8];
#pragma unroll 1
  for (int i = 0; i < n; ++i) list[in[i]] = i;
  out[list[n - 1] & 7] = 1;
}

int main() {
  int *in = iota(8), *out = zeros(8);
  kernel<<<1, 1>>>(in, out, 7);
  return judge(out, 8, [](int i) { return i == 6; });
}
