// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 92
// hangs
// may: deadlock
// The producer arrives for the second round without knowing that the first is over: it may fill it by itself.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ int slot[2];
  const int t = threadIdx.x;
  if (t < 32) {
    for (int i = 0; i < 2; ++i) {
      if (t == 0) slot[i] = 10 + i;
      BAR_ARRIVE(1, 64);  // expect: barrier-recycled
    }
  } else {
    for (int i = 0; i < 2; ++i) {
      BAR_SYNC(1, 64);
      if (t == 32) out[i] = slot[i];
    }
  }
}

int main() {
  int* out = zeros(2);
  kernel<<<1, 64>>>(out);
  return ended();
}
