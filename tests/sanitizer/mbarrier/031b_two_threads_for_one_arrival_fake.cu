// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 31
// A thread of each of three warps arrives at a barrier for one arrival: the second has waited for the phase of the
// first, and a barrier of the block lies before the third.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ uint64_t bar;
  __shared__ int turn[3];
  const int t = threadIdx.x;
  if (t == 0) MBAR_INIT(&bar, 1);
  __syncthreads();
  if (t == 0) {
    turn[0] = 1;
    MBAR_ARRIVE(&bar);
  } else if (t == 32) {
    MBAR_WAIT(&bar, 0);
    turn[1] = turn[0] + 1;
    MBAR_ARRIVE(&bar);
  }
  __syncthreads();
  if (t == 64) {
    turn[2] = turn[1] + 1;
    MBAR_ARRIVE(&bar);
  }
  MBAR_WAIT(&bar, 0);
  out[t] = turn[t / 32];
}

int main() {
  int* out = zeros(96);
  kernel<<<1, 96>>>(out);
  return judge(out, 96, [](int i) { return i / 32 + 1; });
}
