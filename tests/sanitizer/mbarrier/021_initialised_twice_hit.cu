// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 21
// A barrier in use is initialised again.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ uint64_t bar;
  MBAR_INIT(&bar, 1);  // expect: mbarrier-state A
  MBAR_ARRIVE(&bar);
  MBAR_WAIT(&bar, 0);
  MBAR_INIT(&bar, 1);  // expect: mbarrier-state B
  MBAR_ARRIVE(&bar);
  MBAR_WAIT(&bar, 0);
  out[0] = 1;
}

int main() {
  int* out = zeros(1);
  kernel<<<1, 1>>>(out);
  return ended();
}
