// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 83
// All threads return from a loop of barriers in the same turn.
#include "../twin.h"

__global__ void kernel(const int* in, int* out, int n) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  for (int i = t;; i += 64) {
    s[t] = in[i];
    __syncthreads();
    out[i] = s[t] + s[0];
    if (i - t + 64 >= n) return;
    __syncthreads();
  }
}

int main() {
  int *in = iota(128), *out = zeros(128);
  kernel<<<1, 64>>>(in, out, 128);
  return judge(out, 128, [](int i) { return i + i / 64 * 64; });
}
