// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 40
// A barrier at an address that is a multiple of 4 only.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ alignas(16) char bytes[32];
  char* bar = bytes + 4;
  MBAR_INIT(bar, 1);  // expect: misaligned
  out[0] = 1;
}

int main() {
  int* out = zeros(1);
  kernel<<<1, 1>>>(out);
  return ended();
}
