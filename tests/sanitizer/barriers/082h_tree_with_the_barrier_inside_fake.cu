// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 82
// A tree of sums has its barrier where all threads come to it.
#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  __shared__ int s[256];
  const int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
#pragma unroll 1
  for (int d = 128; d > 0; d /= 2) {
    if (t < d) {
      s[t] += s[t + d];
    }
    __syncthreads();
  }
  if (t == 0) *out = s[0];
}

int main() {
  int *in = iota(256), *out = zeros(1);
  kernel<<<1, 256>>>(in, out);
  return judge(out, 1, [](int) { return 255 * 128; });
}
