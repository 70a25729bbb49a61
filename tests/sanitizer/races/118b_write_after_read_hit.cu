// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 118
// A tile is filled again while other threads may still read it: the second barrier of the loop is missing.
#include "../twin.h"

__global__ void kernel(int* out) {
  const int t = threadIdx.x;
  __shared__ int tile[64];
  for (int i = 0; i < 2; ++i) {
    tile[t] = t + i;  // expect: race-shared A
    __syncthreads();
    out[64 * i + t] = tile[63 - t];  // expect: race-shared B
  }
}

int main() {
  int* out = zeros(128);
  kernel<<<1, 64>>>(out);
  return ended();
}
