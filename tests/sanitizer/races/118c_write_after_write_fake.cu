// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 118
// Two warps write neighbouring bytes of one word.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ unsigned char bytes[64];
  const int t = threadIdx.x;
  bytes[t % 32 * 2 + t / 32] = t;
  __syncthreads();
  out[t] = bytes[t];
}

int main() {
  int* out = zeros(64);
  kernel<<<1, 64>>>(out);
  return judge(out, 64, [](int i) { return i / 2 + i % 2 * 32; });
}
