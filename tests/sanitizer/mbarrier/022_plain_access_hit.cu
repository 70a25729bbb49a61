// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 22
// A plain load reads the bytes of a living barrier.
#include "../twin.h"

__global__ void kernel(uint64_t* out) {
  __shared__ uint64_t bar;
  MBAR_INIT(&bar, 1);
  MBAR_ARRIVE(&bar);
  MBAR_WAIT(&bar, 0);
  out[0] = bar;  // expect: mbarrier-bytes
}

int main() {
  uint64_t* out = device<uint64_t>(1, [](int) { return 0; });
  kernel<<<1, 1>>>(out);
  return ended();
}
