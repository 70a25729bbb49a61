// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 92
// bar.arrive tells the consumer of the slot; nothing tells the producer that it was read.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ int slot;
  const int t = threadIdx.x;
  if (t < 32) {
    if (t == 0) slot = 10;
    BAR_ARRIVE(1, 64);
    if (t == 0) slot = 20;  // expect: race-shared A
  } else {
    BAR_SYNC(1, 64);
    if (t == 32) out[0] = slot;  // expect: race-shared B
  }
}

int main() {
  int* out = zeros(1);
  kernel<<<1, 64>>>(out);
  return ended();
}
