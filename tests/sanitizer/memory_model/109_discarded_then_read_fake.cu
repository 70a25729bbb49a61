// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 109
// Memory is discarded, written and then read.
#include "../twin.h"

__global__ void kernel(int* data, int* out) {
  asm volatile("discard.global.L2 [%0], 128;" ::"l"(data) : "memory");
  for (int i = 0; i < 32; ++i) data[i] = i;
  if (data[5] == 5) *out = 1;
}

int main() {
  int *data = iota(32), *out = zeros(1);
  kernel<<<1, 1>>>(data, out);
  return judge(out, 1, [](int) { return 1; });
}
