// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 32
// Three arrivals, two make a phase: the third is for a phase whose predecessor its thread never saw end.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ uint64_t bar;
  const int t = threadIdx.x;
  if (t == 0) MBAR_INIT(&bar, 2);
  __syncwarp();
  for (int i = 0; i <= t; ++i) {
    MBAR_ARRIVE(&bar);  // expect: mbarrier-phase
  }
  out[t] = t;
}

int main() {
  int* out = zeros(2);
  kernel<<<1, 2>>>(out);
  return ended();
}
