// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 118
// may: uninitialised-load
// Threads read what others write, without __syncthreads between.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ int tile[64];
  const int t = threadIdx.x;
  tile[t] = t;  // expect: race-shared A
  out[t] = tile[63 - t];  // expect: race-shared B
}

int main() {
  int* out = zeros(64);
  kernel<<<1, 64>>>(out);
  return ended();
}
