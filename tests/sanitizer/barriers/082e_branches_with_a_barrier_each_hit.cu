// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 82
// may: race-shared
// Two roles have a barrier each, and one of them a second one, before all go on together.
#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  if (t < 32) {
    s[t] = in[t];
    __syncthreads();  // expect: barrier-divergent A
    s[t] += s[t + 32];
    __syncthreads();
  } else {
    s[t] = in[t] + 1;
    __syncthreads();  // expect: barrier-divergent B
  }
  out[t] = s[t & 31];
}

int main() {
  int *in = iota(64), *out = zeros(64);
  kernel<<<1, 64>>>(in, out);
  return ended();
}
