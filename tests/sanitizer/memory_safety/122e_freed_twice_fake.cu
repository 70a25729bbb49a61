// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 122
// Device code frees a null pointer twice, which does nothing.
#include "../twin.h"

__global__ void kernel(int* out) {
  int* p = static_cast<int*>(malloc(16));
  if (p == nullptr) return;
  p[0] = 5;
  out[0] = p[0];
  free(p);
  p = nullptr;
  free(p);
  free(p);
}

int main() {
  int* out = zeros(1);
  kernel<<<1, 1>>>(out);
  return judge(out, 1, [](int) { return 5; });
}
