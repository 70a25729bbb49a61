// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 82
// A loop by strides has a barrier in it, and the last turn is not for all.
#include "../twin.h"

__global__ void kernel(const int* in, int* out, int n) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  int sum = 0;
  for (int i = t; i < n; i += 64) {
    s[t] = in[i];
    __syncthreads();  // expect: barrier-divergent A
    sum += s[0];
    __syncthreads();
  }
  s[t] = sum;
  __syncthreads();  // expect: barrier-divergent B
  out[t] = s[63 - t];
}

int main() {
  int *in = iota(96), *out = zeros(64);
  kernel<<<1, 64>>>(in, out, 96);
  return ended();
}
