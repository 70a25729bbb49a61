// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 38
// Lane 0 arrives for the stores of 32 lanes without knowing of them.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ uint64_t bar;
  __shared__ int tile[32];
  const int lane = threadIdx.x % 32;
  if (threadIdx.x == 0) MBAR_INIT(&bar, 1);
  __syncthreads();
  if (threadIdx.x < 32) {
    tile[lane] = lane;  // expect: race-shared A
    if (lane == 0) MBAR_ARRIVE(&bar);
  } else {
    MBAR_WAIT(&bar, 0);
    out[lane] = tile[lane];  // expect: race-shared B
  }
}

int main() {
  int* out = zeros(32);
  kernel<<<1, 64>>>(out);
  return ended();
}
