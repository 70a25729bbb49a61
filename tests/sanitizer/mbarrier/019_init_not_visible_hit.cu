// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 19
// One lane initialises the barrier, the others use it without waiting for that.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ uint64_t bar;
  const int t = threadIdx.x;
  if (t == 0) MBAR_INIT(&bar, 32);  // expect: mbarrier-init A
  MBAR_ARRIVE(&bar);  // expect: mbarrier-init B
  out[t] = t;
}

int main() {
  int* out = zeros(32);
  kernel<<<1, 32>>>(out);
  return ended();
}
