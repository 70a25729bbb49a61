// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 31
// A thread of each of two warps arrives at a barrier for one arrival: which of them ends the phase is luck.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ uint64_t bar;
  const int t = threadIdx.x;
  if (t == 0) MBAR_INIT(&bar, 1);
  __syncthreads();
  if (t == 0) {
    MBAR_ARRIVE(&bar);  // expect: mbarrier-count A
  } else if (t == 32) {
    MBAR_ARRIVE(&bar);  // expect: mbarrier-count B
  }
  __syncthreads();
  out[t] = t;
}

int main() {
  int* out = zeros(64);
  kernel<<<1, 64>>>(out);
  return ended();
}
