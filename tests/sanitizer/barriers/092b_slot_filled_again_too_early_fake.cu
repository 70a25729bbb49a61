// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 92
// A second barrier tells it.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ int slot;
  const int t = threadIdx.x;
  if (t < 32) {
    if (t == 0) slot = 10;
    BAR_ARRIVE(1, 64);
    BAR_SYNC(2, 64);
    if (t == 0) slot = 20;
  } else {
    BAR_SYNC(1, 64);
    if (t == 32) out[0] = slot;
    BAR_ARRIVE(2, 64);
  }
}

int main() {
  int* out = zeros(1);
  kernel<<<1, 64>>>(out);
  return judge(out, 1, [](int) { return 10; });
}
