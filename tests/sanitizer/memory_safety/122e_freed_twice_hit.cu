// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 122
// Device code frees a block twice.
#include "../twin.h"

__global__ void kernel(int* out) {
  int* p = static_cast<int*>(malloc(16));
  if (p == nullptr) return;
  p[0] = 5;
  out[0] = p[0];
  free(p);  // expect: invalid-free B
  free(p);  // expect: invalid-free A
}

int main() {
  int* out = zeros(1);
  kernel<<<1, 1>>>(out);
  return ended();
}
