// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 109
// Memory is discarded and then read: its contents are undefined.
#include "../twin.h"

__global__ void kernel(int* data, int* out) {
  asm volatile("discard.global.L2 [%0], 128;" ::"l"(data) : "memory");
  if (data[5] == 5) *out = 1;  // expect: uninitialised
}

int main() {
  int *data = iota(32), *out = zeros(1);
  kernel<<<1, 1>>>(data, out);
  return ended();
}
