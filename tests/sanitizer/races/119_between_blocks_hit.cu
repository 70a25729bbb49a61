// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 119
// Two blocks write different values to one word.
#include "../twin.h"

__global__ void kernel(unsigned char* bytes, int* out) {
  bytes[blockIdx.x] = 10 + blockIdx.x;
  *out = blockIdx.x;  // expect: race-global A, race-global B
}

int main() {
  int* out = zeros(2);
  unsigned char* bytes = device<unsigned char>(4, [](int) { return 0; });
  kernel<<<2, 1>>>(bytes, out);
  return ended();
}
