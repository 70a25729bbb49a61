// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 83
// Some threads return from a loop of barriers a turn before the others: they count as arrived (a note).
#include "../twin.h"

__global__ void kernel(const int* in, int* out, int n) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  for (int i = t;; i += 64) {
    s[t] = in[i];
    __syncthreads();
    out[i] = s[t] + s[0];
    if (i + 64 + t >= n) return;  // expect: barrier-exit A
    __syncthreads();
  }
}

int main() {
  int *in = iota(128), *out = zeros(128);
  kernel<<<1, 64>>>(in, out, 128);
  return ended();
}
