// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 83
// Some threads leave a loop of barriers a turn before the others; the compiler has made two loops of it (a note).
#include "../twin.h"

__global__ void kernel(const int* in, int* out, int n) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  int i = t;
#pragma unroll 4
  do {
    s[t] = in[i];
    __syncthreads();  // expect: barrier-exit
    out[i] = s[t] < 0 ? 0 : s[t];
    i += 64;
  } while (i < n);
}

int main() {
  int *in = iota(192), *out = zeros(192);
  kernel<<<1, 64>>>(in, out, 160);
  return ended();
}
