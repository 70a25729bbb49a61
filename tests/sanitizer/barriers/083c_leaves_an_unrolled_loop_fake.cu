// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 83
// All threads leave a loop of barriers in the same turn; the compiler has made two loops of it.
#include "../twin.h"

__global__ void kernel(const int* in, int* out, int n) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  int i = t;
#pragma unroll 4
  do {
    s[t] = in[i];
    __syncthreads();
    out[i] = s[t] < 0 ? 0 : s[t];
    i += 64;
  } while (i < n);
}

int main() {
  int *in = iota(192), *out = zeros(192);
  kernel<<<1, 64>>>(in, out, 192);
  return judge(out, 192, [](int i) { return i; });
}
