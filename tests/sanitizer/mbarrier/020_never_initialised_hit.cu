// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 20
// An arrival at 8 bytes that were never made a barrier.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ uint64_t bar;
  const int t = threadIdx.x;
  __syncwarp();
  MBAR_ARRIVE(&bar);  // expect: mbarrier-init
  out[t] = t;
}

int main() {
  int* out = zeros(32);
  kernel<<<1, 32>>>(out);
  return ended();
}
