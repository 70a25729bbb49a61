// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 90
// hangs
// Two warps come to one barrier with different counts.
#include "../twin.h"

__global__ void kernel(int* out) {
  const int t = threadIdx.x;
  if (t < 32) {
    BAR_SYNC(1, 64);  // expect: barrier-count A
  } else if (t < 64) {
    BAR_SYNC(1, 96);  // expect: barrier-count B
    BAR_SYNC(2, 64);
  } else {
    BAR_SYNC(2, 64);
  }
  out[t] = t;
}

int main() {
  int* out = zeros(96);
  kernel<<<1, 96>>>(out);
  return ended();
}
