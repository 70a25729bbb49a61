// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 128
// malloc of device code finds no memory, and the kernel looks.
#include "../twin.h"

__global__ void kernel(int* out) {
  const size_t bytes = size_t(1) << 40;
  volatile int* p = static_cast<int*>(malloc(bytes));
  if (p != nullptr) {
  p[0] = 5;
    free((void*)p);
  }
  out[0] = 1;
}

int main() {
  int* out = zeros(1);
  kernel<<<1, 1>>>(out);
  return judge(out, 1, [](int) { return 1; });
}
