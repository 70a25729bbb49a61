// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 90
// Two warps come to two barriers with different counts.
#include "../twin.h"

__global__ void kernel(int* out) {
  const int t = threadIdx.x;
  if (t < 32) {
    BAR_SYNC(1, 64);
  } else if (t < 64) {
    BAR_SYNC(1, 64);
    BAR_SYNC(2, 64);
  } else {
    BAR_SYNC(2, 64);
  }
  out[t] = t;
}

int main() {
  int* out = zeros(96);
  kernel<<<1, 96>>>(out);
  return judge(out, 96, [](int i) { return i; });
}
