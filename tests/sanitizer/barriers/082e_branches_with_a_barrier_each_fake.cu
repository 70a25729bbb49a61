// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 82
// Two roles have as many barriers, each at its own place, before all go on together.
#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  if (t < 32) {
    s[t] = in[t];
    __syncthreads();
    s[t] += s[t + 32];
    __syncthreads();
  } else {
    s[t] = in[t] + 1;
    __syncthreads();
    __syncthreads();
  }
  out[t] = s[t & 31];
}

int main() {
  int *in = iota(64), *out = zeros(64);
  kernel<<<1, 64>>>(in, out);
  return judge(out, 64, [](int i) { return 2 * (i & 31) + 33; });
}
