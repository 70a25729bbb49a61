// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 82
// A tree of sums has its barrier where only the threads that add come to it.
#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  __shared__ int s[256];
  const int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
#pragma unroll 1
  for (int d = 128; d > 0; d /= 2) {  // expect: barrier-divergent B
    if (t < d) {
      s[t] += s[t + d];
      __syncthreads();  // expect: barrier-divergent A
    }
  }
  if (t == 0) *out = s[0];
}

int main() {
  int *in = iota(256), *out = zeros(1);
  kernel<<<1, 256>>>(in, out);
  return ended();
}
