// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 40
// A barrier at an address that is a multiple of 8, and not of 16.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ alignas(16) char bytes[32];
  char* bar = bytes + 8;
  MBAR_INIT(bar, 1);
  MBAR_ARRIVE(bar);
  MBAR_WAIT(bar, 0);
  out[0] = 1;
}

int main() {
  int* out = zeros(1);
  kernel<<<1, 1>>>(out);
  return judge(out, 1, [](int) { return 1; });
}
