// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 118
// Two warps write different values to one word.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ int words[32];
  const int t = threadIdx.x;
  words[t % 32] = t;  // expect: race-shared A, race-shared B
  __syncthreads();
  out[t] = words[t % 32];
}

int main() {
  int* out = zeros(64);
  kernel<<<1, 64>>>(out);
  return ended();
}
