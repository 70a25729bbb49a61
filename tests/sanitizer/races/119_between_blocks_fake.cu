// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 119
// Two blocks write neighbouring bytes of one word.
#include "../twin.h"

__global__ void kernel(unsigned char* bytes, int* out) {
  bytes[blockIdx.x] = 10 + blockIdx.x;
  out[blockIdx.x] = blockIdx.x;
}

int main() {
  int* out = zeros(2);
  unsigned char* bytes = device<unsigned char>(4, [](int) { return 0; });
  kernel<<<2, 1>>>(bytes, out);
  if (judge(out, 2, [](int i) { return i; })) return 1;
  return judge(bytes, 2, [](int i) { return 10 + i; });
}
